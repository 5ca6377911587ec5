#include "check/call_words.h"
#include "check/finding_build.h"
#include "check/inquest_parts.h"
#include "check/liveness.h"
#include "check/protocol.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum emu_status emu_inquest_init(struct emu_inquest *inquest, const struct emu_roster *roster)
{
    uint32_t world = roster->mesh->world;
    *inquest = (struct emu_inquest){
        .roster = roster, .latest = EMU_NO_FINDING, .ending_for = EMU_NO_FINDING};
    inquest->cause = malloc(world * sizeof *inquest->cause);
    inquest->ended = malloc(world * sizeof *inquest->ended);
    if (!inquest->cause || !inquest->ended) {
        emu_inquest_finish(inquest);
        return EMU_ENOMEM;
    }
    for (uint32_t rank = 0; rank < world; rank++)
        inquest->cause[rank] = EMU_NO_FINDING;
    return EMU_OK;
}

void emu_inquest_finish(struct emu_inquest *inquest)
{
    free(inquest->cause);
    free(inquest->ended);
    emu_findings_finish(&inquest->findings);
    *inquest = (struct emu_inquest){0};
}

struct emu_finding *emu_inquest_at(struct emu_inquest *inquest, size_t place)
{
    return place < inquest->findings.count ? &inquest->findings.items[place] : NULL;
}

void emu_inquest_blame(struct emu_inquest *inquest, uint32_t rank, size_t place)
{
    if (inquest->cause[rank] == EMU_NO_FINDING)
        inquest->cause[rank] = place;
}

size_t emu_inquest_count(struct emu_inquest *inquest, size_t place)
{
    inquest->lost += place == EMU_NO_FINDING;
    return place;
}

bool emu_inquest_knows(const struct emu_inquest *inquest, uint32_t group, uint64_t index)
{
    for (uint32_t i = 0; i < inquest->case_count; i++)
        if (inquest->cases[i].group == group && inquest->cases[i].index == index)
            return true;
    return false;
}

/* The first broken call of this group. */
static size_t case_of_group(const struct emu_inquest *inquest, uint32_t group)
{
    for (uint32_t i = 0; i < inquest->case_count; i++)
        if (inquest->cases[i].group == group)
            return inquest->cases[i].finding;
    return EMU_NO_FINDING;
}

/* The last call of a rank that was answered with an error; NULL: none. */
static const struct emu_recorded_call *last_refused(const struct emu_rank_seen *seen)
{
    for (uint32_t i = seen->call_count; i > 0; i--)
        if (seen->calls[i - 1].ended_ns > 0 && seen->calls[i - 1].status != EMU_OK)
            return &seen->calls[i - 1];
    return NULL;
}

/* A rank left after a message call failed: is its peer's end known, or the cause itself? */
static size_t cause_of_message(struct emu_inquest *inquest, const struct emu_scene *scene,
                               uint32_t rank, const struct emu_call_view *call)
{
    if (call->peer >= inquest->roster->mesh->world)
        return EMU_NO_FINDING;
    const struct emu_rank_seen *peer = &scene->ranks[call->peer];
    if (inquest->cause[call->peer] != EMU_NO_FINDING)
        return inquest->cause[call->peer];
    if (peer->fate != EMU_FATE_EXITED || peer->code != 0)
        return EMU_NO_FINDING;
    size_t place = emu_inquest_message(inquest, scene, rank, call);
    emu_inquest_blame(inquest, call->peer, place);
    return place;
}

/* Why did this rank fail, if not by itself? */
static size_t cause_of(struct emu_inquest *inquest, const struct emu_scene *scene, uint32_t rank)
{
    if (inquest->cause[rank] != EMU_NO_FINDING)
        return inquest->cause[rank];
    const struct emu_recorded_call *refused = last_refused(&scene->ranks[rank]);
    size_t place = EMU_NO_FINDING;
    if (refused && refused->status == EMU_EPEER && emu_kind_is_message(refused->call.kind))
        place = cause_of_message(inquest, scene, rank, &refused->call);
    else if (refused && !emu_kind_is_message(refused->call.kind))
        place = case_of_group(inquest, refused->call.group);
    if (place == EMU_NO_FINDING && inquest->ending)
        place = inquest->ending_for;
    return place;
}

/* "rank 2 (dp=1,tp=0) exited 1 after barrier over world #3 was answered EMU_EPEER". */
static void add_leaver(struct emu_inquest *inquest, const struct emu_scene *scene, uint32_t rank,
                       size_t place)
{
    struct emu_finding *finding = emu_inquest_at(inquest, place);
    if (!finding)
        return;
    const struct emu_recorded_call *refused = last_refused(&scene->ranks[rank]);
    struct emu_text text = {0};
    emu_rank_text(&text, inquest->roster->mesh, rank);
    emu_text_printf(&text, " %s", emu_scene_state(scene, rank, NULL).text);
    if (refused) {
        emu_text_puts(&text, " after ");
        emu_call_text(&text, &refused->call);
        emu_text_printf(&text, " was answered %s", emu_status_name(refused->status));
    } else if (inquest->ending) {
        emu_text_puts(&text, " when the run was ended");
    }
    emu_finding_consequence(finding, "%s", emu_text_get(&text));
    emu_text_finish(&text);
}

