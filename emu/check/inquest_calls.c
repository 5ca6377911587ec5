/* The part of the inquest that hears of broken calls. */
#include "check/finding_build.h"
#include "check/group_mismatch.h"
#include "check/inquest_parts.h"
#include "check/liveness.h"
#include "check/protocol.h"

static void open_case(struct emu_inquest *inquest, const struct emu_incident *incident,
                      size_t place)
{
    if (inquest->case_count == EMU_INCIDENT_MAX)
        return;
    inquest->cases[inquest->case_count++] =
        (struct emu_inquest_case){incident->group, incident->index, place};
}

/* An edge of the finding says it already. */
static bool has_wait(const struct emu_finding *finding, uint32_t rank)
{
    for (size_t i = 0; i < finding->wait_count; i++)
        if (finding->waits[i].rank == rank)
            return true;
    return false;
}

static void add_waiter(struct emu_inquest *inquest, size_t place, uint32_t waiter, uint32_t awaited,
                       const struct emu_call_view *call)
{
    struct emu_finding *finding = emu_inquest_at(inquest, place);
    if (!finding || has_wait(finding, waiter))
        return;
    struct emu_text text = {0};
    emu_rank_text(&text, inquest->roster->mesh, waiter);
    emu_text_printf(&text, " waited for rank %u in ", (unsigned)awaited);
    emu_call_text(&text, call);
    emu_finding_consequence(finding, "%s", emu_text_get(&text));
    emu_text_finish(&text);
}

/* A rank ended with 0, and others wait for it: it left before its body returned, or without the
 * call. */
static size_t accuse_leaver(struct emu_inquest *inquest, const struct emu_scene *scene,
                            const struct emu_incident *incident,
                            const struct emu_member_view *members)
{
    if (scene->ranks[incident->rank].board.state != EMU_BOARD_ENDED)
        return emu_liveness_gone(scene, incident->rank, &inquest->findings);
    return emu_protocol_missing(scene, incident, members, &inquest->findings);
}

/* The call of a rank that broke and whose case belongs to this finding; NULL: none. */
static const struct emu_call_view *broken_call(const struct emu_inquest *inquest,
                                               const struct emu_scene *scene, uint32_t rank,
                                               size_t place)
{
    const struct emu_rank_seen *seen = &scene->ranks[rank];
    for (uint32_t i = seen->call_count; i > 0; i--) {
        const struct emu_recorded_call *call = &seen->calls[i - 1];
        for (uint32_t c = 0; c < inquest->case_count; c++)
            if (call->status == EMU_EPEER && call->ended_ns > 0 &&
                inquest->cases[c].finding == place && inquest->cases[c].group == call->call.group &&
                inquest->cases[c].index == call->call.index)
                return &call->call;
    }
    return NULL;
}

static void say_wrong_group(struct emu_inquest *inquest, const struct emu_scene *scene,
                            const struct emu_wrong_group *wrong, size_t place)
{
    struct emu_finding *finding = emu_inquest_at(inquest, place);
    if (finding && finding->class_id == EMU_CLASS_MISSING_PARTICIPANT)
        emu_group_mismatch_say(scene, wrong, finding);
}

/* Somebody ended without a call. Was it asked for by one who belongs elsewhere? Either the others
 * wait elsewhere already (first), or they turn up after the odd one has given up (later). */
static void look_for_wrong_group(struct emu_inquest *inquest, const struct emu_scene *scene,
                                 const struct emu_group *group,
                                 const struct emu_member_view *members, size_t place)
{
    struct emu_wrong_group wrong;
    for (uint32_t i = 0; i < group->size; i++)
        if (members[i].has_call &&
            emu_group_mismatch_find(scene, members[i].rank, &members[i].call, &wrong)) {
            say_wrong_group(inquest, scene, &wrong, place);
            return;
        }
}

static void look_back_for_wrong_group(struct emu_inquest *inquest, const struct emu_scene *scene,
                                      uint32_t failed, const struct emu_group *group,
                                      const struct emu_member_view *members)
{
    size_t place = inquest->cause[failed];
    const struct emu_call_view *made = broken_call(inquest, scene, failed, place);
    for (uint32_t i = 0; made && i < group->size; i++) {
        if (!members[i].has_call || members[i].rank == failed)
            continue;
        struct emu_wrong_group wrong = {failed, members[i].rank, *made, members[i].call};
        if (emu_group_mismatch_fits(scene, &wrong)) {
            say_wrong_group(inquest, scene, &wrong, place);
            return;
        }
    }
}

static void blame_culprits(struct emu_inquest *inquest, size_t place)
{
    const struct emu_finding *finding = emu_inquest_at(inquest, place);
    for (size_t c = 0; finding && c < finding->culprit_count; c++)
        emu_inquest_blame(inquest, finding->culprits[c], place);
}

