#include "check/finding_build.h"

#include <criterion/criterion.h>
#include <string.h>

Test(check_finding, parts_are_copied)
{
    struct emu_findings findings = {0};
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_DEADLOCK);
    cr_assert_not_null(finding);
    char text[] = "dp";
    uint32_t ranks[] = {3, 1};
    struct emu_wait_view wait = {.rank = 4, .targets = ranks, .target_count = 2, .index = 9};
    emu_finding_axis(finding, text);
    emu_finding_parameter(finding, text);
    emu_finding_consequence(finding, "%s waits", text);
    emu_finding_ranks(finding, ranks, 2);
    emu_finding_member(finding, 7, text, NULL);
    emu_finding_wait(finding, &wait);
    memset(text, 'x', 2);
    memset(ranks, 0, sizeof ranks);
    cr_expect_str_eq(finding->axes[0], "dp");
    cr_expect_str_eq(finding->parameter, "dp");
    cr_expect_str_eq(finding->consequences[0], "dp waits");
    cr_expect_eq(finding->group[0], 3);
    cr_expect_str_eq(finding->members[0].state, "dp");
    cr_expect_not(finding->members[0].has_call);
    cr_expect_eq(finding->waits[0].targets[1], 1);
    cr_expect_eq(finding->waits[0].index, 9);
    emu_findings_finish(&findings);
    cr_expect_eq(findings.count, 0);
    emu_findings_finish(NULL);
}

Test(check_finding, a_new_one_is_an_empty_fault)
{
    struct emu_findings findings = {0};
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_CRASH);
    cr_expect_eq(finding->class_id, EMU_CLASS_CRASH);
    cr_expect_not(finding->note);
    cr_expect_eq(finding->after_ns, -1);
    cr_expect_not(finding->has_index);
    emu_findings_finish(&findings);
}

Test(check_finding, culprits_are_sorted_and_named_once)
{
    struct emu_findings findings = {0};
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_CRASH);
    const uint32_t given[] = {5, 2, 9, 2, 5, 0};
    for (size_t i = 0; i < 6; i++)
        emu_finding_culprit(finding, given[i]);
    const uint32_t wanted[] = {0, 2, 5, 9};
    cr_assert_eq(finding->culprit_count, 4);
    cr_expect_arr_eq(finding->culprits, wanted, sizeof wanted);
    emu_findings_finish(&findings);
}

Test(check_finding, the_first_parameter_is_the_parameter)
{
    struct emu_findings findings = {0};
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_WRONG_SCALE);
    emu_finding_parameter(finding, "b");
    emu_finding_parameter(finding, "a");
    emu_finding_parameter(finding, "b");
    cr_expect_str_eq(finding->parameter, "b");
    cr_assert_eq(finding->parameter_count, 2);
    cr_expect_str_eq(finding->parameters[1], "a");
    emu_findings_finish(&findings);
}

Test(check_finding, a_consequence_is_listed_once)
{
    struct emu_findings findings = {0};
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_CRASH);
    for (int i = 0; i < 6; i++)
        emu_finding_consequence(finding, "rank %d waits", i % 2);
    cr_expect_eq(finding->consequence_count, 2);
    emu_findings_finish(&findings);
}

Test(check_finding, a_later_text_replaces_the_earlier)
{
    struct emu_findings findings = {0};
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_CRASH);
    emu_finding_message(finding, "rank %d", 1);
    emu_finding_message(finding, "%s, again", finding->message);
    emu_finding_set_text(&finding->ratio, "%d/%d", 1, 2);
    emu_finding_set_text(&finding->ratio, "%d", 2);
    cr_expect_str_eq(finding->message, "rank 1, again");
    cr_expect_str_eq(finding->ratio, "2");
    emu_findings_finish(&findings);
}

Test(check_finding, a_group_by_id_has_members_name_and_axes)
{
    struct emu_mesh mesh;
    cr_assert_eq(emu_mesh_parse("dp=2,tp=3", &mesh, NULL), EMU_OK);
    struct emu_roster roster;
    emu_roster_init(&roster, &mesh);
    uint32_t family, group;
    cr_assert_eq(emu_roster_find(&roster, "tp", &family), EMU_OK);
    cr_assert_eq(emu_roster_group_of(&roster, family, 4, &group), EMU_OK);
    struct emu_findings findings = {0};
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_CRASH);
    emu_finding_group(finding, &roster, 0);
    emu_finding_group(finding, &roster, group);
    const uint32_t wanted[] = {3, 4, 5};
    cr_assert_eq(finding->group_size, 3);
    cr_expect_arr_eq(finding->group, wanted, sizeof wanted);
    cr_expect_str_eq(finding->group_name, "tp");
    cr_assert_eq(finding->axis_count, 1);
    cr_expect_str_eq(finding->axes[0], "tp");
    emu_findings_finish(&findings);
    emu_roster_finish(&roster);
    emu_mesh_finish(&mesh);
}

Test(check_finding, moved_findings_stand_behind_those_that_were_there)
{
    struct emu_findings to = {0}, from = {0};
    emu_findings_add(&to, EMU_CLASS_CRASH);
    for (int i = 0; i < 30; i++)
        emu_finding_message(emu_findings_add(&from, EMU_CLASS_STALL), "number %d", i);
    from.items[3].note = true;
    cr_assert(emu_findings_move(&to, &from));
    cr_expect_eq(from.count, 0);
    cr_expect_null(from.items);
    cr_assert_eq(to.count, 31);
    cr_expect_eq(to.items[0].class_id, EMU_CLASS_CRASH);
    cr_expect_str_eq(to.items[30].message, "number 29");
    cr_expect_eq(emu_findings_faults(&to), 30);
    cr_assert(emu_findings_move(&to, &from));
    cr_expect_eq(to.count, 31);
    emu_findings_finish(&to);
}

Test(check_finding, classes_have_the_names_of_the_report)
{
    cr_expect_str_eq(emu_class_name(EMU_CLASS_ORDER_MISMATCH), "ORDER_MISMATCH");
    cr_expect_str_eq(emu_class_name(EMU_CLASS_INTERNAL), "INTERNAL");
    cr_expect_str_eq(emu_class_name(EMU_CLASS_COUNT), "UNKNOWN");
}
