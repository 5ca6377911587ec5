/* How do bytes get through pipes, and how does one thread wait for many things at once? */
#ifndef EMU_OS_STREAM_H
#define EMU_OS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Both ends are closed on exec. False, errno set, where the system refuses. */
bool emu_stream_pipe(int ends[2]);

/* A counter that poll can wait for: emu_event_post makes it readable, emu_event_take clears it.
 * Returns the descriptor, or -1 with errno set. */
int emu_event_create(void);
void emu_event_post(int event);
bool emu_event_take(int event);

/* From now on a read of this descriptor answers at once. */
bool emu_stream_unblock(int fd);

/* Bytes read; 0: the end; -1: nothing there now (of an unblocked descriptor); -2: an error. */
ssize_t emu_stream_read(int fd, void *bytes, size_t room);

/* Write all, however long it takes; false with errno set. */
bool emu_stream_write(int fd, const void *bytes, size_t size);

/* Close and forget: *fd becomes -1. A negative one is left alone; errno is kept. */
void emu_stream_close(int *fd);

/* Number of descriptors that this process has open; 0 where that is unknown. */
uint32_t emu_stream_count(void);

#endif
