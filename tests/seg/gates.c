/* The gate with ranks as processes, and what a rank that dies means to the auditor. */
#include "seg/board.h"
#include "seg/gate.h"
#include "small_segment.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct small_segment small;
static pid_t pids[4];

static void start_ranks(void (*body)(uint32_t rank))
{
    pid_t parent = getpid();
    cr_assert(small_open(&small, "dp=4"));
    for (uint32_t i = 0; i < 4; i++)
        if ((pids[i] = fork()) == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() == parent)
                body(i);
            _exit(9);
        }
}

static int reap(uint32_t rank)
{
    int status;
    waitpid(pids[rank], &status, 0);
    emu_segment_fail_rank(&small.segment, rank);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void three_steps(uint32_t rank)
{
    enum emu_gate_verdict verdict = EMU_GATE_GO_ON;
    for (uint64_t step = 1; verdict == EMU_GATE_GO_ON; step++) {
        *emu_segment_record(&small.segment, rank) = (unsigned char)step;
        if (emu_gate_pass(&small.segment, rank, step, &verdict))
            _exit(1);
        if (verdict == EMU_GATE_STOP)
            _exit(step == 3 ? 0 : 2);
    }
}

Test(gate, lets_the_auditor_look_between_steps, .timeout = 20)
{
    start_ranks(three_steps);
    for (uint64_t step = 1; step <= 3; step++) {
        cr_assert_eq(emu_gate_all_arrived(&small.segment, step), EMU_OK);
        for (uint32_t i = 0; i < 4; i++)
            cr_expect_eq(*emu_segment_record(&small.segment, i), step);
        emu_gate_answer(&small.segment, step, step == 3 ? EMU_GATE_STOP : EMU_GATE_GO_ON);
    }
    for (uint32_t i = 0; i < 4; i++)
        cr_expect_eq(reap(i), 0);
    small_close(&small);
}

static void one_dies(uint32_t rank)
{
    enum emu_gate_verdict verdict;
    if (rank == 2)
        raise(SIGKILL);
    _exit(emu_gate_pass(&small.segment, rank, 1, &verdict) == EMU_EABORTED ? 0 : 1);
}

Test(gate, tells_the_auditor_of_a_rank_that_will_not_come, .timeout = 20)
{
    start_ranks(one_dies);
    cr_expect_eq(reap(2), 128 + SIGKILL);
    cr_expect_eq(emu_gate_all_arrived(&small.segment, 1), EMU_EPEER);
    emu_abort_post(&small.segment, 3);
    cr_expect_eq(emu_gate_all_arrived(&small.segment, 1), EMU_EABORTED);
    cr_expect_eq(reap(0), 0);
    cr_expect_eq(reap(1), 0);
    cr_expect_eq(reap(3), 0);
    small_close(&small);
}

static void dies_after_arrival(uint32_t rank)
{
    enum emu_gate_verdict verdict;
    if (rank == 1) { /* the launcher kills it while it waits */
        (void)!emu_gate_pass(&small.segment, rank, 1, &verdict);
        _exit(1);
    }
    struct emu_board_view board;
    do
        emu_board_look(&small.segment, 1, &board);
    while (board.state != EMU_BOARD_WAITING);
    _exit(emu_gate_pass(&small.segment, rank, 1, &verdict) == EMU_OK ? 0 : 1);
}

Test(gate, counts_a_rank_that_died_after_it_had_arrived, .timeout = 20)
{
    start_ranks(dies_after_arrival);
    cr_expect_eq(emu_gate_all_arrived(&small.segment, 1), EMU_OK);
    kill(pids[1], SIGKILL);
    cr_expect_eq(reap(1), 128 + SIGKILL);
    cr_expect_eq(emu_gate_all_arrived(&small.segment, 1), EMU_OK);
    emu_gate_answer(&small.segment, 1, EMU_GATE_GO_ON);
    cr_expect_eq(reap(0), 0);
    cr_expect_eq(reap(2), 0);
    cr_expect_eq(reap(3), 0);
    cr_expect_eq(emu_gate_all_arrived(&small.segment, 2), EMU_EPEER);
    small_close(&small);
}
