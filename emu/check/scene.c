#include "check/scene.h"

#include "check/call_words.h"
#include "check/finding_build.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LAST_CALLS 4 /* that a finding tells of the odd rank */

bool emu_fate_is_gone(enum emu_fate fate)
{
    return fate != EMU_FATE_ALIVE && fate != EMU_FATE_STOPPED;
}

bool emu_board_in_call(const struct emu_board_view *board)
{
    if (board->state == EMU_BOARD_WAITING)
        return board->wait != EMU_WAIT_GATE && board->calls > 0;
    return board->state == EMU_BOARD_RUNNING && board->phase != EMU_PHASE_NONE && board->calls > 0;
}

bool emu_board_inside_call(const struct emu_board_view *board)
{
    bool begun = board->phase == EMU_PHASE_NONE || board->phase == EMU_PHASE_BEFORE;
    return emu_board_in_call(board) && (board->state == EMU_BOARD_WAITING || !begun);
}

const struct emu_call_view *emu_scene_call(const struct emu_scene *scene, uint32_t rank)
{
    const struct emu_rank_seen *seen = &scene->ranks[rank];
    return seen->board.calls > 0 ? &seen->board.call : NULL;
}

bool emu_scene_group_calls(const struct emu_scene *scene, uint32_t rank, uint32_t group,
                           uint64_t *count)
{
    const struct emu_rank_seen *seen = &scene->ranks[rank];
    uint64_t most = 0;
    bool found = false;
    for (uint32_t i = 0; i < seen->call_count; i++) {
        const struct emu_call_view *call = &seen->calls[i].call;
        if (emu_kind_is_message(call->kind) || call->group != group)
            continue;
        found = true;
        most = call->index + 1 > most ? call->index + 1 : most;
    }
    *count = most;
    return found || seen->board.calls <= seen->call_count;
}

void emu_signal_text(struct emu_text *out, int signal)
{
    const char *name = sigabbrev_np(signal);
    if (name)
        emu_text_printf(out, "SIG%s", name);
    else
        emu_text_printf(out, "signal %d", signal);
}

void emu_call_text(struct emu_text *out, const struct emu_call_view *call)
{
    const char *kind = emu_kind_name(call->kind);
    if (emu_kind_is_message(call->kind))
        emu_text_printf(out, "%s #%" PRIu64 " %s rank %" PRIu32 " with tag %" PRId32, kind,
                        call->index, call->kind == EMU_SEND ? "to" : "from", call->peer, call->tag);
    else if (call->group == EMU_GROUP_SELF)
        emu_text_printf(out, "%s over itself", kind);
    else
        emu_text_printf(out, "%s over %s #%" PRIu64, kind,
                        call->group_name[0] ? call->group_name : "?", call->index);
    if (call->label[0])
        emu_text_printf(out, " '%s'", call->label);
}

static size_t end_of_range(const uint32_t *ranks, size_t count, size_t first)
{
    size_t last = first;
    while (last + 1 < count && ranks[last + 1] == ranks[last] + 1)
        last++;
    return last;
}

void emu_ranges_text(struct emu_text *out, const uint32_t *ranks, size_t count, size_t most)
{
    size_t shown = 0;
    for (size_t i = 0, last; i < count; i = last + 1) {
        if (shown++ == most) {
            emu_text_puts(out, ", ...");
            return;
        }
        last = end_of_range(ranks, count, i);
        emu_text_printf(out, "%s%" PRIu32, i ? ", " : "", ranks[i]);
        if (last > i)
            emu_text_printf(out, "%s%" PRIu32, last > i + 1 ? "-" : ", ", ranks[last]);
    }
}

void emu_ranks_text(struct emu_text *out, const uint32_t *ranks, size_t count)
{
    emu_text_puts(out, count == 1 ? "rank " : "ranks ");
    emu_ranges_text(out, ranks, count, SIZE_MAX);
}

void emu_ranks_text_short(struct emu_text *out, const uint32_t *ranks, size_t count)
{
    size_t ranges = 0;
    for (size_t i = 0; i < count; i = end_of_range(ranks, count, i) + 1)
        ranges++;
    if (ranges <= EMU_RANGES_SHOWN) {
        emu_ranks_text(out, ranks, count);
        return;
    }
    emu_text_printf(out, "%zu ranks (", count);
    emu_ranges_text(out, ranks, count, EMU_RANGES_SHOWN);
    emu_text_puts(out, ")");
}

/* What the process is, where that says all; false: the board tells. */
static bool fate_text(struct emu_text *out, const struct emu_rank_seen *seen)
{
    switch (seen->fate) {
    case EMU_FATE_EXITED:
        if (seen->code == 0 && seen->board.state == EMU_BOARD_ENDED)
            emu_text_puts(out, "ended");
        else
            emu_text_printf(out, "exited %d", seen->code);
        return true;
    case EMU_FATE_KILLED:
        emu_text_puts(out, "killed by ");
        emu_signal_text(out, seen->code);
        return true;
    case EMU_FATE_ENDED:
        emu_text_puts(out, "ended by the launcher");
        return true;
    case EMU_FATE_LOST:
        emu_text_puts(out, "gone");
        return true;
    case EMU_FATE_STOPPED:
        emu_text_puts(out, "stopped, ");
        return false;
    case EMU_FATE_ALIVE:
        break;
    }
    return false;
}

