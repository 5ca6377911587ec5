#include "check/deadlock_report.h"

#include "check/finding_build.h"
#include "check/liveness.h"
#include "check/protocol.h"

#include <stdlib.h>

#define SENTENCES 4 /* waits that the message tells; the finding lists all */

static bool is_part(const struct emu_deadlock *deadlock, uint32_t rank, uint32_t knot)
{
    return deadlock->knot[rank] == knot;
}

static bool is_core(const struct emu_deadlock *deadlock, uint32_t rank, uint32_t knot)
{
    return deadlock->core[rank] && deadlock->knot[rank] == knot;
}

uint64_t emu_deadlock_since(const struct emu_needs *needs, const struct emu_deadlock *deadlock,
                            uint32_t knot)
{
    uint64_t since = 0;
    for (uint32_t rank = 0; rank < needs->world; rank++)
        if (is_core(deadlock, rank, knot) && needs->ranks[rank].since_ns > since)
            since = needs->ranks[rank].since_ns;
    return since;
}

static int compare_ranks(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* The deadlocked ranks among the targets, sorted; caller frees. NULL: no memory. */
static uint32_t *dead_targets(const struct emu_needs *needs, const struct emu_deadlock *deadlock,
                              uint32_t rank, size_t *count)
{
    const struct emu_need *need = &needs->ranks[rank];
    uint32_t *dead = malloc((need->count + (size_t)1) * sizeof *dead);
    *count = 0;
    for (uint32_t i = 0; dead && i < need->count; i++) {
        uint32_t target = needs->targets[need->first + i];
        if (emu_deadlock_holds(deadlock, needs, target))
            dead[(*count)++] = target;
    }
    if (dead)
        qsort(dead, *count, sizeof *dead, compare_ranks);
    return dead;
}

static void add_wait(const struct emu_needs *needs, const struct emu_deadlock *deadlock,
                     uint32_t rank, struct emu_finding *finding)
{
    const struct emu_need *need = &needs->ranks[rank];
    struct emu_wait_view wait = {.rank = rank, .group = EMU_GROUP_SELF, .kind = EMU_BARRIER};
    if (need->wait != EMU_WAIT_GATE) {
        wait.group = need->call.group;
        wait.index = need->call.index;
        wait.kind = need->call.kind;
    }
    wait.targets = dead_targets(needs, deadlock, rank, &wait.target_count);
    if (wait.targets)
        emu_finding_wait(finding, &wait);
    free(wait.targets);
}

void emu_need_text(struct emu_text *out, const struct emu_scene *scene,
                   const struct emu_needs *needs, uint32_t rank)
{
    const struct emu_need *need = &needs->ranks[rank];
    const uint32_t *targets = needs->targets + need->first;
    emu_rank_text(out, scene->roster->mesh, rank);
    emu_text_puts(out, " waits for ");
    emu_ranks_text(out, targets, need->count);
    if (need->wait == EMU_WAIT_GATE) {
        emu_text_puts(out, " at the end of the step");
    } else {
        emu_text_puts(out, " in ");
        emu_call_text(out, &need->call);
    }
}

static void describe_knot(const struct emu_scene *scene, const struct emu_needs *needs,
                          const struct emu_deadlock *deadlock, uint32_t knot, struct emu_text *text)
{
    uint32_t core = 0, told = 0;
    for (uint32_t rank = 0; rank < needs->world; rank++)
        core += is_core(deadlock, rank, knot);
    if (core == 1)
        emu_text_puts(text, "a rank waits for itself: ");
    else
        emu_text_printf(text, "%u ranks wait for each other: ", (unsigned)core);
    for (uint32_t rank = 0; rank < needs->world && told < SENTENCES; rank++) {
        if (!is_core(deadlock, rank, knot))
            continue;
        emu_text_puts(text, told++ ? ", " : "");
        emu_need_text(text, scene, needs, rank);
    }
    if (told < core)
        emu_text_printf(text, ", and %u more", (unsigned)(core - told));
    emu_text_puts(text, "; none of them can go on");
}

/* Members, waits and consequences, the same for every class. */
static void list_ranks(const struct emu_scene *scene, const struct emu_needs *needs,
                       const struct emu_deadlock *deadlock, uint32_t knot,
                       struct emu_finding *finding)
{
    for (uint32_t rank = 0; rank < needs->world; rank++) {
        if (!is_part(deadlock, rank, knot))
            continue;
        const struct emu_need *need = &needs->ranks[rank];
        const struct emu_call_view *call = need->wait == EMU_WAIT_GATE ? NULL : &need->call;
        emu_finding_member(finding, rank, emu_scene_state(scene, rank, NULL).text, call);
        add_wait(needs, deadlock, rank, finding);
        if (is_core(deadlock, rank, knot))
            continue;
        struct emu_text text = {0};
        emu_need_text(&text, scene, needs, rank);
        emu_finding_consequence(finding, "%s", emu_text_get(&text));
        emu_text_finish(&text);
    }
}

/* Of the knot: who waits to receive from another of the knot what came with another tag. */
static size_t find_tags(const struct emu_scene *scene, const struct emu_needs *needs,
                        const struct emu_deadlock *deadlock, uint32_t knot,
                        struct emu_findings *findings)
{
    for (uint32_t rank = 0; rank < needs->world; rank++) {
        const struct emu_need *need = &needs->ranks[rank];
        if (!is_core(deadlock, rank, knot) || need->wait != EMU_WAIT_MESSAGE ||
            need->call.kind != EMU_RECV || !is_core(deadlock, need->call.peer, knot))
            continue;
        const struct emu_need *peer = &needs->ranks[need->call.peer];
        bool direct = peer->wait == EMU_WAIT_MESSAGE && peer->call.kind == EMU_SEND &&
                      peer->call.peer == rank;
        const struct emu_posted *sent = emu_protocol_other_tag(scene, rank, &need->call, direct);
        if (sent)
            return emu_protocol_tags(scene, rank, &need->call, sent, findings);
    }
    return EMU_NO_FINDING;
}

size_t emu_deadlock_report(const struct emu_scene *scene, const struct emu_needs *needs,
                           const struct emu_deadlock *deadlock, uint32_t knot,
                           struct emu_findings *findings)
{
    size_t place = find_tags(scene, needs, deadlock, knot, findings);
    struct emu_finding *finding = NULL;
    if (place != EMU_NO_FINDING) {
        finding = &findings->items[place];
    } else {
        finding = emu_findings_add(findings, EMU_CLASS_DEADLOCK);
        if (!finding)
            return EMU_NO_FINDING;
        struct emu_text text = {0};
        describe_knot(scene, needs, deadlock, knot, &text);
        emu_finding_message(finding, "%s", emu_text_get(&text));
        emu_text_finish(&text);
        finding->undecided = true;
        place = findings->count - 1;
    }
    list_ranks(scene, needs, deadlock, knot, finding);
    finding->after_ns = (int64_t)(scene->now_ns - emu_deadlock_since(needs, deadlock, knot));
    return place;
}
