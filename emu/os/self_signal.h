/* How does a process end or stop itself on purpose? */
#ifndef EMU_OS_SELF_SIGNAL_H
#define EMU_OS_SELF_SIGNAL_H

#include <stdint.h>

/* Die of this signal, whatever handler or mask there is, and leave no core file. */
_Noreturn void emu_self_kill(int signal);

/* Stop like a process that got SIGSTOP; returns once it is continued.
 * cont_after_ns  0: somebody else continues it. Otherwise the kernel's own timer does after this
 *                time, though no line of this process runs meanwhile */
void emu_self_stop(uint64_t cont_after_ns);

#endif
