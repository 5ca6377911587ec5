#include "run/supervise.h"

#include "os/clock.h"
#include "os/stream.h"
#include "os/watch.h"
#include "run/hold.h"
#include "run/hold_bell.h"
#include "run/supervise_parts.h"
#include "run/untold.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define ALL_CALLS 256 /* that a recorder keeps */
#define LAST_CALLS 8
#define READY 64 /* events served between two looks at the time */

/* Tokens of what is watched beside the ranks, which have FIXED + rank. */
enum { SIGNALS, NEWS, BELL, FIXED };

enum emu_status emu_supervision_init(struct emu_supervision *supervision, const struct emu_job *job,
                                     const struct emu_segment *segment, struct emu_crew *crew)
{
    uint32_t world = segment->world;
    *supervision =
        (struct emu_supervision){.job = job, .segment = segment, .crew = crew, .watch = -1};
    supervision->members = malloc(world * sizeof *supervision->members);
    if (supervision->members && emu_capture_init(&supervision->capture, job->roster) == EMU_OK &&
        emu_inquest_init(&supervision->inquest, job->roster) == EMU_OK &&
        emu_detector_init(&supervision->detector, world) == EMU_OK)
        return EMU_OK;
    emu_supervision_finish(supervision);
    return EMU_ENOMEM;
}

void emu_supervision_finish(struct emu_supervision *supervision)
{
    emu_capture_finish(&supervision->capture);
    emu_inquest_finish(&supervision->inquest);
    emu_detector_finish(&supervision->detector);
    free(supervision->members);
    if (supervision->crew)
        emu_stream_close(&supervision->watch);
    *supervision = (struct emu_supervision){0};
}

static bool watch_all(struct emu_supervision *s)
{
    bool all = s->watch >= 0 && emu_watch_add(s->watch, s->signals->fd, SIGNALS) &&
               emu_watch_add(s->watch, s->news, NEWS) &&
               (!s->job->bell || emu_watch_add(s->watch, s->job->bell->asked, BELL));
    for (uint32_t rank = 0; rank < s->crew->world && all; rank++)
        all = emu_watch_add(s->watch, s->crew->ranks[rank].process.pidfd, FIXED + rank);
    return all;
}

enum emu_status emu_supervision_open(struct emu_supervision *s, const struct emu_signals *signals,
                                     int news, struct emu_reason *reason)
{
    s->signals = signals;
    s->news = news;
    s->watch = emu_watch_create();
    if (watch_all(s))
        return EMU_OK;
    return emu_reason_set(reason, "cannot watch the ranks: %s", strerror(errno));
}

/* Later causes change nothing. */
void emu_supervision_end(struct emu_supervision *s, enum emu_end_cause cause)
{
    emu_inquest_ending(&s->inquest, cause == EMU_END_PERSON);
    if (s->kill_at_ns)
        return;
    emu_abort_post(s->segment, cause);
    s->kill_at_ns = emu_clock_ns() + EMU_GRACE_NS;
}

/* --stop-on-finding: at the first fault, and before anything is done about it. */
static void hold_for(struct emu_supervision *s, const struct emu_finding *finding)
{
    if (!s->job->hold_on_finding || s->held || s->kill_at_ns)
        return;
    s->held = true;
    uint64_t before = emu_clock_ns();
    int end = emu_hold_ranks(s->crew, s->signals, finding);
    if (s->deadline_ns)
        s->deadline_ns += emu_clock_ns() - before;
    if (end)
        emu_supervision_end(s, EMU_END_PERSON);
}

void emu_supervision_hold(struct emu_supervision *s)
{
    const struct emu_findings *findings = &s->inquest.findings;
    if (emu_findings_faults(findings) > 0)
        hold_for(s, &findings->items[findings->count - 1]);
}

static void answer_bell(struct emu_supervision *s)
{
    if (!emu_hold_bell_asked(s->job->bell))
        return;
    hold_for(s, s->job->bell->finding);
    emu_hold_bell_answer(s->job->bell);
}

void emu_supervision_take_scene(struct emu_supervision *s, uint64_t event_ns)
{
    emu_capture_take(&s->capture, s->segment, s->crew, event_ns);
    for (uint32_t rank = 0; rank < s->segment->world; rank++)
        emu_capture_calls(&s->capture, s->segment, rank, ALL_CALLS);
    emu_capture_posted(&s->capture, s->segment);
}

