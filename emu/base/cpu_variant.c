#include "base/cpu_variant.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "MESHEMU_CPU_VARIANT"
#define UNKNOWN (-1)

static const char *const names[EMU_CPU_VARIANT_COUNT] = {"baseline", "avx2", "avx512"};

const char *emu_cpu_variant_name(enum emu_cpu_variant variant)
{
    return names[variant];
}

#ifdef EMU_CPU_VARIANTS
bool emu_cpu_variant_runs(enum emu_cpu_variant variant)
{
    __builtin_cpu_init();
    switch (variant) { /* gcc and clang ask the operating system's part (XCR0) too */
    case EMU_CPU_BASELINE:
        return true;
    case EMU_CPU_AVX2:
        return __builtin_cpu_supports("avx2");
    case EMU_CPU_AVX512:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    case EMU_CPU_VARIANT_COUNT:
        break;
    }
    return false;
}
#else
bool emu_cpu_variant_runs(enum emu_cpu_variant variant)
{
    return variant == EMU_CPU_BASELINE;
}
#endif

/* The highest variant that the environment allows; UNKNOWN: a word that is no name. */
static int asked(void)
{
    const char *word = getenv(VARIABLE);
    if (!word || !*word)
        return EMU_CPU_VARIANT_COUNT - 1;
    for (int i = 0; i < EMU_CPU_VARIANT_COUNT; i++)
        if (strcmp(word, names[i]) == 0)
            return i;
    return UNKNOWN;
}

bool emu_cpu_variant_asked_well(void)
{
    return asked() != UNKNOWN;
}

static enum emu_cpu_variant detect(void)
{
    int most = asked();
    int found = most == UNKNOWN ? EMU_CPU_VARIANT_COUNT - 1 : most;
    while (!emu_cpu_variant_runs((enum emu_cpu_variant)found))
        found--;
    return (enum emu_cpu_variant)found;
}

enum emu_cpu_variant emu_cpu_variant(void)
{
    /* relaxed: nothing is published with it, and threads that race write the same number */
    static _Atomic int known = UNKNOWN;
    int variant = atomic_load_explicit(&known, memory_order_relaxed);
    if (variant == UNKNOWN) {
        variant = (int)detect();
        atomic_store_explicit(&known, variant, memory_order_relaxed);
    }
    return (enum emu_cpu_variant)variant;
}
