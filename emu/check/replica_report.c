#include "base/number.h"
#include "check/ratio.h"
#include "check/replica_case.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES_SHOWN 4

/* What goes into the finding of one case. */
struct statement {
    const struct emu_evidence *evidence;
    const struct emu_divergence *head; /* the first divergence of the case */
    struct emu_marks tensors[EMU_STATE_COUNT];
    struct emu_marks all_tensors;
    struct emu_marks ranks; /* all that were compared */
};

static double value_at(const struct emu_evidence *evidence, const struct emu_divergence *divergence,
                       uint32_t rank, uint64_t local)
{
    return emu_evidence_value(evidence, rank, divergence->tensor, divergence->state, local);
}

/* The first rank of a class other than the usual one. */
static uint32_t odd_rank(const struct emu_split *split)
{
    return emu_split_first(split, split->usual == 0 ? 1 : 0);
}

/* First element that the usual class and another hold differently; false: equal bit for bit. */
static bool find_element(const struct statement *statement, uint64_t *local)
{
    const struct emu_split *split = &statement->head->split;
    uint32_t a = emu_split_first(split, split->usual), b = odd_rank(split);
    uint64_t count =
        emu_evidence_elements(emu_evidence_tensor(statement->evidence, a, statement->head->tensor));
    for (uint64_t i = 0; i < count; i++) {
        double x = value_at(statement->evidence, statement->head, a, i);
        double y = value_at(statement->evidence, statement->head, b, i);
        if (memcmp(&x, &y, sizeof x) != 0) {
            *local = i;
            return true;
        }
    }
    return false;
}

/* "0.5 on ranks 0, 2; 0.25 on rank 3" */
static void add_holders(struct emu_text *out, const struct statement *statement, uint64_t local)
{
    const struct emu_split *split = &statement->head->split;
    struct emu_marks holders;
    if (!emu_marks_init(&holders, split->world))
        return;
    char number[EMU_NUMBER_MAX];
    for (uint32_t i = 0; i < split->classes && i < CLASSES_SHOWN; i++) {
        for (uint32_t rank = 0; rank < split->world; rank++)
            holders.at[rank] = split->class_of[rank] == i;
        double value =
            value_at(statement->evidence, statement->head, emu_split_first(split, i), local);
        emu_text_printf(out, "%s%s on ", i > 0 ? "; " : "", emu_number_f64(value, number));
        emu_marks_words(out, &holders);
    }
    if (split->classes > CLASSES_SHOWN)
        emu_text_printf(out, "; and %" PRIu32 " more", split->classes - CLASSES_SHOWN);
    emu_marks_finish(&holders);
}

static void set_values(struct emu_finding *finding, const struct statement *statement,
                       uint64_t local)
{
    const struct emu_split *split = &statement->head->split;
    double usual =
        value_at(statement->evidence, statement->head, emu_split_first(split, split->usual), local);
    double odd = value_at(statement->evidence, statement->head, odd_rank(split), local);
    char number[EMU_NUMBER_MAX];
    emu_finding_set_text(&finding->expected, "%s", emu_number_f64(usual, number));
    emu_finding_set_text(&finding->got, "%s", emu_number_f64(odd, number));
    struct emu_ratio ratio;
    if (!emu_ratio_near(odd / usual, 1e-9, &ratio) || ratio.top == ratio.bottom)
        return;
    struct emu_text text = {0};
    emu_ratio_text(&text, ratio);
    emu_finding_set_text(&finding->ratio, "%s", emu_text_get(&text));
    emu_text_finish(&text);
}

static void add_members(struct emu_finding *finding, const struct statement *statement,
                        uint64_t local)
{
    char number[EMU_NUMBER_MAX];
    for (uint32_t rank = 0; rank < statement->head->split.world; rank++) {
        if (!emu_split_contains(&statement->head->split, rank))
            continue;
        char *state = emu_format(
            "holds %s",
            emu_number_f64(value_at(statement->evidence, statement->head, rank, local), number));
        emu_finding_member(finding, rank, state ? state : "", NULL);
        free(state);
    }
}

/* The family of one axis with a group of exactly these ranks, or -1. */
static int64_t group_of_ranks(const struct emu_roster *roster, const struct emu_marks *ranks)
{
    size_t count = emu_marks_count(ranks);
    uint32_t first = 0, group;
    while (first < ranks->size && !ranks->at[first])
        first++;
    for (uint32_t family = 0; first < ranks->size && family < roster->family_count; family++) {
        if (roster->families[family].group_size != count ||
            emu_roster_group_of(roster, family, first, &group) != EMU_OK)
            continue;
        struct emu_group members = emu_roster_group(roster, group);
        uint32_t inside = 0;
        while (inside < members.size && ranks->at[emu_group_member(&members, inside)])
            inside++;
        if (inside == members.size)
            return group;
    }
    return -1;
}