static void handle_incident(struct emu_supervision *s, const struct emu_incident *incident)
{
    const struct emu_member_view *members = NULL;
    emu_supervision_take_scene(s, incident->enabled_ns);
    if (incident->group < s->job->roster->group_count) {
        emu_slot_members(s->segment, incident->group, incident->index, s->members);
        members = s->members;
    }
    emu_inquest_incident(&s->inquest, &s->capture.scene, incident, members);
    emu_supervision_hold(s);
}

void emu_supervision_read(struct emu_supervision *s)
{
    for (uint32_t i = 0; i < EMU_INCIDENT_MAX; i++) {
        struct emu_incident incident;
        if (s->incident_seen[i] || !emu_incident_read(s->segment, i, &incident))
            continue;
        s->incident_seen[i] = true;
        handle_incident(s, &incident);
    }
}

static void take_signals(struct emu_supervision *s, bool *child)
{
    struct emu_signals_news news = emu_signals_take(s->signals);
    *child |= news.child;
    if (news.end)
        emu_supervision_end(s, EMU_END_PERSON);
}

/* A Ctrl-C reaches the ranks too. The kernel has sent it to us before it lets us see them die, so a
 * look at our own signals tells it from a signal meant for one rank. */
static void notice_interrupt(struct emu_supervision *s, const struct emu_crew_rank *rank)
{
    bool child = false;
    if (rank->fate == EMU_FATE_KILLED &&
        (rank->code == SIGINT || rank->code == SIGTERM || rank->code == SIGHUP))
        take_signals(s, &child);
}

/* A rank that left after a broken call knows of it; make sure that the inquest does. */
static void read_untold(struct emu_supervision *s, uint32_t rank)
{
    struct emu_incident incident;
    if (emu_untold_incident(s->segment, &s->capture.ranks[rank], rank, &incident) &&
        !emu_inquest_knows(&s->inquest, incident.group, incident.index))
        handle_incident(s, &incident);
}

/* Most ends ask for a look at the rank alone; thousands may come at once. */
static void handle_death(struct emu_supervision *s, uint32_t rank, uint64_t event_ns)
{
    notice_interrupt(s, &s->crew->ranks[rank]);
    emu_supervision_read(s);
    emu_capture_rank(&s->capture, s->segment, s->crew, rank, event_ns);
    emu_capture_calls(&s->capture, s->segment, rank, ALL_CALLS);
    read_untold(s, rank);
    if (emu_inquest_wants_scene(&s->inquest, &s->capture.scene, rank))
        emu_supervision_take_scene(s, event_ns);
    bool failed = emu_inquest_gone(&s->inquest, &s->capture.scene, rank);
    if (failed)
        emu_supervision_hold(s);
    emu_segment_lose_rank(s->segment, rank);
    s->untold = true;
    if (failed && !s->job->keep_going)
        emu_supervision_end(s, EMU_END_FAILURE);
    emu_supervision_read(s);
}

/* Seen to go on, or to have ended by itself, for which it must have gone on. Holding the ranks
 * stops them too. */
static void note_continued(struct emu_supervision *s, uint32_t rank)
{
    struct emu_crew_rank *one = &s->crew->ranks[rank];
    one->continued_ns = emu_clock_ns();
    if (!s->held)
        emu_inquest_continued(&s->inquest, rank, one->continued_ns - one->stopped_ns);
}

void emu_supervision_look_at(struct emu_supervision *s, uint32_t rank, uint64_t event_ns)
{
    struct emu_crew_rank *one = &s->crew->ranks[rank];
    while (!emu_fate_is_gone(one->fate)) {
        bool stopped = one->fate == EMU_FATE_STOPPED;
        if (!emu_crew_look(s->crew, rank))
            return;
        emu_detector_wake(&s->detector);
        if (stopped && (one->fate == EMU_FATE_ALIVE || one->fate == EMU_FATE_EXITED))
            note_continued(s, rank);
        if (emu_fate_is_gone(one->fate))
            handle_death(s, rank, event_ns);
    }
}

