/* What time is it? */
#ifndef EMU_OS_CLOCK_H
#define EMU_OS_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds: the same clock in all processes. */
uint64_t emu_clock_ns(void);

/* How long the calling thread has been on a processor. */
uint64_t emu_clock_cpu_ns(void);

/* Sleep at least ns, through signals. */
void emu_clock_sleep(uint64_t ns);

#endif
