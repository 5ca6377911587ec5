/* Who is late? Readings of the detector that are made by hand: a rank that is awake inside a call
 * is late only if it did not move on. */
#include "run/detector.h"

#include <criterion/criterion.h>
#include <string.h>

#define WORLD 2
#define BUDGET_NS 1000

static struct emu_detector detector;
static struct emu_crew_rank crew_ranks[WORLD];
static struct emu_crew crew = {.ranks = crew_ranks, .world = WORLD};
static struct emu_rank_seen seen[WORLD];
static struct emu_scene scene = {.ranks = seen};
static uint32_t target = 1;

static void begin(void)
{
    cr_assert_eq(emu_detector_init(&detector, WORLD), EMU_OK);
    detector.needs.targets = &target;
    detector.needs.target_count = 1;
    detector.needs.ranks[0] = (struct emu_need){
        .stand = EMU_STAND_WAITS, .wait = EMU_WAIT_SLOT, .rest = 1, .since_ns = 1000, .count = 1};
    detector.presence[0] = detector.presence[1] = EMU_PRESENT;
    detector.needs.ranks[1] = (struct emu_need){.stand = EMU_STAND_ACTS, .rest = 2, .pulse = 7};
    detector.watched[1] = (struct emu_watched){.pulse = 7, .since_ns = 2000, .looks = 5};
    seen[1].board = (struct emu_board_view){.state = EMU_BOARD_RUNNING,
                                            .phase = EMU_PHASE_DEPOSIT,
                                            .pulse = 7,
                                            .calls = 1,
                                            .since_ns = 500};
}

static void end(void)
{
    detector.needs.targets = NULL;
    emu_detector_finish(&detector);
}

TestSuite(run_late, .init = begin, .fini = end, .timeout = 20);

static bool is_late(uint64_t now_ns, uint64_t *kept_ns)
{
    struct emu_late late = {0};
    struct emu_patience patience = {&crew, &scene, BUDGET_NS};
    detector.last_ns = scene.now_ns = now_ns;
    bool found = emu_detector_finds_late(&detector, &patience, &late);
    *kept_ns = late.kept_ns;
    return found && late.count == 1 && late.ranks[0] == 1 && late.waiter == 0;
}

Test(run_late, inside_a_call_counts_from_the_first_look)
{
    uint64_t kept_ns;
    cr_expect_not(is_late(2999, &kept_ns));
    cr_assert(is_late(3000, &kept_ns));
    cr_expect_eq(kept_ns, 1000);
}

Test(run_late, inside_a_call_and_moved_on_is_not)
{
    uint64_t kept_ns;
    seen[1].board.pulse = 8;
    cr_expect_not(is_late(9000, &kept_ns));
}

Test(run_late, inside_a_call_and_was_asleep_is_not)
{
    uint64_t kept_ns;
    detector.watched[1].since_ns = 0;
    cr_expect_not(is_late(9000, &kept_ns));
}

Test(run_late, inside_a_call_takes_many_looks)
{
    uint64_t kept_ns;
    detector.watched[1].looks = 4;
    cr_expect_not(is_late(9000, &kept_ns));
}

Test(run_late, awake_in_a_wait_counts_as_inside_it)
{
    uint64_t kept_ns;
    seen[1].board.state = EMU_BOARD_WAITING;
    seen[1].board.wait = EMU_WAIT_SLOT;
    cr_expect(is_late(3000, &kept_ns));
    seen[1].board.wait = EMU_WAIT_GATE;
    cr_expect_not(is_late(3000, &kept_ns));
}

Test(run_late, in_its_own_code_counts_from_its_last_call)
{
    uint64_t kept_ns;
    struct emu_recorded_call last = {.started_ns = 600, .ended_ns = 1500, .status = EMU_OK};
    seen[1].board.phase = EMU_PHASE_NONE;
    seen[1].board.pulse = 8;
    seen[1].calls = &last;
    seen[1].call_count = 1;
    cr_expect_not(is_late(2499, &kept_ns));
    cr_expect(is_late(2500, &kept_ns));
    seen[1].calls = NULL;
    seen[1].call_count = 0;
}
