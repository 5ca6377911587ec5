#include "check/script_replay.h"

#include "check/finding_build.h"
#include "check/script_rules.h"

#include <stdlib.h>
#include <string.h>

/* Until it waits or ends. true: it got anywhere. */
static bool advance(struct emu_replay *replay, uint32_t rank)
{
    struct emu_replay_rank *one = &replay->ranks[rank];
    bool moved = false;
    while (!one->ended && replay->steps < EMU_REPLAY_MAX_STEPS &&
           !emu_replay_waits_for(replay, rank)) {
        const struct emu_script_op *op = emu_script_walk_next(&one->walk);
        moved = true;
        replay->steps++;
        one->waiting = NULL;
        if (!op || op->kind == EMU_SCRIPT_EXIT)
            one->ended = true;
        else if (op->kind == EMU_SCRIPT_WAIT)
            one->waiting = op;
        else if (emu_script_op_is_call(op))
            emu_replay_start(replay, rank, op,
                             op->handle == EMU_SCRIPT_NO_HANDLE ? &one->now
                                                                : &one->open[op->handle]);
    }
    return moved;
}

static void advance_all(struct emu_replay *replay)
{
    bool moved = true;
    while (moved && !replay->no_memory && replay->steps < EMU_REPLAY_MAX_STEPS) {
        moved = false;
        for (uint32_t rank = 0; rank < replay->script->mesh.world; rank++)
            moved = advance(replay, rank) || moved;
    }
}

static bool awaits_any(struct emu_replay *replay, uint32_t rank, const bool *among)
{
    const struct emu_replay_want *want = emu_replay_waits_for(replay, rank);
    for (uint32_t other = 0; want && other < replay->script->mesh.world; other++)
        if (among[other] && emu_replay_awaits(replay, want, other))
            return true;
    return false;
}

static bool awaited_by_any(struct emu_replay *replay, uint32_t rank, const bool *among)
{
    for (uint32_t other = 0; other < replay->script->mesh.world; other++) {
        const struct emu_replay_want *want =
            among[other] ? emu_replay_waits_for(replay, other) : NULL;
        if (want && emu_replay_awaits(replay, want, rank))
            return true;
    }
    return false;
}

/* Leave those that wait for one another: who awaits nobody of them, or is awaited by nobody, is in
 * no circle. Returns how many are left. */
static uint32_t find_circle(struct emu_replay *replay, bool *circle)
{
    uint32_t world = replay->script->mesh.world, left = 0;
    for (uint32_t rank = 0; rank < world; rank++) {
        circle[rank] = !replay->ranks[rank].ended;
        left += circle[rank];
    }
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t rank = 0; rank < world; rank++) {
            if (!circle[rank] ||
                (awaits_any(replay, rank, circle) && awaited_by_any(replay, rank, circle)))
                continue;
            circle[rank] = false;
            changed = true;
            left--;
        }
    }
    return left;
}

static struct emu_call_view view_of(const struct emu_replay *replay,
                                    const struct emu_replay_want *want)
{
    const struct emu_script *script = replay->script;
    const struct emu_script_op *op = want->op;
    struct emu_call_view view = {.kind = want->kind,
                                 .group = want->group,
                                 .index = want->index,
                                 .count = (uint64_t)op->count,
                                 .dtype = op->dtype,
                                 .op = op->op,
                                 .root = (uint32_t)op->root,
                                 .peer = want->peer,
                                 .tag = (int32_t)op->tag,
                                 .line = op->line};
    if (op->kind == EMU_SCRIPT_COLLECTIVE)
        strncpy(view.group_name, script->roster.families[op->family].name,
                sizeof view.group_name - 1);
    size_t size = strlen(script->name), room = sizeof view.file - 1;
    strncpy(view.file, script->name + (size > room ? size - room : 0), room);
    return view;
}

static void add_edge(struct emu_replay *replay, struct emu_finding *finding, uint32_t rank,
                     uint32_t *targets)
{
    const struct emu_replay_want *want = emu_replay_waits_for(replay, rank);
    struct emu_wait_view wait = {.rank = rank,
                                 .targets = targets,
                                 .group = want->group,
                                 .index = want->index,
                                 .kind = want->kind};
    for (uint32_t other = 0; other < replay->script->mesh.world; other++)
        if (emu_replay_awaits(replay, want, other))
            targets[wait.target_count++] = other;
    emu_finding_wait(finding, &wait);
    struct emu_call_view view = view_of(replay, want);
    emu_finding_member(finding, rank, "would wait here", &view);
}

/* Ranks as "0, 1 and 2". */
static void add_names(struct emu_text *text, const uint32_t *ranks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        emu_text_printf(text, "%s%u", i == 0 ? "" : i + 1 == count ? " and " : ", ", ranks[i]);
}

static enum emu_status add_note(struct emu_replay *replay, const bool *circle, uint32_t count,
                                struct emu_findings *findings)
{
    uint32_t world = replay->script->mesh.world;
    uint32_t *ranks = malloc(2 * (size_t)world * sizeof *ranks);
    struct emu_finding *note =
        ranks ? emu_findings_add(findings, EMU_CLASS_UNSAFE_BUFFERING) : NULL;
    if (!note) {
        free(ranks);
        return EMU_ENOMEM;
    }
    struct emu_text names = {0};
    note->note = true;
    note->undecided = true; /* a circle has no culprit */
    for (uint32_t rank = 0, n = 0; rank < world; rank++)
        if (circle[rank]) {
            ranks[n++] = rank;
            add_edge(replay, note, rank, ranks + world);
        }
    add_names(&names, ranks, count);
    emu_finding_ranks(note, ranks, count);
    emu_finding_message(note,
                        "the run got through because sends were buffered: under strict rules %s %s "
                        "%s in a circle",
                        count == 1 ? "rank" : "ranks", emu_text_get(&names),
                        count == 1 ? "would wait for itself" : "would wait for each other");
    emu_finding_set_text(&note->explanation, "%s",
                         "let one side receive first, or use sendrecv or async calls");
    emu_text_finish(&names);
    free(ranks);
    return EMU_OK;
}

static enum emu_status judge(struct emu_replay *replay, struct emu_script_replay *result,
                             struct emu_findings *findings)
{
    bool *circle = calloc(replay->script->mesh.world, sizeof *circle);
    if (!circle)
        return EMU_ENOMEM;
    uint32_t count = find_circle(replay, circle);
    for (uint32_t rank = 0; rank < replay->script->mesh.world; rank++)
        result->stuck += !replay->ranks[rank].ended;
    enum emu_status status = EMU_OK;
    result->verdict = count ? EMU_REPLAY_STUCK : EMU_REPLAY_PASS;
    if (count)
        status = add_note(replay, circle, count, findings);
    free(circle);
    return status;
}

enum emu_status emu_script_replay(const struct emu_script *script, struct emu_script_replay *result,
                                  struct emu_findings *findings)
{
    struct emu_replay replay;
    enum emu_status status = emu_replay_init(&replay, script);
    if (status != EMU_OK)
        return status;
    advance_all(&replay);
    *result = (struct emu_script_replay){.verdict = EMU_REPLAY_TOO_LONG, .steps = replay.steps};
    if (replay.no_memory)
        status = EMU_ENOMEM;
    else if (replay.steps < EMU_REPLAY_MAX_STEPS)
        status = judge(&replay, result, findings);
    emu_replay_finish(&replay);
    return status;
}
