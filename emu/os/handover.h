/* How does a child give descriptors to the process that forked it?
 *
 * Made in the child and handed over, they never burden the forks of its siblings: a fork copies
 * every descriptor that is open. Messages are whole, tell who sent them, and carry two descriptors
 * or the errno that prevented them. When every sender has closed its end or died, the receiver is
 * told so.
 */
#ifndef EMU_OS_HANDOVER_H
#define EMU_OS_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

struct emu_handover {
    uint32_t from;
    int error; /* 0: fds are there; else errno of the sender */
    int fds[2];
};

enum emu_handover_news {
    EMU_HANDOVER_CAME,
    EMU_HANDOVER_NOTHING, /* in this time */
    EMU_HANDOVER_CLOSED,  /* nobody can send any more */
    EMU_HANDOVER_REFUSED  /* errno is set, EMFILE where the descriptors found no room */
};

/* ends[0] receives, ends[1] sends. False, errno set. */
bool emu_handover_open(int ends[2]);

/* In the child; the descriptors stay open here too. False, errno set. */
bool emu_handover_send(int end, const struct emu_handover *given);

/* Waits timeout_ms. CAME: the descriptors are the caller's, closed on exec. */
enum emu_handover_news emu_handover_receive(int end, int timeout_ms, struct emu_handover *got);

#endif
