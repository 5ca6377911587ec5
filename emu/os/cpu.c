#include "os/cpu.h"

#include "base/hot.h"
#include "os/raw_call.h"

#include <inttypes.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
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

/* As Linux tells it: the caches of a processor are numbered from its own to those shared by most.
 * sysconf would multiply by the number of sharers where there are none on some processors. */
uint64_t emu_cpu_cache_bytes(void)
{
    uint64_t largest = 0;
    for (int i = 0; i < 8; i++) {
        char path[64];
        uint64_t kib;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        FILE *file = fopen(path, "re");
        if (!file)
            break;
        if (fscanf(file, "%" SCNu64 "K", &kib) == 1 && kib > largest && kib < UINT32_MAX)
            largest = kib;
        fclose(file);
    }
    return largest * 1024;
}

/* What emu_cpu_pin found, for emu_cpu_loosen; of the calling thread. */
static _Thread_local struct {
    cpu_set_t *whole; /* kept as long as the thread */
    size_t bytes;
    int chosen;
    bool is_pinned;
} pin;

static int nth_of(const cpu_set_t *set, size_t bytes, int limit, uint32_t n)
{
    int count = CPU_COUNT_S(bytes, set);
    uint32_t left = n % (uint32_t)(count < 1 ? 1 : count);
    for (int cpu = 0; cpu < limit; cpu++)
        if (CPU_ISSET_S((size_t)cpu, bytes, set) && left-- == 0)
            return cpu;
    return 0;
}

static bool bind_to(int cpu)
{
    cpu_set_t *one = CPU_ALLOC((size_t)cpu + 1);
    size_t bytes = CPU_ALLOC_SIZE((size_t)cpu + 1);
    if (!one)
        return false;
    CPU_ZERO_S(bytes, one);
    CPU_SET_S((size_t)cpu, bytes, one);
    bool bound = sched_setaffinity(0, bytes, one) == 0;
    CPU_FREE(one);
    return bound;
}

bool emu_cpu_pin(uint32_t n)
{
    int limit = 0;
    if (pin.is_pinned)
        emu_cpu_loosen();
    if (pin.whole)
        CPU_FREE(pin.whole);
    pin.whole = allowed_set(&pin.bytes, &limit);
    pin.chosen = pin.whole ? nth_of(pin.whole, pin.bytes, limit, n) : 0;
    pin.is_pinned = pin.whole && bind_to(pin.chosen);
    return pin.is_pinned;
}

void emu_cpu_loosen(void)
{
    if (pin.is_pinned)
        sched_setaffinity(0, pin.bytes, pin.whole);
}

void emu_cpu_tighten(void)
{
    if (pin.is_pinned)
        bind_to(pin.chosen);
}

bool emu_cpu_may_pin(void)
{
    size_t bytes;
    int limit;
    cpu_set_t *set = allowed_set(&bytes, &limit);
    bool may = set && sched_setaffinity(0, bytes, set) == 0;
    if (set)
        CPU_FREE(set);
    return may;
}

EMU_HOT void emu_cpu_yield(void)
{
    emu_raw_call(SYS_sched_yield, &(struct emu_raw_arguments){0});
}

EMU_HOT void emu_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Weak: there since glibc 2.35. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

#define RSEQ_AREA_BYTES 32
#define RSEQ_UNREGISTER 1
#if defined(__x86_64__)
#define RSEQ_SIGNATURE UINT32_C(0x53053053)
#elif defined(__aarch64__)
#define RSEQ_SIGNATURE UINT32_C(0xd428bc00)
#endif

void emu_cpu_forgo_sequences(void)
{
#if defined(RSEQ_SIGNATURE) && defined(SYS_rseq)
    if (!&__rseq_size || !&__rseq_offset || __rseq_size == 0)
        return;
    char *area = (char *)__builtin_thread_pointer() + __rseq_offset;
    emu_raw_call(SYS_rseq,
                 &(struct emu_raw_arguments){.first = area,
                                             .second = RSEQ_AREA_BYTES,
                                             .third = RSEQ_UNREGISTER,
                                             .fourth = (void *)(uintptr_t)RSEQ_SIGNATURE});
#endif
}
