/* The lab: real processes, real losses. */
#include "lab/reliability.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

static void set(struct emu_lab *lab, const char *key, const char *value)
{
    char error[EMU_LAB_ERROR_MAX];
    cr_assert(emu_lab_set(lab, key, value, error), "%s %s: %s", key, value, error);
}

Test(lab_step, four_replicas_without_a_loss_are_four_up_and_a_majority, .timeout = 60)
{
    struct emu_lab lab = {0};
    struct emu_lab_result result;
    struct emu_reason reason;
    emu_lab_reset(&lab);
    cr_assert(lab.n == 4 && lab.k == 0 && lab.majority == 3 && !lab.has_prediction);
    set(&lab, "predict", "4");
    cr_assert_eq(emu_lab_step(&lab, &result, &reason), EMU_OK);
    cr_assert_eq(result.up, 4);
    cr_assert_eq(result.up, lab.prediction);
    cr_assert_geq(result.up, lab.majority);
}

Test(lab_step, nobody_is_left_behind, .timeout = 60)
{
    struct emu_lab lab = {0};
    struct emu_lab_result result;
    struct emu_reason reason;
    emu_lab_reset(&lab);
    set(&lab, "n", "40");
    set(&lab, "k", "17");
    cr_assert_eq(emu_lab_step(&lab, &result, &reason), EMU_OK);
    cr_assert_eq(result.up, 23);
    for (uint32_t i = 0; i < 40; i++)
        cr_assert(kill(result.pids[i], 0) == -1 && errno == ESRCH, "replica %u", i);
}

Test(lab_step, a_mesh_of_2_by_2_holds_two_shards_each_twice, .timeout = 60)
{
    struct emu_lab lab = {0};
    struct emu_lab_result result;
    struct emu_reason reason;
    uint32_t copies;
    emu_lab_reset(&lab);
    set(&lab, "mesh", "dp=2,tp=2");
    cr_assert_eq(emu_lab_step(&lab, &result, &reason), EMU_OK);
    cr_assert(result.up == 4 && result.shards == 2 && result.shards_alive == 2);
    cr_assert_eq(emu_lab_holders(&lab, &result, 1, &copies), 2);
    cr_assert_eq(copies, 2);
    memset(result.alive, 0, sizeof result.alive);
    result.alive[1] = result.alive[3] = true; /* both hold tp=1 */
    cr_assert_eq(emu_lab_holders(&lab, &result, 0, &copies), 0);
    cr_assert_eq(emu_lab_holders(&lab, &result, 1, &copies), 2);
    char name[EMU_LAB_SHARD_MAX];
    emu_lab_shard_name(&lab, 0, name);
    cr_assert_str_eq(name, "tp=0");
}

Test(lab_step, all_may_be_lost, .timeout = 60)
{
    struct emu_lab lab = {0};
    struct emu_lab_result result;
    struct emu_reason reason;
    emu_lab_reset(&lab);
    set(&lab, "mesh", "pp=2,dp=3");
    set(&lab, "k", "6");
    cr_assert_eq(emu_lab_step(&lab, &result, &reason), EMU_OK);
    cr_assert(result.up == 0 && result.shards == 2 && result.shards_alive == 0);
}

Test(lab_settings, what_cannot_be_set_changes_nothing)
{
    static const char *const bad[][2] = {{"n", "0"},       {"n", "1025"},       {"n", "-1"},
                                         {"k", "5"},       {"k", "x"},          {"majority", "0"},
                                         {"mesh", "dp=0"}, {"mesh", "dp=2048"}, {"predict", "1.5"},
                                         {"colour", "1"}};
    char error[EMU_LAB_ERROR_MAX];
    struct emu_lab lab = {0};
    struct emu_lab before;
    emu_lab_reset(&lab);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memcpy(&before, &lab, sizeof lab);
        cr_assert(!emu_lab_set(&lab, bad[i][0], bad[i][1], error), "%s", bad[i][1]);
        cr_assert(!memcmp(&before, &lab, sizeof lab), "%s", bad[i][1]);
        cr_assert_gt(strlen(error), 10);
    }
}

Test(lab_settings, a_majority_follows_n_until_it_is_set)
{
    struct emu_lab lab = {0};
    emu_lab_reset(&lab);
    set(&lab, "n", "9");
    cr_assert_eq(lab.majority, 5);
    set(&lab, "majority", "7");
    set(&lab, "n", "3");
    cr_assert_eq(lab.majority, 7);
}
