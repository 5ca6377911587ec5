/* What does each rank hold, by name? Readers of struct emu_evidence for the audits.
 *
 * Elements of a tensor on a rank are counted in its local block, row-major. Every reader costs
 * O(axes) at most.
 */
#ifndef EMU_CHECK_EVIDENCE_H
#define EMU_CHECK_EVIDENCE_H

#include "check/audit.h"

/* What a rank keeps for each parameter, in the order in which findings name it. */
enum emu_state {
    EMU_STATE_WEIGHT,
    EMU_STATE_GRADIENT,
    EMU_STATE_MOMENT_0,
    EMU_STATE_MOMENT_1,
    EMU_STATE_COUNT
};

/* "weight", "gradient", "first moment", "second moment". */
const char *emu_state_word(enum emu_state state);

/* Does the optimizer of this plan keep that state? */
bool emu_state_is_kept(const struct emu_plan *plan, enum emu_state state);

const struct emu_mesh *emu_evidence_mesh(const struct emu_evidence *evidence);
uint32_t emu_evidence_world(const struct emu_evidence *evidence);
uint32_t emu_evidence_tp(const struct emu_evidence *evidence, uint32_t rank);

const struct emu_tensor_record *emu_evidence_tensor(const struct emu_evidence *evidence,
                                                    uint32_t rank, uint32_t tensor);
struct emu_hash emu_evidence_hash(const struct emu_evidence *evidence, uint32_t rank,
                                  uint32_t tensor, enum emu_state state);

/* Do two holders of a tensor hold the same? Where the state is divided over the shard group: do
 * their groups, chunk by chunk? */
bool emu_evidence_same(const struct emu_evidence *evidence, uint32_t a, uint32_t b, uint32_t tensor,
                       enum emu_state state);

/* Who keeps this element of the rank's block: the rank itself, or a member of its shard group. */
uint32_t emu_evidence_keeper(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor,
                             enum emu_state state, uint64_t local);

/* Element of the rank's block, on the member of its shard group that keeps it, whatever the
 * arithmetic of the run. */
double emu_evidence_value(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor,
                          enum emu_state state, uint64_t local);

/* The elements of a rank's block in turn, some at a time: where they lie is worked out once for all
 * that lie side by side. Begin with rank, tensor and state alone set. */
#define EMU_EVIDENCE_RUN 256u
struct emu_evidence_run {
    uint32_t rank, tensor;
    enum emu_state state;
    uint64_t first, count; /* elements that `values` holds now */
    double values[EMU_EVIDENCE_RUN];
};

/* The next ones; false: there are no more. */
bool emu_evidence_next(const struct emu_evidence *evidence, struct emu_evidence_run *run);

/* Elements in the rank's block. */
uint64_t emu_evidence_elements(const struct emu_tensor_record *record);

/* Logical row and column of an element of the block. */
struct emu_element {
    uint64_t row, column;
};
struct emu_element emu_evidence_element(const struct emu_tensor_record *record, uint64_t local);

/* Row-major index in the whole tensor. */
uint64_t emu_evidence_logical(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor,
                              uint64_t local);

bool emu_evidence_same_block(const struct emu_tensor_record *a, const struct emu_tensor_record *b);

/* Does the block lie inside the tensor? */
bool emu_evidence_in_bounds(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor);

/* The rank whose coordinates are this one's on `axis` (NULL, or an axis the mesh does not have:
 * on none) and 0 on all others: the one that its copies are compared with. */
uint32_t emu_evidence_reference(const struct emu_evidence *evidence, uint32_t rank,
                                const char *axis);

/* Does the rank's pipeline stage hold the tensor? */
bool emu_evidence_holds(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor);

/* The rank with which a holder of the tensor is compared: on the tensor's (first) stage, with its
 * own tp coordinate where the tensor is split, 0 on all other axes. */
uint32_t emu_evidence_holder(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor);

/* The rank that stands for all that work on this one's tokens: its dp and cp coordinates, 0 on all
 * other axes. */
uint32_t emu_evidence_owner(const struct emu_evidence *evidence, uint32_t rank);

/* The axis along which this tensor is split: "tp", or NULL where every rank holds all of it. */
const char *emu_evidence_axis(const struct emu_evidence *evidence, uint32_t tensor);

#endif
