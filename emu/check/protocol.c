#include "check/protocol.h"

#include "check/call_counts.h"
#include "check/call_words.h"
#include "check/finding_build.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is compared, in the order in which it names a finding. */
enum field { FIELD_KIND, FIELD_OP, FIELD_DTYPE, FIELD_COUNT, FIELD_ROOT, FIELD_END };

static const enum emu_class field_class[FIELD_END] = {
    [FIELD_KIND] = EMU_CLASS_ORDER_MISMATCH,  [FIELD_OP] = EMU_CLASS_OP_MISMATCH,
    [FIELD_DTYPE] = EMU_CLASS_DTYPE_MISMATCH, [FIELD_COUNT] = EMU_CLASS_COUNT_MISMATCH,
    [FIELD_ROOT] = EMU_CLASS_ROOT_MISMATCH,
};

/* Value of a field that means something for the kind; 0 elsewhere. */
static uint64_t value_of(const struct emu_call_view *call, enum field field)
{
    switch (field) {
    case FIELD_KIND:
        return (uint64_t)call->kind;
    case FIELD_OP:
        return emu_kind_reduces(call->kind) ? (uint64_t)call->op : 0;
    case FIELD_DTYPE:
        return call->kind == EMU_BARRIER ? 0 : (uint64_t)call->dtype;
    case FIELD_COUNT:
        return call->kind == EMU_BARRIER ? 0 : call->count;
    case FIELD_ROOT:
        return emu_kind_has_root(call->kind) ? call->root : 0;
    case FIELD_END:
        break;
    }
    return 0;
}

static void value_text(struct emu_text *out, const struct emu_call_view *call, enum field field)
{
    switch (field) {
    case FIELD_KIND:
        emu_text_puts(out, emu_kind_name(call->kind));
        break;
    case FIELD_OP:
        emu_text_printf(out, "op %s", emu_op_name(call->op));
        break;
    case FIELD_DTYPE:
        emu_text_printf(out, "dtype %s", emu_dtype_name(call->dtype));
        break;
    case FIELD_COUNT:
        emu_text_printf(out, "count %" PRIu64, call->count);
        break;
    case FIELD_ROOT:
        emu_text_printf(out, "root %" PRIu32, call->root);
        break;
    case FIELD_END:
        break;
    }
}

/* How the members stand on one field. odd[i]: 1 where member i is in the minority. */
struct poll {
    bool differs;
    bool tie;
    uint64_t majority;
    unsigned char *odd;
};

/* members[i] with !counted[i] (in the minority on the kind) or without a call have no vote. O(n^2)
 * on values, n members: only after a mismatch. */
static void take_poll(const struct emu_member_view *members, size_t count,
                      const unsigned char *counted, enum field field, struct poll *poll)
{
    size_t best = 0;
    poll->differs = poll->tie = false;
    poll->majority = 0;
    for (size_t i = 0; i < count; i++) {
        if (!counted[i])
            continue;
        uint64_t value = value_of(&members[i].call, field);
        size_t votes = 0, before = 0, other = 0;
        for (size_t j = 0; j < count; j++) {
            bool same = value_of(&members[j].call, field) == value;
            votes += counted[j] && same;
            before += counted[j] && same && j < i;
            other += counted[j] && !same;
        }
        poll->differs |= other > 0;
        if (before > 0 || votes < best)
            continue;
        poll->tie = votes == best;
        best = votes;
        poll->majority = value;
    }
    for (size_t i = 0; i < count; i++)
        poll->odd[i] = counted[i] && poll->differs && !poll->tie &&
                       value_of(&members[i].call, field) != poll->majority;
}

/* "rank 3 (dp=1,tp=1) has dtype f64, the others f32", or who has what. */
static void differ_text(struct emu_text *text, const struct emu_scene *scene,
                        const struct emu_member_view *members, size_t count,
                        const struct poll *poll, enum field field)
{
    size_t normal = count;
    for (size_t i = 0; i < count; i++)
        if (!poll->odd[i] && members[i].has_call)
            normal = i;
    const char *gap = "";
    for (size_t i = 0; i < count; i++) {
        if (!members[i].has_call || !(poll->tie || poll->odd[i]))
            continue;
        emu_text_puts(text, gap);
        emu_rank_text(text, scene->roster->mesh, members[i].rank);
        emu_text_puts(text, field == FIELD_KIND ? " called " : " has ");
        value_text(text, &members[i].call, field);
        gap = ", ";
    }
    if (!poll->tie && normal < count) {
        emu_text_puts(text, ", the others ");
        value_text(text, &members[normal].call, field);
    } else if (poll->tie) {
        emu_text_puts(text, " (tie: undecided)");
    }
}

