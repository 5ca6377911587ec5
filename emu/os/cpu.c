#include "os/cpu.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

/* The mask of the kernel may be wider than cpu_set_t: start there and double until it fits. */
static cpu_set_t *allowed_set(size_t *bytes, int *limit)
{
    for (int cpus = CPU_SETSIZE; cpus <= (1 << 20); cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        if (!set)
            return NULL;
        *bytes = CPU_ALLOC_SIZE((size_t)cpus);
        *limit = cpus;
        if (sched_getaffinity(0, *bytes, set) == 0)
            return set;
        CPU_FREE(set);
    }
    return NULL;
}

uint32_t emu_cpu_count(void)
{
    size_t bytes;
    int limit;
    cpu_set_t *set = allowed_set(&bytes, &limit);
    int count = set ? CPU_COUNT_S(bytes, set) : 1;
    if (set)
        CPU_FREE(set);
    return count < 1 ? 1 : (uint32_t)count;
}

bool emu_cpu_pin(uint32_t n)
{
    size_t bytes;
    int limit;
    cpu_set_t *set = allowed_set(&bytes, &limit);
    if (!set)
        return false;
    uint32_t left = n % (uint32_t)(CPU_COUNT_S(bytes, set) < 1 ? 1 : CPU_COUNT_S(bytes, set));
    int chosen = 0;
    for (int cpu = 0; cpu < limit; cpu++)
        if (CPU_ISSET_S((size_t)cpu, bytes, set) && left-- == 0) {
            chosen = cpu;
            break;
        }
    CPU_ZERO_S(bytes, set);
    CPU_SET_S((size_t)chosen, bytes, set);
    bool pinned = sched_setaffinity(0, bytes, set) == 0;
    CPU_FREE(set);
    return pinned;
}

void emu_cpu_yield(void)
{
    sched_yield();
}

void emu_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}
