/* A process is bound to one processor, let loose, and bound again. */
#include "in_child.h"
#include "os/cpu.h"

#include <criterion/criterion.h>
#include <sched.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

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

/* 0: the kernel knew of restartable sequences and does so no more; 77: it never did. A second
 * request finds nothing, and the library still knows where it runs. */
static int forgo(void *unused)
{
    (void)unused;
#if __has_include(<sys/rseq.h>)
    if (__rseq_size == 0)
        return 77;
    const struct rseq *area = (void *)((char *)__builtin_thread_pointer() + __rseq_offset);
    const volatile uint32_t *cpu = &area->cpu_id;
    if (*cpu > INT32_MAX)
        return 77;
    for (int time = 0; time < 2; time++) {
        emu_cpu_forgo_sequences();
        if (*cpu != (uint32_t)RSEQ_CPU_ID_UNINITIALIZED)
            return 1;
        emu_cpu_yield();
        if (sched_getcpu() < 0)
            return 2;
    }
    return 0;
#else
    emu_cpu_forgo_sequences();
    return 77;
#endif
}

Test(cpu, does_without_restartable_sequences_where_it_had_them, .timeout = 10)
{
    int code = run_in_child(forgo, NULL, 5);
    if (code == 77)
        cr_skip_test("no restartable sequences here");
    cr_expect_eq(code, 0, "%d", code);
}