static void set_group(struct emu_finding *finding, const struct statement *statement)
{
    const struct emu_roster *roster = &statement->evidence->plan->roster;
    int64_t group = group_of_ranks(roster, &statement->ranks);
    if (group >= 0) {
        emu_finding_group(finding, roster, (uint32_t)group);
        return;
    }
    uint32_t *list = malloc(statement->ranks.size * sizeof *list);
    size_t count = 0;
    for (size_t i = 0; list && i < statement->ranks.size; i++)
        if (statement->ranks.at[i])
            list[count++] = (uint32_t)i;
    emu_finding_ranks(finding, list, count);
    free(list);
}

static void describe(struct emu_finding *finding, const struct statement *statement)
{
    const struct emu_evidence *evidence = statement->evidence;
    enum emu_state state = statement->head->state;
    struct emu_text words = {0};
    emu_text_printf(&words, "step %" PRIu64 ": replicas hold different bits for the %s of ",
                    evidence->step, emu_state_word(state));
    emu_tensors_words(&words, evidence->plan, &statement->tensors[state]);
    uint64_t local;
    if (find_element(statement, &local)) {
        struct emu_element at = emu_evidence_element(
            emu_evidence_tensor(evidence, emu_split_first(&statement->head->split, 0),
                                statement->head->tensor),
            local);
        emu_text_printf(&words, ", first at row %" PRIu64 ", column %" PRIu64 ": ", at.row,
                        at.column);
        add_holders(&words, statement, local);
        if (!statement->head->split.tie)
            set_values(finding, statement, local);
        add_members(finding, statement, local);
    } else {
        emu_text_puts(&words, "; the elements agree now, so they changed after they were hashed");
    }
    emu_finding_message(finding, "%s", emu_text_get(&words));
    for (int other = 0; other < EMU_STATE_COUNT; other++) {
        if (other == (int)state || emu_marks_count(&statement->tensors[other]) == 0)
            continue;
        emu_text_finish(&words);
        emu_tensors_words(&words, evidence->plan, &statement->tensors[other]);
        emu_finding_consequence(finding, "on the same ranks the %s of %s differs",
                                emu_state_word((enum emu_state)other), emu_text_get(&words));
    }
    emu_text_finish(&words);
}

static bool statement_init(struct statement *statement, const struct emu_evidence *evidence)
{
    *statement = (struct statement){.evidence = evidence};
    bool room = emu_marks_init(&statement->ranks, emu_evidence_world(evidence)) &&
                emu_marks_init(&statement->all_tensors, evidence->plan->tensor_count);
    for (int state = 0; state < EMU_STATE_COUNT && room; state++)
        room = emu_marks_init(&statement->tensors[state], evidence->plan->tensor_count);
    return room;
}

static void statement_finish(struct statement *statement)
{
    emu_marks_finish(&statement->ranks);
    emu_marks_finish(&statement->all_tensors);
    for (int state = 0; state < EMU_STATE_COUNT; state++)
        emu_marks_finish(&statement->tensors[state]);
}

static void collect(struct statement *statement, const struct emu_divergences *divergences,
                    size_t number)
{
    for (size_t i = 0; i < divergences->count; i++) {
        const struct emu_divergence *one = &divergences->items[i];
        if (one->case_number != number)
            continue;
        statement->tensors[one->state].at[one->tensor] = true;
        statement->all_tensors.at[one->tensor] = true;
        for (uint32_t rank = 0; rank < one->split.world; rank++)
            if (emu_split_contains(&one->split, rank))
                statement->ranks.at[rank] = true;
    }
}

bool emu_replica_case_report(const struct emu_divergences *divergences,
                             const struct emu_replica_cases *cases, size_t number,
                             const struct emu_evidence *evidence, struct emu_audit *audit)
{
    const struct emu_replica_case *one = &cases->items[number];
    struct statement statement;
    struct emu_finding *finding = NULL;
    if (statement_init(&statement, evidence))
        finding = emu_findings_add(&audit->findings, EMU_CLASS_REPLICA_DIVERGENCE);
    if (finding) {
        const struct emu_mesh *mesh = emu_evidence_mesh(evidence);
        statement.head = &divergences->items[one->first];
        collect(&statement, divergences, number);
        for (uint32_t i = 0; i < mesh->axis_count; i++)
            if (one->axes >> i & 1)
                emu_finding_axis(finding, mesh->axes[i].name);
        set_group(finding, &statement);
        emu_finding_culprits(finding, &one->odd);
        finding->undecided = one->tie;
        emu_finding_parameters(finding, evidence->plan, &statement.all_tensors);
        describe(finding, &statement);
    }
    statement_finish(&statement);
    return finding != NULL;
}
