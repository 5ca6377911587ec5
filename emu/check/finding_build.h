/* How is a finding put together and shown?
 *
 * emu_findings_add appends an empty finding; the setters copy what they are given. Memory that
 * runs out leaves a field empty, never a half-written one. The pointer returned by
 * emu_findings_add is valid until the next add.
 */
#ifndef EMU_CHECK_FINDING_BUILD_H
#define EMU_CHECK_FINDING_BUILD_H

#include "base/text.h"
#include "mesh/roster.h"

#include <meshemu/finding.h>

#include <stdio.h>

/* A new finding of this class (severity fault, after_ns -1); NULL where memory ran out, and then
 * findings->count is unchanged. */
struct emu_finding *emu_findings_add(struct emu_findings *findings, enum emu_class class_id);

/* Move all of `from` to the end of `to`; `from` is empty after. false: memory, nothing moved. */
bool emu_findings_move(struct emu_findings *to, struct emu_findings *from);

/* Free what one finding owns; it must not be used after. */
void emu_finding_finish(struct emu_finding *finding);

void emu_finding_message(struct emu_finding *finding, const char *format, ...) EMU_PRINTF(2, 3);
/* Each text once. */
void emu_finding_consequence(struct emu_finding *finding, const char *format, ...) EMU_PRINTF(2, 3);
void emu_finding_axis(struct emu_finding *finding, const char *axis);
void emu_finding_culprit(struct emu_finding *finding, uint32_t rank); /* kept sorted, each once */
void emu_finding_parameter(struct emu_finding *finding,
                           const char *name); /* first one: .parameter */
void emu_finding_coefficient(struct emu_finding *finding, const char *source, const char *value,
                             uint64_t tokens);
void emu_finding_index(struct emu_finding *finding, uint64_t index);
void emu_finding_set_text(char **field, const char *format, ...) EMU_PRINTF(2, 3);

/* Group by id: members in group order, name, axes. */
void emu_finding_group(struct emu_finding *finding, const struct emu_roster *roster,
                       uint32_t group);
/* Group as an explicit list. */
void emu_finding_ranks(struct emu_finding *finding, const uint32_t *ranks, size_t count);

/* Append a member with a state text; call may be NULL. */
void emu_finding_member(struct emu_finding *finding, uint32_t rank, const char *state,
                        const struct emu_call_view *call);
void emu_finding_wait(struct emu_finding *finding, const struct emu_wait_view *wait);

/* "dp=1,tp=1", and "rank 3 (dp=1,tp=1)". */
void emu_coordinate_text(struct emu_text *out, const struct emu_mesh *mesh, uint32_t rank);
void emu_rank_text(struct emu_text *out, const struct emu_mesh *mesh, uint32_t rank);

/* A finding as a person reads it: class and sentence, group, table of members with coordinates,
 * culprits, what was prevented, consequences, replay. Indented by two blanks, lines end with \n. */
void emu_finding_to_text(const struct emu_finding *finding, const struct emu_mesh *mesh,
                         struct emu_text *out);

#endif