/* The table and the place in the program, the same for every finding of an incident. Who had signed
 * was in this call when signatures were compared, whatever it has done since; a member that is
 * awaited may have died in the call, which says more. */
static void describe(const struct emu_scene *scene, const struct emu_incident *incident,
                     const struct emu_member_view *members, struct emu_finding *finding)
{
    const struct emu_call_view here = {.group = incident->group, .index = incident->index};
    emu_finding_group(finding, scene->roster, incident->group);
    emu_finding_index(finding, incident->index);
    struct emu_group group = emu_roster_group(scene->roster, incident->group);
    for (uint32_t i = 0; i < group.size; i++) {
        uint32_t rank = emu_group_member(&group, i);
        struct emu_state_text state = emu_scene_state(scene, rank, &here);
        bool posted = members[i].has_call && (incident->cause == EMU_INCIDENT_MISMATCH ||
                                              !emu_fate_is_gone(scene->ranks[rank].fate));
        emu_finding_member(finding, rank, posted ? "in this call" : state.text,
                           members[i].has_call ? &members[i].call : emu_scene_call(scene, rank));
    }
    finding->after_ns = (int64_t)(scene->now_ns - incident->enabled_ns);
}

static size_t add_mismatch(const struct emu_scene *scene, const struct emu_incident *incident,
                           const struct emu_member_view *members, const struct poll *poll,
                           enum field field, struct emu_findings *findings)
{
    struct emu_finding *finding = emu_findings_add(findings, field_class[field]);
    if (!finding)
        return EMU_NO_FINDING;
    describe(scene, incident, members, finding);
    struct emu_text text = {0};
    emu_text_printf(&text, "call #%" PRIu64 " of %s does not match: ", incident->index,
                    finding->group_name ? finding->group_name : "the group");
    differ_text(&text, scene, members, finding->group_size, poll, field);
    emu_text_puts(&text, "; no data was written");
    emu_finding_message(finding, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    for (size_t i = 0; i < finding->group_size; i++) {
        if (!poll->odd[i])
            continue;
        emu_finding_culprit(finding, members[i].rank);
        emu_scene_explain(scene, members[i].rank, finding);
    }
    finding->undecided = finding->culprit_count == 0;
    return findings->count - 1;
}

/* Are the odd members of this poll those of an earlier finding? Then it is the same cause. */
static bool already_blamed(const struct emu_findings *findings, size_t first,
                           const struct emu_member_view *members, size_t count,
                           const struct poll *poll)
{
    for (size_t f = first; f < findings->count; f++) {
        const struct emu_finding *finding = &findings->items[f];
        size_t blamed = 0, odd = 0;
        for (size_t i = 0; i < count; i++) {
            odd += poll->odd[i];
            for (size_t c = 0; c < finding->culprit_count; c++)
                blamed += poll->odd[i] && finding->culprits[c] == members[i].rank;
        }
        if (blamed == odd && odd == finding->culprit_count)
            return true;
    }
    return false;
}

/* All that is compared and shown agrees: what is left is how the parts of a whole are counted. */
static size_t add_layout(const struct emu_scene *scene, const struct emu_incident *incident,
                         const struct emu_member_view *members, struct emu_findings *findings)
{
    struct emu_finding *finding = emu_findings_add(findings, EMU_CLASS_COUNT_MISMATCH);
    if (!finding)
        return EMU_NO_FINDING;
    describe(scene, incident, members, finding);
    emu_finding_message(finding,
                        "call #%" PRIu64
                        " of %s does not match: some members count their own part, "
                        "others the whole (layout); no data was written",
                        incident->index, finding->group_name ? finding->group_name : "the group");
    finding->undecided = true;
    return findings->count - 1;
}

size_t emu_protocol_mismatch(const struct emu_scene *scene, const struct emu_incident *incident,
                             const struct emu_member_view *members, struct emu_findings *findings)
{
    assert(incident->group < scene->roster->group_count);
    size_t count = emu_roster_group(scene->roster, incident->group).size;
    size_t first = findings->count;
    unsigned char *counted = malloc(2 * count);
    if (!counted)
        return EMU_NO_FINDING;
    struct poll poll = {.odd = counted + count};
    for (size_t i = 0; i < count; i++)
        counted[i] = members[i].has_call;
    for (enum field field = FIELD_KIND; field < FIELD_END; field++) {
        take_poll(members, count, counted, field, &poll);
        if (!poll.differs)
            continue;
        if (!already_blamed(findings, first, members, count, &poll))
            add_mismatch(scene, incident, members, &poll, field, findings);
        if (field == FIELD_KIND && poll.tie)
            break;
        for (size_t i = 0; field == FIELD_KIND && i < count; i++)
            counted[i] = counted[i] && !poll.odd[i];
    }
    free(counted);
    if (findings->count == first)
        return add_layout(scene, incident, members, findings);
    return first;
}

size_t emu_protocol_refused(const struct emu_scene *scene, const struct emu_incident *incident,
                            struct emu_findings *findings)
{
    bool outsider = incident->status == EMU_ENOTMEMBER;
    struct emu_finding *finding =
        emu_findings_add(findings, outsider ? EMU_CLASS_NOT_A_MEMBER : EMU_CLASS_INVALID_ARGUMENT);
    if (!finding)
        return EMU_NO_FINDING;
    bool known = incident->group < scene->roster->group_count;
    bool message = emu_kind_is_message(incident->call.kind);
    struct emu_text text = {0};
    emu_rank_text(&text, scene->roster->mesh, incident->rank);
    int size = (int)sizeof incident->text;
    bool called = incident->call.kind < EMU_KIND_COUNT; /* else a mistake beside all calls */
    if (called) {
        emu_text_puts(&text, " called ");
        emu_call_text(&text, &incident->call);
        emu_text_puts(&text, outsider ? ", of which it is no member: " : ", which was refused: ");
        emu_text_printf(&text, "%.*s; no data was written", size, incident->text);
    } else {
        emu_text_printf(&text, ": %.*s", size, incident->text);
    }
    emu_finding_message(finding, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    emu_finding_culprit(finding, incident->rank);
    if (known && !message) {
        emu_finding_group(finding, scene->roster, incident->group);
        emu_scene_members(scene, finding, &incident->call);
    }
    if (!known || message || outsider)
        emu_finding_member(finding, incident->rank, called ? "in this call" : "in user code",
                           called ? &incident->call : NULL);
    emu_scene_explain(scene, incident->rank, finding);
    finding->after_ns = (int64_t)(scene->now_ns - incident->enabled_ns);
    return findings->count - 1;
}

size_t emu_protocol_missing(const struct emu_scene *scene, const struct emu_incident *incident,
                            const struct emu_member_view *members, struct emu_findings *findings)
{
    struct emu_finding *finding = emu_findings_add(findings, EMU_CLASS_MISSING_PARTICIPANT);
    if (!finding)
        return EMU_NO_FINDING;
    describe(scene, incident, members, finding);
    const struct emu_call_view *awaited = NULL;
    for (size_t i = 0; i < finding->group_size; i++) {
        const struct emu_rank_seen *seen = &scene->ranks[members[i].rank];
        if (members[i].has_call)
            awaited = &members[i].call;
        else if (seen->fate == EMU_FATE_EXITED && seen->code == 0)
            emu_finding_culprit(finding, members[i].rank);
    }
    emu_finding_culprit(finding, incident->rank);
    struct emu_text text = {0};
    emu_ranks_text(&text, finding->culprits, finding->culprit_count);
    emu_text_puts(&text, " ended without ");
    if (awaited)
        emu_call_text(&text, awaited);
    else
        emu_text_printf(&text, "call #%" PRIu64 " of %s", incident->index,
                        finding->group_name ? finding->group_name : "the group");
    emu_text_puts(&text, ", in which others wait; no data was written");
    emu_finding_message(finding, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    emu_call_counts_explain(scene, incident, finding);
    for (size_t i = 0; i < finding->culprit_count; i++)
        emu_scene_explain(scene, finding->culprits[i], finding);
    return findings->count - 1;
}