static void handle_deadline(struct emu_supervision *s)
{
    emu_supervision_read(s);
    emu_capture_take(&s->capture, s->segment, s->crew, emu_clock_ns() - s->job->timeout_ns);
    for (uint32_t rank = 0; rank < s->segment->world; rank++)
        emu_capture_calls(&s->capture, s->segment, rank, LAST_CALLS);
    for (uint32_t rank = 0; rank < s->segment->world; rank++)
        s->capture.ranks[rank].stuck =
            emu_detector_is_stuck(&s->detector, &s->capture.ranks[rank].board, rank);
    emu_inquest_stall(&s->inquest, &s->capture.scene, s->job->timeout_ns);
    emu_supervision_hold(s);
    emu_supervision_end(s, EMU_END_TIMEOUT);
}

/* Milliseconds until something is due, rounded up; -1: nothing is. */
static int time_left(const struct emu_supervision *s)
{
    uint64_t due = s->kill_at_ns ? (s->crew->killed ? 0 : s->kill_at_ns) : s->deadline_ns;
    uint64_t look = s->kill_at_ns ? 0 : s->detector.due_ns;
    if (look && (!due || look < due))
        due = look;
    if (!due)
        return -1;
    uint64_t now = emu_clock_ns();
    uint64_t left = due > now ? (due - now + 999999) / 1000000 : 0;
    return left > 1000000 ? 1000000 : (int)left;
}

static void act_on_time(struct emu_supervision *s)
{
    uint64_t now = emu_clock_ns();
    if (s->kill_at_ns) {
        if (!s->crew->killed && now >= s->kill_at_ns)
            emu_crew_kill(s->crew);
    } else if (s->deadline_ns && now >= s->deadline_ns) {
        handle_deadline(s);
    }
}

static void look_at_all(struct emu_supervision *s, uint64_t event_ns)
{
    for (uint32_t rank = 0; rank < s->crew->world; rank++)
        emu_supervision_look_at(s, rank, event_ns);
}

/* Stops and continues make no pidfd ready. SIGCHLD says that there may be some. */
static void find_changed(struct emu_supervision *s, uint64_t event_ns)
{
    uint32_t rank, last = UINT32_MAX;
    bool hidden;
    while (emu_crew_changed(s->crew, &rank, &hidden) && rank != last) {
        emu_supervision_look_at(s, rank, event_ns);
        last = rank;
    }
    if (hidden)
        look_at_all(s, event_ns);
}

static void serve_event(struct emu_supervision *s, uint64_t token, uint64_t event_ns)
{
    bool child = false;
    switch (token) {
    case SIGNALS:
        take_signals(s, &child);
        if (child)
            find_changed(s, event_ns);
        break;
    case NEWS:
        if (emu_event_take(s->news)) {
            emu_supervision_read(s);
            emu_detector_wake(&s->detector);
        }
        break;
    case BELL:
        answer_bell(s);
        break;
    default:
        emu_supervision_look_at(s, (uint32_t)(token - FIXED), event_ns);
    }
}

/* What came is served in the order of the tokens: signals before news before ranks. */
static int compare_tokens(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void give_up(struct emu_supervision *s)
{
    emu_inquest_internal(&s->inquest, "the supervisor cannot wait for the ranks");
    emu_supervision_end(s, EMU_END_DEFECT);
    emu_crew_kill(s->crew);
    look_at_all(s, emu_clock_ns());
}

static void wait_and_serve(struct emu_supervision *s)
{
    uint64_t ready[READY];
    int count = emu_watch_wait(s->watch, ready, READY, time_left(s));
    if (count < 0) {
        give_up(s);
        return;
    }
    uint64_t event_ns = emu_clock_ns();
    qsort(ready, (size_t)count, sizeof *ready, compare_tokens);
    for (int i = 0; i < count; i++)
        serve_event(s, ready[i], event_ns);
    act_on_time(s);
    emu_supervision_watch(s);
    if (s->untold) {
        s->untold = false;
        emu_segment_tell_lost(s->segment);
    }
}

void emu_supervise(struct emu_supervision *supervision)
{
    struct emu_supervision *s = supervision;
    while (s->crew->living > 0)
        wait_and_serve(s);
    if (s->job->bell)
        emu_hold_bell_close(s->job->bell);
    emu_supervision_read(s);
    emu_supervision_find_lost(s);
    emu_inquest_close(&s->inquest);
}
