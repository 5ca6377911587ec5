/* Which of thousands of descriptors have something to say?
 *
 * A set that is told once of each descriptor, so that a wait costs what is ready and not what there
 * is (epoll, level-triggered: who does not read what is there is told again). Callers: one thread.
 */
#ifndef EMU_OS_WATCH_H
#define EMU_OS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* The set's own descriptor, or -1 with errno set. Closed by emu_stream_close. */
int emu_watch_create(void);

/* `token` is what emu_watch_wait gives for it. False, errno set, where the system refuses. */
bool emu_watch_add(int watch, int fd, uint64_t token);

/* Before the descriptor is closed: a child may hold a copy that keeps it in the set. */
void emu_watch_remove(int watch, int fd);

/* Tokens of what can be read or has ended, at most `room`, in turn where there are more. Waits
 * timeout_ms, for ever where it is negative. 0: the time is over, or a signal came; -1: an error.
 */
int emu_watch_wait(int watch, uint64_t *tokens, int room, int timeout_ms);

#endif
