/* Which rank made another call than the others of its group, and in what did it differ?
 *
 * Pure functions of an incident (the record of a call that broke), of what each member had posted,
 * and of a scene. The minority is to blame: who does not agree with the largest set of members that
 * agree; where no set is the largest it is a tie and nobody is named. Ranks that differ from the
 * others in different ways are independent causes, each a finding of its own.
 */
#ifndef EMU_CHECK_PROTOCOL_H
#define EMU_CHECK_PROTOCOL_H

#include "check/liveness.h"
#include "seg/incident.h"

#include <meshemu/finding.h>

#include <stddef.h>

/* ORDER_MISMATCH, OP_MISMATCH, DTYPE_MISMATCH, COUNT_MISMATCH, ROOT_MISMATCH: one or more findings.
 * members: as emu_slot_members fills them, in group order. Returns the place of the first one. */
size_t emu_protocol_mismatch(const struct emu_scene *scene, const struct emu_incident *incident,
                             const struct emu_member_view *members, struct emu_findings *findings);

/* A call that was refused: NOT_A_MEMBER or INVALID_ARGUMENT. */
size_t emu_protocol_corrupt(const struct emu_scene *scene, const struct emu_incident *incident,
                            struct emu_findings *findings);
size_t emu_protocol_refused(const struct emu_scene *scene, const struct emu_incident *incident,
                            struct emu_findings *findings);

/* Members ended without the call in which others wait: MISSING_PARTICIPANT. */
size_t emu_protocol_missing(const struct emu_scene *scene, const struct emu_incident *incident,
                            const struct emu_member_view *members, struct emu_findings *findings);

/* A rank ended while another waits for it in a send or receive: MISSING_PARTICIPANT. call: the
 * waiting one, its peer the rank that ended. */
size_t emu_protocol_message(const struct emu_scene *scene, uint32_t waiting,
                            const struct emu_call_view *call, struct emu_findings *findings);

/* A message for the rank from the peer of its receive, not received, that differs from what is
 * awaited in its tag; NULL: none. any_size: whatever it holds; else it must be alike but for the
 * tag. */
const struct emu_posted *emu_protocol_other_tag(const struct emu_scene *scene, uint32_t rank,
                                                const struct emu_call_view *recv, bool any_size);

/* A rank waits to receive and its peer has sent with another tag: TAG_MISMATCH, a tie. */
size_t emu_protocol_tags(const struct emu_scene *scene, uint32_t rank,
                         const struct emu_call_view *recv, const struct emu_posted *sent,
                         struct emu_findings *findings);

/* Messages from one rank to another, both ended, that were never received: LOST_MESSAGE. sent: the
 * first of `count`. */
size_t emu_protocol_lost(const struct emu_scene *scene, const struct emu_posted *sent,
                         uint64_t count, struct emu_findings *findings);

/* A receive met a message that it cannot take: TRUNCATION, or DTYPE_MISMATCH. Two ranks are a tie.
 */
size_t emu_protocol_unfit(const struct emu_scene *scene, const struct emu_incident *incident,
                          struct emu_findings *findings);

#endif
