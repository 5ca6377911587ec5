/* Which vector instructions may kernels use?
 *
 * Kernels that are worth it are compiled once for each variant and chosen by function pointer; all
 * variants of a kernel give the same bits, for none may fuse or reorder. Detected once; the
 * environment variable MESHEMU_CPU_VARIANT (baseline, avx2, avx512) asks for a lower one, for tests
 * and comparisons. A build for another processor than x86-64 knows the baseline alone.
 *
 * The build compiles a kernel's file (VARIANTS in CMakeLists.txt) once more for each variant, with
 * EMU_VARIANT as a suffix for what it defines; all else in it is static:
 *
 *     const struct table EMU_VARIANT_NAME(sums) = {...};       sums, sums_avx2, sums_avx512
 *     EMU_VARIANTS_DECLARE(const struct table, sums);          in a header
 *     static const struct table *const all[] = EMU_VARIANTS_OF(sums);
 *     ... all[emu_cpu_variant()] ...
 */
#ifndef EMU_BASE_CPU_VARIANT_H
#define EMU_BASE_CPU_VARIANT_H

#include <stdbool.h>

#define EMU_VARIANT_PASTE(name, suffix) name##suffix
#define EMU_VARIANT_EXPAND(name, suffix) EMU_VARIANT_PASTE(name, suffix)
#ifdef EMU_VARIANT
#define EMU_VARIANT_NAME(name) EMU_VARIANT_EXPAND(name, EMU_VARIANT)
#else
#define EMU_VARIANT_NAME(name) name
#endif

#ifdef EMU_CPU_VARIANTS
#define EMU_VARIANTS_DECLARE(type, name) extern type name, name##_avx2, name##_avx512
#define EMU_VARIANTS_OF(name)                                                                      \
    {                                                                                              \
        &name, &name##_avx2, &name##_avx512                                                        \
    }
#else
#define EMU_VARIANTS_DECLARE(type, name) extern type name
#define EMU_VARIANTS_OF(name)                                                                      \
    {                                                                                              \
        &name, &name, &name                                                                        \
    }
#endif

enum emu_cpu_variant { /* each holds those before it */
                       EMU_CPU_BASELINE,
                       EMU_CPU_AVX2,
                       EMU_CPU_AVX512, /* F, BW, DQ, VL */
                       EMU_CPU_VARIANT_COUNT
};

/* The name as the environment variable has it. */
const char *emu_cpu_variant_name(enum emu_cpu_variant variant);

/* Were kernels built for it, and does this processor run them? */
bool emu_cpu_variant_runs(enum emu_cpu_variant variant);

/* The one to use: the highest that runs and is not above what the environment asks for. The same
 * answer at every call of a process. Callers: any thread. */
enum emu_cpu_variant emu_cpu_variant(void);

/* Is the value of the environment variable one of the names (or is it unset or empty)? For those
 * who start ranks, and refuse others; emu_cpu_variant ignores them. */
bool emu_cpu_variant_asked_well(void);

#endif
