/* What do the audits share? Sets of ranks and tensors, their words, and the books of a check. */
#ifndef EMU_CHECK_AUDIT_PARTS_H
#define EMU_CHECK_AUDIT_PARTS_H

#include "check/audit.h"
#include "check/finding_build.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Members of a set are those whose entry is true. */
struct emu_marks {
    bool *at; /* owned */
    size_t size;
};

EMU_MUST_CHECK bool emu_marks_init(struct emu_marks *marks, size_t size); /* false: memory */
void emu_marks_finish(struct emu_marks *marks);
size_t emu_marks_count(const struct emu_marks *marks);
bool emu_marks_equal(const struct emu_marks *a, const struct emu_marks *b);

/* Is each member of a also one of b? */
bool emu_marks_within(const struct emu_marks *a, const struct emu_marks *b);
void emu_marks_add(struct emu_marks *to, const struct emu_marks *from);

/* "rank 3", "ranks 0, 1, 2", "ranks 0, 1, ... 63 (64 of them)". */
void emu_ranks_words(struct emu_text *out, const uint32_t *ranks, size_t count);
void emu_marks_words(struct emu_text *out, const struct emu_marks *ranks);

/* "layers.0.up.weight", or with others: "embed.weight and 3 more". */
void emu_tensors_words(struct emu_text *out, const struct emu_plan *plan,
                       const struct emu_marks *tensors);

void emu_finding_culprits(struct emu_finding *finding, const struct emu_marks *ranks);
void emu_finding_parameters(struct emu_finding *finding, const struct emu_plan *plan,
                            const struct emu_marks *tensors);

/* Are these ranks, and no others, its culprits? */
bool emu_finding_blames(const struct emu_finding *finding, const struct emu_marks *ranks);

/* The first fault of one of these classes (bit 1 << class), or NULL. */
struct emu_finding *emu_audit_fault(struct emu_audit *audit, uint64_t classes);
#define EMU_CLASS_BIT(name) (UINT64_C(1) << EMU_CLASS_##name)

/* What was found from index `before` on in this step and says the same as a fault of an earlier one
 * (class, culprits and parameter) becomes a consequence of that. */
void emu_audit_fold(struct emu_audit *audit, size_t before, uint64_t step);

/* The check has looked at one more step. */
void emu_audit_count(struct emu_audit *audit, enum emu_check check, uint64_t compared,
                     uint64_t differed);

/* The audit itself could not do its work for want of memory: INTERNAL, the check fails. */
void emu_audit_no_memory(struct emu_audit *audit, enum emu_check check);

#endif
