#include "os/ticks.h"

#include "base/wide.h"

#if defined(__x86_64__)
#include <cpuid.h>

#define POWER_LEAF 0x80000007u
#define INVARIANT_TSC (1u << 8)

static bool has_counter(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(POWER_LEAF, &a, &b, &c, &d) && (d & INVARIANT_TSC);
}
#elif defined(__aarch64__)
static bool has_counter(void)
{
    return true; /* architected: constant rate, all cores alike */
}
#else
static bool has_counter(void)
{
    return false;
}
#endif

struct emu_ticks emu_ticks_begin(void)
{
    struct emu_ticks begun = {.counts = has_counter()};
    begun.ticks = emu_ticks_now(&begun);
    begun.ns = begun.counts ? emu_clock_ns() : begun.ticks;
    return begun;
}

struct emu_ticks_rate emu_ticks_rate(const struct emu_ticks *begun)
{
    struct emu_ticks_rate rate = {*begun, 1, 1};
    uint64_t ticks = emu_ticks_now(begun);
    uint64_t ns = begun->counts ? emu_clock_ns() : ticks;
    if (ticks > begun->ticks && ns > begun->ns) {
        rate.ticks = ticks - begun->ticks;
        rate.ns = ns - begun->ns;
    }
    return rate;
}

uint64_t emu_ticks_span_ns(const struct emu_ticks_rate *rate, uint64_t ticks)
{
    return (uint64_t)((emu_u128)ticks * rate->ns / rate->ticks);
}

uint64_t emu_ticks_ns(const struct emu_ticks_rate *rate, uint64_t ticks)
{
    if (!rate->from.counts)
        return ticks;
    if (ticks < rate->from.ticks) /* a look on another core, some ns apart */
        return rate->from.ns;
    return rate->from.ns + emu_ticks_span_ns(rate, ticks - rate->from.ticks);
}
