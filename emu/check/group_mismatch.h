/* Did a rank make the right call on the wrong axis?
 *
 * It did where all of this holds: it waits in one group and is awaited in another one, with the
 * same signature; a member of the group it waits in has ended (so it waits for nothing); and,
 * counting calls begun on each axis (or world), it has more than most other ranks of its stage
 * where it waits, and fewer where it is awaited. Without the last nobody knows that it is this rank
 * that is odd. Pure functions of a scene with the last calls of all ranks.
 */
#ifndef EMU_CHECK_GROUP_MISMATCH_H
#define EMU_CHECK_GROUP_MISMATCH_H

#include "check/scene.h"

#include <meshemu/finding.h>

/* `rank` waits in `made`, and `waiter` for it in `wanted`. */
struct emu_wrong_group {
    uint32_t rank;
    uint32_t waiter;
    struct emu_call_view made;
    struct emu_call_view wanted;
};

/* Do the two calls fit, and do the counts say that it is this rank that is odd? */
bool emu_group_mismatch_fits(const struct emu_scene *scene, const struct emu_wrong_group *wrong);

/* Somebody who waits for the rank in another group than that of `made`, so that it fits. */
bool emu_group_mismatch_find(const struct emu_scene *scene, uint32_t rank,
                             const struct emu_call_view *made, struct emu_wrong_group *wrong);

/* Make a finding that said MISSING_PARTICIPANT say this; its consequences stay. */
void emu_group_mismatch_say(const struct emu_scene *scene, const struct emu_wrong_group *wrong,
                            struct emu_finding *finding);

#endif
