#include "base/cpu_variant.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(base_cpu_variant, .timeout = 10);

Test(base_cpu_variant, the_baseline_always_runs)
{
    cr_assert(emu_cpu_variant_runs(EMU_CPU_BASELINE));
    cr_assert_not(emu_cpu_variant_runs(EMU_CPU_VARIANT_COUNT));
}

Test(base_cpu_variant, a_variant_holds_those_before_it)
{
    for (int i = 1; i < EMU_CPU_VARIANT_COUNT; i++)
        if (emu_cpu_variant_runs((enum emu_cpu_variant)i))
            cr_assert(emu_cpu_variant_runs((enum emu_cpu_variant)(i - 1)));
}

/* Each test runs in a process of its own, so each detects anew. */
Test(base_cpu_variant, without_a_wish_the_highest_that_runs)
{
    unsetenv("MESHEMU_CPU_VARIANT");
    enum emu_cpu_variant chosen = emu_cpu_variant();
    cr_assert(emu_cpu_variant_runs(chosen));
    for (int i = (int)chosen + 1; i < EMU_CPU_VARIANT_COUNT; i++)
        cr_assert_not(emu_cpu_variant_runs((enum emu_cpu_variant)i));
}

Test(base_cpu_variant, the_environment_lowers_it)
{
    setenv("MESHEMU_CPU_VARIANT", "baseline", 1);
    cr_assert(emu_cpu_variant_asked_well());
    cr_assert_eq(emu_cpu_variant(), EMU_CPU_BASELINE);
    setenv("MESHEMU_CPU_VARIANT", "avx512", 1);
    cr_assert_eq(emu_cpu_variant(), EMU_CPU_BASELINE, "the answer may not change in a process");
}

Test(base_cpu_variant, asking_for_more_than_runs_gives_what_runs)
{
    setenv("MESHEMU_CPU_VARIANT", "avx512", 1);
    cr_assert(emu_cpu_variant_runs(emu_cpu_variant()));
}

Test(base_cpu_variant, other_words_are_told_apart)
{
    setenv("MESHEMU_CPU_VARIANT", "sse9", 1);
    cr_assert_not(emu_cpu_variant_asked_well());
    cr_assert(emu_cpu_variant_runs(emu_cpu_variant()));
    setenv("MESHEMU_CPU_VARIANT", "", 1);
    cr_assert(emu_cpu_variant_asked_well());
}
