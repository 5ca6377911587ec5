/* When does the launcher look for ranks that cannot go on, and what has it seen?
 *
 * It looks when there is news: a rank that slept for emu_rest_tell_ns in one wait tells so, ends
 * and stops come from the kernel. Only budgets of time (stall_after, stop_grace) and readings that
 * were not steady make it look again by the clock, and never for more than a tenth of a processor.
 * A look costs O(ranks + needs) reads of shared memory and no system call.
 */
#ifndef EMU_RUN_DETECTOR_H
#define EMU_RUN_DETECTOR_H

#include "check/deadlock.h"
#include "check/inquest.h"
#include "run/capture.h"
#include "run/crew.h"

#include <stdbool.h>
#include <stdint.h>

/* A rank that is awake: since the look at which it first had this pulse (emu_board_pulse). */
struct emu_watched {
    uint64_t pulse;
    uint64_t since_ns; /* 0: it was asleep */
    uint32_t looks;    /* that found it so: one of few may have come late itself */
};

struct emu_detector {
    struct emu_needs needs;
    struct emu_deadlock deadlock;
    unsigned char *presence; /* per rank: enum emu_presence; owned, like the next one */
    unsigned char *kept;     /* per rank: waits for the rank in question */
    uint32_t *late;          /* room for all ranks; owned, like the next one */
    struct emu_watched *watched;
    uint64_t stopped_since_ns; /* since when all wait for the stopped ranks; 0: they do not */
    uint64_t last_ns, cost_ns; /* of the last look */
    uint64_t due_ns;           /* of the next one; 0: when there is news */
};

EMU_MUST_CHECK enum emu_status emu_detector_init(struct emu_detector *detector, uint32_t world);
void emu_detector_finish(struct emu_detector *detector);

/* Look soon: there is news. */
void emu_detector_wake(struct emu_detector *detector);

/* Read who waits for whom. true: the reading is steady; else look again, due_ns is set.
 * EMU_ENOMEM in *status. */
bool emu_detector_read(struct emu_detector *detector, const struct emu_segment *segment,
                       const struct emu_crew *crew, enum emu_status *status);

/* After a steady reading: are there deadlocked ranks? Then the knots are known. */
bool emu_detector_finds_knots(struct emu_detector *detector, enum emu_status *status);

/* Has somebody waited for so long? Costs nothing, unlike the scene for the next question. */
bool emu_detector_waits_long(const struct emu_detector *detector, uint64_t budget_ns);

/* After a steady reading and a scene with calls: ranks that have kept another one waiting in their
 * own code, or awake inside a call without moving on in it, one of them for budget_ns or longer,
 * the others for nearly as long: the wait is one. Inside a call the time counts from the first look
 * at which the rank was awake with its present pulse, so a rank that works through a long payload
 * is never late. */
struct emu_patience {
    const struct emu_crew *crew;
    const struct emu_scene *scene;
    uint64_t budget_ns;
};
bool emu_detector_finds_late(struct emu_detector *detector, const struct emu_patience *patience,
                             struct emu_late *late);

/* Is a rank awake inside the call that its board tells of, and has not moved on for many looks? */
bool emu_detector_is_stuck(const struct emu_detector *detector, const struct emu_board_view *board,
                           uint32_t rank);

/* After a steady reading: have all others ended, are they stopped or do they wait for stopped
 * ranks, and have for grace_ns? */
bool emu_detector_finds_stopped(struct emu_detector *detector, uint64_t grace_ns,
                                enum emu_status *status);

/* Plan the next look by the clock: while somebody waits under a budget, or is stopped. */
void emu_detector_plan(struct emu_detector *detector, uint64_t budget_ns, uint64_t grace_ns);

#endif
