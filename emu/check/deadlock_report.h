/* What does a finding say about ranks that wait for each other? Pure functions of a scene, and of a
 * steady reading of needs with its knots (check/deadlock.h). */
#ifndef EMU_CHECK_DEADLOCK_REPORT_H
#define EMU_CHECK_DEADLOCK_REPORT_H

#include "check/deadlock.h"
#include "check/scene.h"

#include <meshemu/finding.h>

#include <stddef.h>

/* One finding about one knot and all who wait for it: TAG_MISMATCH where one of the knot waits to
 * receive what the other has sent it with another tag, else DEADLOCK. Returns its place, or
 * EMU_NO_FINDING (liveness.h) where memory ran out. */
size_t emu_deadlock_report(const struct emu_scene *scene, const struct emu_needs *needs,
                           const struct emu_deadlock *deadlock, uint32_t knot,
                           struct emu_findings *findings);

/* When the last of the knot began to wait. */
uint64_t emu_deadlock_since(const struct emu_needs *needs, const struct emu_deadlock *deadlock,
                            uint32_t knot);

/* "rank 1 (dp=0,tp=1) waits for rank 0 in barrier over tp #2" */
void emu_need_text(struct emu_text *out, const struct emu_scene *scene,
                   const struct emu_needs *needs, uint32_t rank);

#endif
