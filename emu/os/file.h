/* How is a whole file read, and how is one written so that nobody ever sees half of it? */
#ifndef EMU_OS_FILE_H
#define EMU_OS_FILE_H

#include "os/reason.h"

#include <meshemu/status.h>

#include <stdbool.h>
#include <stddef.h>

/* Read all of a file or named pipe of at most `limit` bytes. A longer one is refused, so that a
 * pipe without end is too; devices are refused unread.
 *
 * data     NUL-terminated, for the caller to free(); *size does not count the NUL
 * returns  EMU_OK, EMU_ESYSTEM with the reason, EMU_ENOMEM
 */
EMU_MUST_CHECK enum emu_status emu_file_read(const char *path, size_t limit, char **data,
                                             size_t *size, struct emu_reason *reason);

/* Put the bytes where `path` is: a regular file is written beside its place and then renamed,
 * keeping its permissions; links are followed; a device or pipe is written to as it is. On failure
 * an old file is unchanged. returns  EMU_OK, EMU_ESYSTEM with the reason
 */
EMU_MUST_CHECK enum emu_status emu_file_write(const char *path, const void *data, size_t size,
                                              struct emu_reason *reason);

/* The first `room - 1` bytes of a small file (in /proc, say) as a NUL-terminated text; "" where it
 * cannot be read, and then false. Allocates nothing. */
bool emu_file_peek(const char *path, char *text, size_t room);

#endif
