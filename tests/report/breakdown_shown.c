/* Where the time went, printed and written of a breakdown made by hand. */
#include "report/breakdown_table.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct made {
    struct emu_mesh mesh;
    struct emu_plan plan;
    struct emu_training_result result;
};

static void make(struct made *made, const char *axes)
{
    struct emu_mesh_error error;
    memset(made, 0, sizeof *made);
    cr_assert_eq(emu_mesh_parse(axes, &made->mesh, &error), EMU_OK);
    emu_roster_init(&made->plan.roster, &made->mesh);
    uint32_t world = made->mesh.world;
    struct emu_breakdown *breakdown =
        calloc(1, sizeof *breakdown + world * sizeof breakdown->ranks[0]);
    cr_assert_not_null(breakdown);
    breakdown->world = world;
    breakdown->steps = 3;
    breakdown->audit_cpu_ns = 1250000;
    breakdown->oracle_cpu_ns = 40000000;
    for (uint32_t rank = 0; rank < world; rank++)
        for (int i = 0; i < EMU_SPENT_COUNT; i++)
            breakdown->ranks[rank].ns[i] = (uint64_t)(i + 1) * 1000000 + rank * 10000;
    breakdown->ranks[0].cpu_ns = 7000000;
    made->result = (struct emu_training_result){.plan = &made->plan, .breakdown = breakdown};
}

Test(breakdown, a_row_a_rank_adds_up_to_its_total)
{
    struct made made;
    struct emu_text out = {0};
    make(&made, "dp=2");
    emu_breakdown_print(&made.result, &out);
    cr_assert_str_eq(
        emu_text_get(&out),
        "\nwhere the time went: 3 steps, in milliseconds; ranks not pinned\n"
        "  rank  coordinate  compute  waiting  folding  calls  checks  oracle  total  on a core\n"
        "     0  dp=0           1.00     2.00     3.00   4.00    5.00    6.00  21.00       7.00\n"
        "     1  dp=1           1.01     2.01     3.01   4.01    5.01    6.01  21.06       0.00\n"
        "  of all ranks' time: compute 4.8 %, waiting 9.5 %, folding 14.3 %, calls 19.0 %, "
        "checks 23.8 %, oracle 28.6 %\n"
        "  the launcher was on a core for 1.25 ms of checks and 40.00 ms of the oracle, which "
        "runs beside the ranks\n",
        "%s", emu_text_get(&out));
    emu_text_finish(&out);
    free(made.result.breakdown);
}

Test(breakdown, of_many_ranks_the_first_are_printed)
{
    struct made made;
    struct emu_text out = {0};
    make(&made, "dp=40");
    emu_breakdown_print(&made.result, &out);
    cr_assert_not_null(strstr(emu_text_get(&out), "\n    14  dp=14 "));
    cr_assert_null(strstr(emu_text_get(&out), "\n    15  dp=15 "));
    cr_assert_not_null(strstr(emu_text_get(&out), "\n  and 25 more\n"));
    emu_text_finish(&out);
    free(made.result.breakdown);
}

Test(breakdown, a_run_without_a_step_says_so)
{
    struct emu_training_result result = {0};
    struct emu_text out = {0};
    emu_breakdown_print(&result, &out);
    cr_assert_str_eq(emu_text_get(&out), "\nwhere the time went\n  no step was completed\n");
    emu_text_finish(&out);
}

Test(breakdown, json_has_every_rank_in_nanoseconds)
{
    struct made made;
    struct emu_json json;
    struct emu_text out = {0};
    make(&made, "dp=20");
    emu_json_init_text(&json, &out);
    emu_breakdown_to_json(made.result.breakdown, &json);
    cr_assert(emu_json_finish(&json));
    const char *text = emu_text_get(&out);
    cr_assert_not_null(strstr(text, "\"steps\": 3"), "%s", text);
    cr_assert_not_null(strstr(text, "\"audit_cpu_ns\": 1250000"));
    cr_assert_not_null(strstr(text, "\"oracle_cpu_ns\": 40000000"));
    cr_assert_not_null(strstr(text, "\"rank\": 19"));
    cr_assert_not_null(strstr(text, "\"compute_ns\": 1190000"));
    cr_assert_not_null(strstr(text, "\"oracle_ns\": 6190000"));
    cr_assert_not_null(strstr(text, "\"total_ns\": 22140000"));
    cr_assert_not_null(strstr(text, "\"cpu_ns\": 7000000"));
    emu_text_finish(&out);
    free(made.result.breakdown);
}
