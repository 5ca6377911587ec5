/* The part of the inquest that hears of waits that do not end, and of messages that nobody took. */
#include "check/deadlock_report.h"
#include "check/finding_build.h"
#include "check/inquest_parts.h"
#include "check/liveness.h"
#include "check/protocol.h"

/* The finding that a rank of the knot belongs to already. */
static size_t known_cause(const struct emu_inquest *inquest, const struct emu_deadlock *deadlock,
                          uint32_t knot)
{
    for (uint32_t rank = 0; rank < deadlock->world; rank++)
        if (deadlock->core[rank] && deadlock->knot[rank] == knot &&
            inquest->cause[rank] != EMU_NO_FINDING)
            return inquest->cause[rank];
    return EMU_NO_FINDING;
}

static void add_consequences(struct emu_inquest *inquest, const struct emu_scene *scene,
                             const struct emu_needs *needs, const struct emu_deadlock *deadlock,
                             size_t place, uint32_t knot)
{
    for (uint32_t rank = 0; rank < deadlock->world; rank++) {
        struct emu_finding *finding = emu_inquest_at(inquest, place);
        if (deadlock->knot[rank] != knot || !finding)
            continue;
        struct emu_text text = {0};
        emu_need_text(&text, scene, needs, rank);
        emu_finding_consequence(finding, "%s", emu_text_get(&text));
        emu_text_finish(&text);
    }
}

void emu_inquest_deadlock(struct emu_inquest *inquest, const struct emu_scene *scene,
                          const struct emu_needs *needs, const struct emu_deadlock *deadlock)
{
    for (uint32_t knot = 0; knot < deadlock->knots; knot++) {
        size_t place = known_cause(inquest, deadlock, knot);
        if (place == EMU_NO_FINDING)
            place = emu_inquest_count(
                inquest, emu_deadlock_report(scene, needs, deadlock, knot, &inquest->findings));
        else
            add_consequences(inquest, scene, needs, deadlock, place, knot);
        for (uint32_t rank = 0; rank < deadlock->world; rank++)
            if (deadlock->knot[rank] == knot)
                emu_inquest_blame(inquest, rank, place);
        inquest->latest = place;
    }
}

void emu_inquest_late(struct emu_inquest *inquest, const struct emu_scene *scene,
                      const struct emu_needs *needs, const struct emu_late *late)
{
    size_t place =
        emu_inquest_count(inquest, emu_liveness_late(scene, needs, late, &inquest->findings));
    for (uint32_t i = 0; i < late->count; i++)
        inquest->cause[late->ranks[i]] = place;
    inquest->latest = place;
}

void emu_inquest_straggles(struct emu_inquest *inquest, const struct emu_scene *scene,
                           const struct emu_needs *needs, const struct emu_late *late)
{
    for (size_t i = 0; i < inquest->findings.count; i++) {
        const struct emu_finding *told = &inquest->findings.items[i];
        if (told->class_id == EMU_CLASS_STRAGGLER && told->culprits &&
            told->culprits[0] == late->ranks[0])
            return;
    }
    size_t place = emu_liveness_late(scene, needs, late, &inquest->findings);
    emu_inquest_count(inquest, place);
}

void emu_inquest_continued(struct emu_inquest *inquest, uint32_t rank, uint64_t stopped_ns)
{
    struct emu_finding *finding = emu_findings_add(&inquest->findings, EMU_CLASS_STOPPED);
    if (!finding)
        return; /* a note less */
    struct emu_text text = {0};
    emu_rank_text(&text, inquest->roster->mesh, rank);
    finding->note = true;
    emu_finding_message(finding, "%s was stopped by a signal and continued after %.3g s",
                        emu_text_get(&text), (double)stopped_ns / 1e9);
    emu_text_finish(&text);
    emu_finding_culprit(finding, rank);
}

void emu_inquest_stopped(struct emu_inquest *inquest, const struct emu_scene *scene,
                         uint64_t grace_ns)
{
    size_t place =
        emu_inquest_count(inquest, emu_liveness_stopped(scene, grace_ns, &inquest->findings));
    for (uint32_t rank = 0; rank < inquest->roster->mesh->world; rank++)
        if (scene->ranks[rank].fate == EMU_FATE_STOPPED)
            inquest->cause[rank] = place;
    inquest->latest = place;
}

static bool same_way(const struct emu_posted *a, const struct emu_posted *b)
{
    return a->from == b->from && a->to == b->to;
}

void emu_inquest_lost(struct emu_inquest *inquest, const struct emu_scene *scene)
{
    for (size_t i = 0; i < scene->posted_count; i++) {
        const struct emu_posted *first = &scene->posted[i];
        uint64_t count = 0;
        bool told = false;
        if (inquest->cause[first->from] != EMU_NO_FINDING ||
            inquest->cause[first->to] != EMU_NO_FINDING)
            continue;
        for (size_t j = 0; j < scene->posted_count; j++) {
            const struct emu_posted *other = &scene->posted[j];
            told |= j < i && same_way(&scene->posted[i], other);
            count += same_way(&scene->posted[i], other);
            if (same_way(first, other) && other->sequence < first->sequence)
                first = other;
        }
        if (!told)
            inquest->latest = emu_inquest_count(
                inquest, emu_protocol_lost(scene, first, count, &inquest->findings));
    }
}