static void peer_incident(struct emu_inquest *inquest, const struct emu_scene *scene,
                          const struct emu_incident *incident,
                          const struct emu_member_view *members)
{
    uint32_t failed = incident->rank;
    size_t place = inquest->cause[failed];
    if (place == EMU_NO_FINDING &&
        (inquest->interrupted || scene->ranks[failed].fate == EMU_FATE_ENDED))
        return;
    struct emu_group group = emu_roster_group(inquest->roster, incident->group);
    if (place != EMU_NO_FINDING) {
        look_back_for_wrong_group(inquest, scene, failed, &group, members);
    } else {
        place = emu_inquest_count(inquest, accuse_leaver(inquest, scene, incident, members));
        blame_culprits(inquest, place);
        look_for_wrong_group(inquest, scene, &group, members, place);
    }
    open_case(inquest, incident, place);
    emu_inquest_blame(inquest, failed, place);
    for (uint32_t i = 0; i < group.size; i++) {
        uint32_t rank = members[i].rank;
        if (!members[i].has_call || rank == failed)
            continue;
        add_waiter(inquest, place, rank, failed, &members[i].call);
        emu_inquest_blame(inquest, rank, place);
    }
}

static void mismatch_incident(struct emu_inquest *inquest, const struct emu_scene *scene,
                              const struct emu_incident *incident,
                              const struct emu_member_view *members)
{
    size_t first = emu_inquest_count(
        inquest, emu_protocol_mismatch(scene, incident, members, &inquest->findings));
    open_case(inquest, incident, first);
    for (size_t place = first; place < inquest->findings.count; place++) {
        const struct emu_finding *finding = &inquest->findings.items[place];
        for (size_t i = 0; i < finding->culprit_count; i++)
            emu_inquest_blame(inquest, finding->culprits[i], place);
    }
    struct emu_group group = emu_roster_group(inquest->roster, incident->group);
    for (uint32_t i = 0; i < group.size; i++)
        emu_inquest_blame(inquest, members[i].rank, first);
}

/* A rank has ended and another waits for it: for what it has sent with another tag, or for nothing.
 */
size_t emu_inquest_message(struct emu_inquest *inquest, const struct emu_scene *scene,
                           uint32_t waiting, const struct emu_call_view *call)
{
    const struct emu_posted *sent =
        call->kind == EMU_RECV ? emu_protocol_other_tag(scene, waiting, call, false) : NULL;
    size_t place = sent ? emu_protocol_tags(scene, waiting, call, sent, &inquest->findings)
                        : emu_protocol_message(scene, waiting, call, &inquest->findings);
    return emu_inquest_count(inquest, place);
}

/* A rank is gone while another waits for it in a send or receive. */
static void lone_peer(struct emu_inquest *inquest, const struct emu_scene *scene,
                      const struct emu_incident *incident)
{
    uint32_t waiting = incident->caller;
    size_t place = inquest->cause[incident->rank];
    if (waiting >= inquest->roster->mesh->world) {
        emu_inquest_internal(inquest, "a broken message was recorded with an unknown rank");
        return;
    }
    if (place != EMU_NO_FINDING) {
        add_waiter(inquest, place, waiting, incident->rank, &incident->call);
    } else if (scene->ranks[incident->rank].fate == EMU_FATE_EXITED) {
        place = emu_inquest_message(inquest, scene, waiting, &incident->call);
        emu_inquest_blame(inquest, incident->rank, place);
    }
    emu_inquest_blame(inquest, waiting, place);
}

/* Findings about one rank or two, none about a group. */
static void lone_incident(struct emu_inquest *inquest, const struct emu_scene *scene,
                          const struct emu_incident *incident)
{
    if (incident->cause == EMU_INCIDENT_PEER) {
        lone_peer(inquest, scene, incident);
        return;
    }
    bool message = incident->cause == EMU_INCIDENT_MESSAGE;
    size_t place = message ? emu_protocol_unfit(scene, incident, &inquest->findings)
                           : emu_protocol_refused(scene, incident, &inquest->findings);
    emu_inquest_blame(inquest, incident->rank, emu_inquest_count(inquest, place));
    if (message && incident->call.peer < inquest->roster->mesh->world)
        emu_inquest_blame(inquest, incident->call.peer, place);
}

/* The call went on to its end on all members; each of them may end because of it. */
static void corrupt_incident(struct emu_inquest *inquest, const struct emu_scene *scene,
                             const struct emu_incident *incident)
{
    size_t place =
        emu_inquest_count(inquest, emu_protocol_corrupt(scene, incident, &inquest->findings));
    open_case(inquest, incident, place);
    struct emu_group group = emu_roster_group(inquest->roster, incident->group);
    for (uint32_t i = 0; i < group.size; i++)
        emu_inquest_blame(inquest, emu_group_member(&group, i), place);
}

void emu_inquest_incident(struct emu_inquest *inquest, const struct emu_scene *scene,
                          const struct emu_incident *incident,
                          const struct emu_member_view *members)
{
    bool grouped = incident->cause == EMU_INCIDENT_MISMATCH ||
                   incident->cause == EMU_INCIDENT_PEER || incident->cause == EMU_INCIDENT_CORRUPT;
    if (incident->rank >= inquest->roster->mesh->world)
        emu_inquest_internal(inquest, "a broken call was recorded with an unknown rank");
    else if (!grouped || incident->group == EMU_GROUP_SELF)
        lone_incident(inquest, scene, incident);
    else if (incident->group >= inquest->roster->group_count || !members)
        emu_inquest_internal(inquest, "a broken call was recorded with an unknown group");
    else if (emu_inquest_knows(inquest, incident->group, incident->index))
        return;
    else if (incident->cause == EMU_INCIDENT_MISMATCH)
        mismatch_incident(inquest, scene, incident, members);
    else if (incident->cause == EMU_INCIDENT_CORRUPT)
        corrupt_incident(inquest, scene, incident);
    else
        peer_incident(inquest, scene, incident, members);
}
