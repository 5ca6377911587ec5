/* Which rank died, left early or kept the others waiting, where was it, and who waited for it?
 *
 * Pure functions of a scene. Each appends one finding and returns its place in `findings`, or
 * EMU_NO_FINDING where memory ran out. Waiters and other consequences are added by the inquest.
 */
#ifndef EMU_CHECK_LIVENESS_H
#define EMU_CHECK_LIVENESS_H

#include "check/scene.h"
#include "seg/needs.h"

#include <meshemu/finding.h>

#include <stddef.h>

#define EMU_NO_FINDING SIZE_MAX

/* A signal killed the rank: CRASH. It exited with another code than 0, or before its body returned
 * while others counted on it: EARLY_EXIT. Somebody else has taken its exit status: INTERNAL. */
size_t emu_liveness_gone(const struct emu_scene *scene, uint32_t rank,
                         struct emu_findings *findings);

/* The run did not end in time: STALL. Culprits: ranks that are alive and wait for nobody; where
 * everybody waits it is undecided. */
size_t emu_liveness_stall(const struct emu_scene *scene, uint64_t timeout_ns,
                          struct emu_findings *findings);

/* A rank kept another one waiting in its own code, or awake inside a call, beyond the user's
 * budget: STALL, its culprit. Where there is no budget (0): STRAGGLER, a note. */
struct emu_late;
size_t emu_liveness_late(const struct emu_scene *scene, const struct emu_needs *needs,
                         const struct emu_late *late, struct emu_findings *findings);

/* Ranks are stopped and nobody goes on without them: STOPPED, culprits those ranks. */
size_t emu_liveness_stopped(const struct emu_scene *scene, uint64_t grace_ns,
                            struct emu_findings *findings);

#endif