static bool same_call(const struct emu_call_view *a, const struct emu_call_view *b)
{
    return !emu_kind_is_message(a->kind) && !emu_kind_is_message(b->kind) && a->group == b->group &&
           a->index == b->index;
}

static void board_text(struct emu_text *out, const struct emu_board_view *board,
                       const struct emu_call_view *here)
{
    if (emu_board_in_call(board)) {
        if (here && same_call(&board->call, here)) {
            emu_text_puts(out, "in this call");
            return;
        }
        emu_text_puts(out, here ? "in another call: " : "in ");
        emu_call_text(out, &board->call);
    } else if (board->state == EMU_BOARD_WAITING) {
        emu_text_printf(out, "at the end of step %" PRIu64, board->step);
    } else if (board->state == EMU_BOARD_STARTING) {
        emu_text_puts(out, "starting");
    } else {
        emu_text_puts(out, board->state == EMU_BOARD_ENDED ? "ended" : "in user code");
    }
}

struct emu_state_text emu_scene_state(const struct emu_scene *scene, uint32_t rank,
                                      const struct emu_call_view *here)
{
    struct emu_state_text state;
    struct emu_text text = {0};
    const struct emu_rank_seen *seen = &scene->ranks[rank];
    if (!fate_text(&text, seen))
        board_text(&text, &seen->board, here);
    snprintf(state.text, sizeof state.text, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    return state;
}

void emu_place_text(struct emu_text *out, const struct emu_board_view *board)
{
    if (board->step > 0)
        emu_text_printf(out, " in step %" PRIu64 ",", board->step);
    if (emu_board_in_call(board)) {
        emu_text_printf(out, " in its call %" PRIu64 ": ", board->calls);
        emu_call_text(out, &board->call);
        if (board->phase != EMU_PHASE_NONE)
            emu_text_printf(out, " (%s)", emu_phase_name(board->phase));
        return;
    }
    if (board->state == EMU_BOARD_STARTING)
        emu_text_puts(out, " before its body began");
    else if (board->state == EMU_BOARD_ENDED)
        emu_text_puts(out, " after its body had returned");
    else if (board->state == EMU_BOARD_WAITING)
        emu_text_puts(out, " at the end of the step");
    else
        emu_text_puts(out, " in its own code");
    emu_text_printf(out, " after %" PRIu64 " calls", board->calls);
    if (board->calls > 0) {
        emu_text_puts(out, ", the last one ");
        emu_call_text(out, &board->call);
    }
}

void emu_busy_text(struct emu_text *out, const struct emu_board_view *board)
{
    if (!emu_board_inside_call(board)) {
        emu_text_puts(out, "in its own code");
        return;
    }
    emu_text_puts(out, "inside ");
    emu_call_text(out, &board->call);
    if (board->phase != EMU_PHASE_NONE)
        emu_text_printf(out, " (%s)", emu_phase_name(board->phase));
}

void emu_scene_explain(const struct emu_scene *scene, uint32_t rank, struct emu_finding *finding)
{
    const struct emu_rank_seen *seen = &scene->ranks[rank];
    if (seen->call_count == 0)
        return;
    struct emu_text text = {0};
    if (finding->explanation)
        emu_text_printf(&text, "%s; ", finding->explanation);
    emu_text_printf(&text, "last calls of rank %" PRIu32 ": ", rank);
    uint32_t first = seen->call_count > LAST_CALLS ? seen->call_count - LAST_CALLS : 0;
    for (uint32_t i = first; i < seen->call_count; i++) {
        if (i > first)
            emu_text_puts(&text, ", ");
        emu_call_text(&text, &seen->calls[i].call);
        if (seen->calls[i].ended_ns && seen->calls[i].status != EMU_OK)
            emu_text_printf(&text, " (%s)", emu_status_name(seen->calls[i].status));
    }
    emu_finding_set_text(&finding->explanation, "%s", emu_text_get(&text));
    emu_text_finish(&text);
}

void emu_scene_members(const struct emu_scene *scene, struct emu_finding *finding,
                       const struct emu_call_view *here)
{
    uint32_t world = scene->roster->mesh->world;
    size_t count = finding->group ? finding->group_size : world;
    for (size_t i = 0; i < count; i++) {
        uint32_t rank = finding->group ? finding->group[i] : (uint32_t)i;
        if (rank < world)
            emu_finding_member(finding, rank, emu_scene_state(scene, rank, here).text,
                               emu_scene_call(scene, rank));
    }
}
