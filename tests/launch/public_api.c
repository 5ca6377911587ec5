/* The public header alone, as a user's program sees it. */
#include <meshemu/meshemu.h>

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(launch_api, .timeout = 60);

struct numbers {
    int64_t added;
};

static int reduce_on_axes(struct emu_rank *rank, void *user)
{
    const struct numbers *numbers = user;
    uint32_t tp, both;
    if (emu_rank_group(rank, "tp", &tp) != EMU_OK || emu_rank_group(rank, "tp,dp", &both) != EMU_OK)
        return 1;
    int64_t mine = emu_rank_id(rank) + numbers->added, sum = 0;
    if (emu_all_reduce(rank, tp, &mine, &sum, 1, EMU_I64, EMU_SUM) != EMU_OK)
        return 2;
    int64_t first = emu_rank_id(rank) / 2 * 2;
    if (sum != 2 * first + 1 + 2 * numbers->added)
        return 3;
    int64_t *all = emu_rank_alloc(rank, 4 * sizeof *all);
    if (!all || emu_all_gather(rank, both, &mine, all, 1, EMU_I64) != EMU_OK)
        return 4;
    return all[1] == numbers->added + 2 && emu_rank_group_size(rank, both) == 4 ? 0 : 5;
}

Test(launch_api, a_program_runs_on_a_mesh)
{
    struct emu_launch_options options = {.mesh = "dp=2,tp=2", .groups = " tp,dp ;; dp,tp;"};
    struct numbers numbers = {10};
    struct emu_outcome *outcome;
    cr_assert_eq(emu_launch(&options, reduce_on_axes, &numbers, &outcome), EMU_OK);
    cr_assert(emu_outcome_passed(outcome));
    cr_assert_eq(emu_outcome_findings(outcome)->count, 0);
    cr_assert_eq(emu_outcome_exit_code(outcome, 3), 0);
    cr_assert_eq(emu_outcome_exit_code(outcome, 4), -1);
    emu_outcome_destroy(outcome);
    emu_outcome_destroy(NULL);
}

static int fail_alone(struct emu_rank *rank, void *user)
{
    uint32_t world;
    (void)user;
    if (emu_rank_id(rank) == 1)
        abort();
    if (emu_rank_group(rank, "world", &world) != EMU_OK)
        return 9;
    return emu_barrier(rank, world) == EMU_OK ? 0 : 4;
}

static char *printed(const struct emu_outcome *outcome)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    emu_outcome_print(outcome, stream);
    fclose(stream);
    return text;
}

Test(launch_api, a_crash_is_told_to_a_person)
{
    struct emu_launch_options options = {.mesh = "dp=2", .keep_going = true};
    struct emu_outcome *outcome;
    cr_assert_eq(emu_launch(&options, fail_alone, NULL, &outcome), EMU_OK);
    cr_assert_not(emu_outcome_passed(outcome));
    cr_assert_eq(emu_outcome_exit_code(outcome, 1), 128 + 6);
    cr_assert_eq(emu_outcome_exit_code(outcome, 0), 4);
    char *text = printed(outcome);
    cr_assert_not_null(strstr(text, "CRASH"), "%s", text);
    cr_assert_not_null(strstr(text, "rank 1 (dp=1) was killed by SIGABRT"), "%s", text);
    free(text);
    emu_outcome_destroy(outcome);
}

static int do_nothing(struct emu_rank *rank, void *user)
{
    (void)rank;
    return user ? 1 : 0;
}

Test(launch_api, a_run_without_findings_says_so)
{
    struct emu_launch_options options = {.mesh = "dp=1"};
    struct emu_outcome *outcome;
    cr_assert_eq(emu_launch(&options, do_nothing, NULL, &outcome), EMU_OK);
    char *text = printed(outcome);
    cr_assert_str_eq(text, "no findings\n");
    free(text);
    emu_outcome_destroy(outcome);
}

/* What the refusal says on standard error, which is put into a file meanwhile. */
static void assert_refused(const char *mesh, const char *groups, const char *says)
{
    char name[] = "/tmp/meshemu-refused-XXXXXX", text[1024] = "";
    struct emu_launch_options options = {.mesh = mesh, .groups = groups};
    struct emu_outcome *outcome;
    int file = mkstemp(name), old = dup(STDERR_FILENO);
    dup2(file, STDERR_FILENO);
    enum emu_status status = emu_launch(&options, do_nothing, NULL, &outcome);
    fflush(stderr);
    dup2(old, STDERR_FILENO);
    cr_assert_geq(pread(file, text, sizeof text - 1, 0), 0);
    close(file);
    close(old);
    unlink(name);
    cr_assert_eq(status, EMU_EINVAL);
    cr_assert_not_null(strstr(text, says), "%s", text);
}

Test(launch_api, options_that_make_no_sense_are_refused)
{
    assert_refused("dp=0", NULL, "mesh \"dp=0\", column");
    assert_refused("", NULL, "mesh \"\"");
    assert_refused("dp=2", "dp,tp", "groups \"dp,tp\"");
    assert_refused("dp=2", "dp,dp", "groups \"dp,dp\"");
    assert_refused(NULL, NULL, "needs options with a mesh");
    struct emu_outcome *outcome;
    struct emu_launch_options options = {.mesh = "dp=1"};
    cr_assert_eq(emu_launch(NULL, do_nothing, NULL, &outcome), EMU_EINVAL);
    cr_assert_eq(emu_launch(&options, NULL, NULL, &outcome), EMU_EINVAL);
    cr_assert_eq(emu_launch(&options, do_nothing, NULL, NULL), EMU_EINVAL);
}

static int sleep_too_long(struct emu_rank *rank, void *user)
{
    (void)rank;
    (void)user;
    sleep(1000);
    return 0;
}

Test(launch_api, a_time_limit_ends_the_run)
{
    struct emu_launch_options options = {.mesh = "dp=2", .timeout_ns = 100000000};
    struct emu_outcome *outcome;
    cr_assert_eq(emu_launch(&options, sleep_too_long, NULL, &outcome), EMU_OK);
    const struct emu_findings *findings = emu_outcome_findings(outcome);
    cr_assert_eq(findings->count, 1);
    cr_assert_str_eq(emu_class_name(findings->items[0].class_id), "STALL");
    cr_assert_eq(findings->items[0].culprit_count, 2);
    emu_outcome_destroy(outcome);
}

static int never_comes(struct emu_rank *rank, void *user)
{
    uint32_t world;
    (void)user;
    while (emu_rank_id(rank) == 1)
        sleep(60);
    return emu_rank_group(rank, "world", &world) != EMU_OK || emu_barrier(rank, world) != EMU_OK;
}

Test(launch_api, a_budget_ends_the_wait_for_who_never_comes)
{
    struct emu_launch_options options = {.mesh = "dp=3", .stall_after_ns = 100000000};
    struct emu_outcome *outcome;
    cr_assert_eq(emu_launch(&options, never_comes, NULL, &outcome), EMU_OK);
    const struct emu_findings *findings = emu_outcome_findings(outcome);
    cr_assert(findings->count == 1 && findings->items[0].class_id == EMU_CLASS_STALL);
    cr_assert(findings->items[0].culprit_count == 1 && findings->items[0].culprits[0] == 1);
    emu_outcome_destroy(outcome);
}
