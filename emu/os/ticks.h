/* What is the cheapest clock, and what time does it tell?
 *
 * A counter of the processor, where it runs at one rate on all cores and through sleep (x86-64:
 * invariant TSC, CPUID 0x80000007; arm64: the virtual counter); else the monotonic clock itself. A
 * look costs a few ns, half of what the monotonic clock does. Ticks become ns by the rate between
 * two looks at both clocks: one at the start, one when somebody asks. Whole
 * numbers only: a rank that watches whether its kernels have rounded must not round on the way.
 */
#ifndef EMU_OS_TICKS_H
#define EMU_OS_TICKS_H

#include "os/clock.h"

#include <stdbool.h>
#include <stdint.h>

struct emu_ticks {
    bool counts; /* false: ticks are ns of the monotonic clock */
    uint64_t ticks, ns;
};

/* Look at both clocks. */
struct emu_ticks emu_ticks_begin(void);

static inline uint64_t emu_ticks_now(const struct emu_ticks *begun)
{
#if defined(__x86_64__)
    if (begun->counts)
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    if (begun->counts) {
        uint64_t now;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
        return now;
    }
#endif
    (void)begun;
    return emu_clock_ns();
}

/* Two looks at both clocks: what ns of the monotonic clock belong to ticks between (and near) them?
 */
struct emu_ticks_rate {
    struct emu_ticks from;
    uint64_t ticks, ns; /* between the looks; ticks > 0 */
};
struct emu_ticks_rate emu_ticks_rate(const struct emu_ticks *begun);
uint64_t emu_ticks_span_ns(const struct emu_ticks_rate *rate, uint64_t ticks); /* of a time span */
uint64_t emu_ticks_ns(const struct emu_ticks_rate *rate, uint64_t ticks);

#endif
