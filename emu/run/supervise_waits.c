/* The part of the supervisor that looks after waits. */
#include "os/clock.h"
#include "run/supervise_parts.h"
#include "seg/board_words.h"

#define STOP_GRACE_NS UINT64_C(2000000000)
#define STRAGGLER_NS UINT64_C(1000000000) /* worth a note */

static uint64_t grace_of(const struct emu_supervision *s)
{
    return s->job->stop_grace_ns ? s->job->stop_grace_ns : STOP_GRACE_NS;
}

/* After a finding: hold, then end the run, or those alone whom the finding is about. */
static bool ends_run(struct emu_supervision *s)
{
    emu_supervision_hold(s);
    if (!s->job->keep_going)
        emu_supervision_end(s, EMU_END_FAILURE);
    return s->kill_at_ns != 0;
}

/* A death that the kernel knows of and we do not yet explains more than the waits of the others. */
static bool someone_died(struct emu_supervision *s)
{
    uint32_t living = s->crew->living;
    for (uint32_t rank = 0; rank < s->segment->world; rank++)
        emu_supervision_look_at(s, rank, emu_clock_ns());
    emu_supervision_read(s);
    return s->crew->living < living;
}

static void handle_knots(struct emu_supervision *s)
{
    emu_supervision_take_scene(s, s->detector.last_ns);
    emu_inquest_deadlock(&s->inquest, &s->capture.scene, &s->detector.needs, &s->detector.deadlock);
    if (ends_run(s))
        return;
    for (uint32_t rank = 0; rank < s->segment->world; rank++)
        if (s->detector.deadlock.knot[rank] != EMU_NO_KNOT)
            emu_crew_condemn(s->crew, rank);
}

/* How long a rank may keep others waiting before something is said. */
static uint64_t patience_of(const struct emu_supervision *s)
{
    return s->job->stall_after_ns ? s->job->stall_after_ns : STRAGGLER_NS;
}

static void handle_late(struct emu_supervision *s)
{
    struct emu_late late;
    struct emu_patience patience = {s->crew, &s->capture.scene, patience_of(s)};
    if (!emu_detector_waits_long(&s->detector, patience.budget_ns))
        return;
    emu_supervision_take_scene(s, s->detector.last_ns);
    if (!emu_detector_finds_late(&s->detector, &patience, &late) || someone_died(s))
        return;
    if (!s->job->stall_after_ns) {
        late.budget_ns = 0;
        emu_inquest_straggles(&s->inquest, &s->capture.scene, &s->detector.needs, &late);
        return;
    }
    emu_inquest_late(&s->inquest, &s->capture.scene, &s->detector.needs, &late);
    for (uint32_t i = 0; i < late.count && !ends_run(s); i++)
        emu_crew_condemn(s->crew, late.ranks[i]);
}

static void handle_stopped(struct emu_supervision *s)
{
    emu_supervision_take_scene(s, s->detector.stopped_since_ns);
    emu_inquest_stopped(&s->inquest, &s->capture.scene, grace_of(s));
    s->detector.stopped_since_ns = 0;
    if (ends_run(s))
        return;
    for (uint32_t rank = 0; rank < s->segment->world; rank++)
        if (s->crew->ranks[rank].fate == EMU_FATE_STOPPED)
            emu_crew_condemn(s->crew, rank);
}

static enum emu_status judge_waits(struct emu_supervision *s)
{
    enum emu_status status;
    struct emu_detector *detector = &s->detector;
    if (!emu_detector_read(detector, s->segment, s->crew, &status))
        return status;
    if (emu_detector_finds_knots(detector, &status)) {
        if (someone_died(s))
            emu_detector_wake(detector);
        else
            handle_knots(s);
        return EMU_OK;
    }
    if (status != EMU_OK)
        return status;
    handle_late(s);
    if (!s->kill_at_ns && emu_detector_finds_stopped(detector, grace_of(s), &status))
        handle_stopped(s);
    return status;
}

void emu_supervision_watch(struct emu_supervision *s)
{
    struct emu_detector *detector = &s->detector;
    if (s->kill_at_ns || detector->due_ns == 0 || emu_clock_ns() < detector->due_ns)
        return;
    if (judge_waits(s) != EMU_OK)
        s->inquest.lost++; /* a verdict that leaves waits out would be wrong */
    emu_detector_plan(detector, patience_of(s), grace_of(s));
}

void emu_supervision_find_lost(struct emu_supervision *s)
{
    uint64_t last_ns = 0;
    if (s->kill_at_ns)
        return;
    emu_supervision_take_scene(s, 0);
    for (size_t i = 0; i < s->capture.scene.posted_count; i++) {
        const struct emu_posted *posted = &s->capture.scene.posted[i];
        uint64_t gone_ns = atomic_load_explicit(&emu_board_of(s->segment, posted->to)->gone_ns,
                                                memory_order_acquire);
        last_ns = gone_ns > last_ns ? gone_ns : last_ns;
    }
    s->capture.scene.event_ns = last_ns;
    emu_inquest_lost(&s->inquest, &s->capture.scene);
}
