/* A small training step that is right on every rank, made by hand, for tests to damage.
 *
 * Four tensors: one split by rows, one by columns, one held whole by every rank, and one whose rows
 * do not divide evenly. Weights are what the seed draws, gradients and moments follow a formula of
 * the logical element, and the oracle holds the same values. Ranks of one dp coordinate read the
 * same sequences. */
#ifndef TESTS_CHECK_EVIDENCE_MAKER_H
#define TESTS_CHECK_EVIDENCE_MAKER_H

#include "check/audit.h"
#include "check/evidence.h"

enum made_tensor { MADE_EMBED, MADE_NORM, MADE_UP, MADE_DOWN, MADE_TENSORS };

struct made {
    struct emu_config config;
    struct emu_mesh mesh;
    struct emu_plan plan;
    struct emu_tensor_plan tensors[MADE_TENSORS];
    struct emu_evidence evidence;
    struct emu_step_record **records;
    unsigned char **arenas;
    struct emu_bounded *expected[EMU_STATE_COUNT][MADE_TENSORS];
    struct emu_oracle_step oracle;
    struct emu_audit audit;
};

/* step 0: parameters just drawn. dtype: EMU_F64 or EMU_F32. */
void made_init(struct made *made, const char *mesh, uint64_t step, enum emu_dtype dtype);
void made_finish(struct made *made);

/* Add to an element of a rank's block, or multiply all of them; hashes follow. */
void made_add(struct made *made, uint32_t rank, enum made_tensor tensor, enum emu_state state,
              uint64_t local, double amount);
void made_scale(struct made *made, uint32_t rank, enum made_tensor tensor, enum emu_state state,
                double factor);

/* Write one element whatever it was. */
void made_set(struct made *made, uint32_t rank, enum made_tensor tensor, enum emu_state state,
              uint64_t local, double value);

/* Put the record of a rank's block elsewhere, and its elements as the formula says for there. */
void made_move_block(struct made *made, uint32_t rank, enum made_tensor tensor,
                     struct emu_block block);

/* Run every check that applies to the step. */
void made_check(struct made *made);

/* The only finding; asserts that there is exactly one, and its class. */
const struct emu_finding *made_finding(const struct made *made, enum emu_class class_id);

/* Asserts the culprits, a list like "1,3", "" for none. */
void made_culprits(const struct emu_finding *finding, const char *expected);

#endif
