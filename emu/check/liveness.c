#include "check/liveness.h"

#include "check/call_words.h"
#include "check/finding_build.h"
#include "check/finding_values.h"

#include <inttypes.h>

static enum emu_class class_of(const struct emu_rank_seen *seen)
{
    switch (seen->fate) {
    case EMU_FATE_KILLED:
        return EMU_CLASS_CRASH;
    case EMU_FATE_EXITED:
        return EMU_CLASS_EARLY_EXIT;
    default:
        return EMU_CLASS_INTERNAL;
    }
}

static void say_how(struct emu_text *text, const struct emu_rank_seen *seen)
{
    if (seen->fate == EMU_FATE_KILLED) {
        emu_text_puts(text, " was killed by ");
        emu_signal_text(text, seen->code);
    } else if (seen->fate == EMU_FATE_EXITED) {
        emu_text_printf(text, " exited %d", seen->code);
    } else {
        emu_text_puts(text,
                      " has gone and its exit status was taken by another part of this program "
                      "(a handler of SIGCHLD, or a wait for any child);");
    }
}

/* The group of the call a rank is in, if it is one of the roster's. */
static const struct emu_call_view *group_call(const struct emu_scene *scene, uint32_t rank)
{
    const struct emu_board_view *board = &scene->ranks[rank].board;
    if (!emu_board_in_call(board) || emu_kind_is_message(board->call.kind) ||
        board->call.group >= scene->roster->group_count)
        return NULL;
    return &board->call;
}

size_t emu_liveness_gone(const struct emu_scene *scene, uint32_t rank,
                         struct emu_findings *findings)
{
    const struct emu_rank_seen *seen = &scene->ranks[rank];
    struct emu_finding *finding = emu_findings_add(findings, class_of(seen));
    if (!finding)
        return EMU_NO_FINDING;
    const struct emu_call_view *call = group_call(scene, rank);
    struct emu_text text = {0};
    emu_rank_text(&text, scene->roster->mesh, rank);
    say_how(&text, seen);
    emu_place_text(&text, &seen->board);
    emu_finding_message(finding, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    emu_finding_culprit(finding, rank);
    if (call) {
        emu_finding_group(finding, scene->roster, call->group);
        emu_finding_index(finding, call->index);
    }
    emu_scene_members(scene, finding, call);
    emu_scene_explain(scene, rank, finding);
    finding->after_ns = (int64_t)(scene->now_ns - scene->event_ns);
    return findings->count - 1;
}

/* Alive and waiting for nobody. */
static bool holds_up(const struct emu_rank_seen *seen)
{
    if (emu_fate_is_gone(seen->fate) || seen->board.state == EMU_BOARD_ENDED)
        return false;
    return seen->fate == EMU_FATE_STOPPED || seen->stuck ||
           (seen->board.state != EMU_BOARD_WAITING && !seen->board.asleep);
}

/* Name the culprits; returns since when the first of them has been busy. */
static uint64_t accuse(const struct emu_scene *scene, struct emu_finding *finding)
{
    uint64_t since = scene->now_ns;
    for (uint32_t rank = 0; rank < scene->roster->mesh->world; rank++) {
        const struct emu_rank_seen *seen = &scene->ranks[rank];
        if (!holds_up(seen))
            continue;
        emu_finding_culprit(finding, rank);
        emu_scene_explain(scene, rank, finding);
        if (seen->board.since_ns > 0 && seen->board.since_ns < since)
            since = seen->board.since_ns;
    }
    return since;
}

size_t emu_liveness_stall(const struct emu_scene *scene, uint64_t timeout_ns,
                          struct emu_findings *findings)
{
    struct emu_finding *finding = emu_findings_add(findings, EMU_CLASS_STALL);
    if (!finding)
        return EMU_NO_FINDING;
    uint64_t since = accuse(scene, finding);
    struct emu_text text = {0};
    emu_text_puts(&text, "the run had not ended after ");
    emu_delay_text(timeout_ns, &text);
    emu_text_puts(&text, ": ");
    if (finding->culprit_count > 0) {
        emu_ranks_text(&text, finding->culprits, finding->culprit_count);
        emu_text_puts(&text, finding->culprit_count == 1 ? " was" : " were");
        emu_text_puts(&text, " not waiting for others");
        finding->after_ns = (int64_t)(scene->now_ns - since);
    } else {
        emu_text_puts(&text, "every rank that is left waits for others");
        finding->undecided = true;
        finding->after_ns = (int64_t)(scene->now_ns - scene->event_ns);
    }
    emu_finding_message(finding, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    emu_scene_members(scene, finding, NULL);
    return findings->count - 1;
}
