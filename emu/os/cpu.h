/* Which processors may we use, and how is one given to another process? */
#ifndef EMU_OS_CPU_H
#define EMU_OS_CPU_H

#include <stdbool.h>
#include <stdint.h>

/* Processors this process may run on (affinity mask and not more), at least 1. */
uint32_t emu_cpu_count(void);

/* Bytes of the largest cache that the first processor reaches; 0: not known. */
uint64_t emu_cpu_cache_bytes(void);

/* Pin the calling thread to the nth allowed processor (n modulo their number); false where refused.
 */
bool emu_cpu_pin(uint32_t n);

/* Let a pinned thread run anywhere for a while, as before it was pinned; and bind it again. Both do
 * nothing where the thread is not pinned. A refusal leaves it where it is. */
void emu_cpu_loosen(void);
void emu_cpu_tighten(void);

/* Tell the processor that the caller spins. */
void emu_cpu_relax(void);

/* Would the system let a thread be pinned? Changes nothing. */
bool emu_cpu_may_pin(void);

/* Let another runnable process go first. */
void emu_cpu_yield(void);

/* The calling thread will do without restartable sequences, for which the kernel looks into its
 * memory whenever it gives it a core. Only for a process whose code is known not to use them: the C
 * library has registered them for whoever would, and finds its processor another way afterwards. A
 * refusal, or a library that does not know them, changes nothing. */
void emu_cpu_forgo_sequences(void);

#endif
