/* Of all that went wrong in a run, what was a cause and what followed from it?
 *
 * The launcher reports what happens in the order in which it sees it: calls that broke, processes
 * that ended, a deadline that passed. One cause becomes one finding; whoever waited for its rank,
 * left because a call of it was answered with an error, or was ended by the launcher is listed
 * there as consequence. Independent causes are several findings. Pure: no system call; memory that
 * runs out loses a finding's text, never the verdict (`lost` is counted).
 *
 * Rules
 *   a rank that was killed is a CRASH of its own, but SIGABRT after a broken call is a consequence
 *   a rank that exits with another code than 0 is an EARLY_EXIT, but after a broken call a
 * consequence a rank that ends with 0 is no failure; a call in which others wait for it is
 * MISSING_PARTICIPANT what ranks do once the launcher has begun to end them is a consequence of
 * what made it do so
 */
#ifndef EMU_CHECK_INQUEST_H
#define EMU_CHECK_INQUEST_H

#include "check/deadlock.h"
#include "check/scene.h"
#include "seg/incident.h"

#include <meshemu/finding.h>
#include <meshemu/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call that broke, and the finding it belongs to. */
struct emu_inquest_case {
    uint32_t group;
    uint64_t index;
    size_t finding;
};

struct emu_inquest {
    const struct emu_roster *roster; /* borrowed */
    struct emu_findings findings;
    size_t *cause;   /* per rank: place of the finding it belongs to, or EMU_NO_FINDING */
    uint32_t *ended; /* ranks ended by the launcher, sorted at close */
    uint32_t ended_count;
    struct emu_inquest_case cases[EMU_INCIDENT_MAX];
    uint32_t case_count;
    size_t latest;     /* the finding that the newest failure belongs to */
    bool ending;       /* the launcher has begun to end the run */
    bool interrupted;  /* because a person asked for it */
    size_t ending_for; /* the finding that made it, or EMU_NO_FINDING */
    uint64_t lost;
};

EMU_MUST_CHECK enum emu_status emu_inquest_init(struct emu_inquest *inquest,
                                                const struct emu_roster *roster);
void emu_inquest_finish(struct emu_inquest *inquest);

/* Has this call been reported as broken? */
bool emu_inquest_knows(const struct emu_inquest *inquest, uint32_t group, uint64_t index);

/* A call broke; told twice it is one. members: as emu_slot_members fills them; NULL where the
 * incident has no group. */
void emu_inquest_incident(struct emu_inquest *inquest, const struct emu_scene *scene,
                          const struct emu_incident *incident,
                          const struct emu_member_view *members);

/* Will emu_inquest_gone look at more than the rank itself, whose board, fate and calls must be in
 * the scene? Then all of it must be there, with the messages. */
bool emu_inquest_wants_scene(const struct emu_inquest *inquest, const struct emu_scene *scene,
                             uint32_t rank);

/* A process is gone. Incidents that were there before it went come first. true: it failed. */
bool emu_inquest_gone(struct emu_inquest *inquest, const struct emu_scene *scene, uint32_t rank);

/* The deadline passed. */
void emu_inquest_stall(struct emu_inquest *inquest, const struct emu_scene *scene,
                       uint64_t timeout_ns);

/* Ranks that can never act again, by a steady reading with its knots. A rank among them that
 * belongs to a finding already waits because of that one. The launcher ends them all. */
void emu_inquest_deadlock(struct emu_inquest *inquest, const struct emu_scene *scene,
                          const struct emu_needs *needs, const struct emu_deadlock *deadlock);

/* Ranks have kept `waiter` waiting in their own code, or awake inside a call, for longer than the
 * user allowed: STALL. */
struct emu_late {
    const uint32_t *ranks; /* in order; borrowed */
    uint32_t count;
    uint32_t waiter;
    uint64_t kept_ns, budget_ns;
};
void emu_inquest_late(struct emu_inquest *inquest, const struct emu_scene *scene,
                      const struct emu_needs *needs, const struct emu_late *late);

/* The same without a budget: a note, STRAGGLER, once for each first rank. */
void emu_inquest_straggles(struct emu_inquest *inquest, const struct emu_scene *scene,
                           const struct emu_needs *needs, const struct emu_late *late);

/* A rank was stopped for so long and goes on: a note, STOPPED. */
void emu_inquest_continued(struct emu_inquest *inquest, uint32_t rank, uint64_t stopped_ns);

/* Everybody else has ended, is stopped or waits for a stopped rank, and has for grace_ns: STOPPED,
 * culprits the ranks that are stopped. */
void emu_inquest_stopped(struct emu_inquest *inquest, const struct emu_scene *scene,
                         uint64_t grace_ns);

/* At the end: messages between ranks that belong to no finding, and that nobody received. */
void emu_inquest_lost(struct emu_inquest *inquest, const struct emu_scene *scene);

/* From now on the launcher ends the ranks: interrupted by a person, or for the newest failure. */
void emu_inquest_ending(struct emu_inquest *inquest, bool interrupted);

/* Our own invariant is broken. */
void emu_inquest_internal(struct emu_inquest *inquest, const char *what);

/* Write down who was ended by the launcher. After this the findings are complete. */
void emu_inquest_close(struct emu_inquest *inquest);

#endif