/* A rank that ended with 0 may be missing in a call for which another one was named already. */
static void join_missing(struct emu_inquest *inquest, const struct emu_scene *scene, uint32_t rank)
{
    for (uint32_t i = 0; i < inquest->case_count; i++) {
        const struct emu_inquest_case *open = &inquest->cases[i];
        struct emu_finding *finding = emu_inquest_at(inquest, open->finding);
        struct emu_group group = emu_roster_group(inquest->roster, open->group);
        uint64_t calls;
        if (!finding || finding->class_id != EMU_CLASS_MISSING_PARTICIPANT ||
            !emu_group_contains(&group, rank) ||
            !emu_scene_group_calls(scene, rank, open->group, &calls) || calls > open->index)
            continue;
        emu_finding_culprit(finding, rank);
        emu_inquest_blame(inquest, rank, open->finding);
    }
}

static bool left_by_itself(const struct emu_inquest *inquest, const struct emu_rank_seen *seen)
{
    if (seen->fate == EMU_FATE_KILLED && seen->code != SIGABRT)
        return !inquest->interrupted || (seen->code != SIGINT && seen->code != SIGTERM &&
                                         seen->code != SIGHUP && seen->code != SIGKILL);
    return false;
}

/* Ended with 0, and not in the middle of a call. */
static bool left_in_peace(const struct emu_rank_seen *seen)
{
    return seen->fate == EMU_FATE_EXITED && seen->code == 0 && !emu_board_in_call(&seen->board);
}

bool emu_inquest_wants_scene(const struct emu_inquest *inquest, const struct emu_scene *scene,
                             uint32_t rank)
{
    const struct emu_rank_seen *seen = &scene->ranks[rank];
    if (seen->fate == EMU_FATE_ENDED || left_in_peace(seen))
        return false;
    if (left_by_itself(inquest, seen) || seen->fate == EMU_FATE_LOST)
        return true;
    if (inquest->interrupted || inquest->cause[rank] != EMU_NO_FINDING)
        return false;
    const struct emu_recorded_call *refused = last_refused(seen);
    if (refused && refused->status == EMU_EPEER && emu_kind_is_message(refused->call.kind))
        return true;
    if (inquest->ending && inquest->ending_for != EMU_NO_FINDING)
        return false;
    return !refused || emu_kind_is_message(refused->call.kind) ||
           case_of_group(inquest, refused->call.group) == EMU_NO_FINDING;
}

bool emu_inquest_gone(struct emu_inquest *inquest, const struct emu_scene *scene, uint32_t rank)
{
    const struct emu_rank_seen *seen = &scene->ranks[rank];
    if (seen->fate == EMU_FATE_ENDED) {
        inquest->ended[inquest->ended_count++] = rank;
        return false;
    }
    if (left_in_peace(seen)) {
        if (inquest->ending)
            emu_inquest_blame(inquest, rank, inquest->ending_for);
        else if (inquest->cause[rank] == EMU_NO_FINDING)
            join_missing(inquest, scene, rank);
        return false;
    }
    if (inquest->interrupted && !left_by_itself(inquest, seen))
        return true;
    size_t place = EMU_NO_FINDING;
    if (!left_by_itself(inquest, seen) && seen->fate != EMU_FATE_LOST)
        place = cause_of(inquest, scene, rank);
    if (place != EMU_NO_FINDING) {
        add_leaver(inquest, scene, rank, place);
        emu_inquest_blame(inquest, rank, place);
        inquest->latest = place;
        return true;
    }
    place = emu_inquest_count(inquest, emu_liveness_gone(scene, rank, &inquest->findings));
    inquest->cause[rank] = place;
    inquest->latest = place;
    return true;
}

void emu_inquest_stall(struct emu_inquest *inquest, const struct emu_scene *scene,
                       uint64_t timeout_ns)
{
    inquest->latest =
        emu_inquest_count(inquest, emu_liveness_stall(scene, timeout_ns, &inquest->findings));
}

void emu_inquest_ending(struct emu_inquest *inquest, bool interrupted)
{
    inquest->interrupted |= interrupted;
    if (inquest->ending)
        return;
    inquest->ending = true;
    if (!interrupted)
        inquest->ending_for = inquest->latest;
}

void emu_inquest_internal(struct emu_inquest *inquest, const char *what)
{
    struct emu_finding *finding = emu_findings_add(&inquest->findings, EMU_CLASS_INTERNAL);
    if (finding)
        emu_finding_message(finding, "a defect of meshemu itself: %s", what);
    inquest->lost += !finding;
}

static int compare_ranks(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* One sentence for the ranks that were ended because of this finding. */
static void tell_ended(struct emu_inquest *inquest, size_t place, uint32_t *ranks)
{
    uint32_t count = 0;
    struct emu_finding *finding = emu_inquest_at(inquest, place);
    for (uint32_t i = 0; i < inquest->ended_count; i++) {
        uint32_t rank = inquest->ended[i];
        size_t own = inquest->ending ? inquest->ending_for : inquest->cause[rank];
        if (own == place)
            ranks[count++] = rank;
    }
    if (!finding || count == 0)
        return;
    struct emu_text text = {0};
    emu_ranks_text_short(&text, ranks, count);
    emu_finding_consequence(finding, "%s %s ended by the launcher", emu_text_get(&text),
                            count == 1 ? "was" : "were");
    emu_text_finish(&text);
}

void emu_inquest_close(struct emu_inquest *inquest)
{
    if (inquest->ended_count == 0)
        return;
    uint32_t *ranks = malloc(inquest->ended_count * sizeof *ranks);
    qsort(inquest->ended, inquest->ended_count, sizeof *inquest->ended, compare_ranks);
    for (size_t place = 0; ranks && place < inquest->findings.count; place++)
        tell_ended(inquest, place, ranks);
    free(ranks);
}
