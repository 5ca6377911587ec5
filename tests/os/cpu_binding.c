/* A process is bound to one processor, let loose, and bound again. */
#include "in_child.h"
#include "os/cpu.h"

#include <criterion/criterion.h>
#include <sched.h>

/* Processors of the affinity mask, and its lowest one. */
static int allowed(int *lowest)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set))
        return 0;
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, &set))
        cpu++;
    *lowest = (int)cpu;
    return CPU_COUNT(&set);
}

static int bind_and_loosen(void *unused)
{
    (void)unused;
    int lowest, whole = allowed(&lowest), first = lowest;
    emu_cpu_loosen(); /* of a process that is not pinned: nothing */
    emu_cpu_tighten();
    if (allowed(&lowest) != whole)
        return 1;
    for (uint32_t n = 0; n < 2 * (uint32_t)whole; n++) {
        if (!emu_cpu_pin(n) || allowed(&lowest) != 1)
            return 2;
        if ((n % (uint32_t)whole == 0) != (lowest == first))
            return 3; /* n counts modulo their number, also when it was pinned before */
        emu_cpu_loosen();
        if (allowed(&lowest) != whole)
            return 4;
        emu_cpu_tighten();
        if (allowed(&lowest) != 1)
            return 5;
    }
    return emu_cpu_count() == 1 ? 0 : 6;
}

Test(cpu_binding, is_undone_and_done_again, .timeout = 20)
{
    cr_expect_eq(run_in_child(bind_and_loosen, NULL, 15), 0);
}
