/* Is what the ranks wrote down about a step right? Pure functions of records and arenas.
 *
 * The auditor collects the evidence of one step while every rank waits at the gate. Each check
 * looks at it, adds findings (one for each cause, with all ranks and parameters it concerns) and
 * counts what it compared. A check that did not run says why.
 */
#ifndef EMU_CHECK_AUDIT_H
#define EMU_CHECK_AUDIT_H

#include "base/bounded.h"
#include "plan/plan.h"
#include "plan/record.h"

#include <meshemu/finding.h>

#include <stdint.h>

#define EMU_CHECK_LIST(X)                                                                          \
    X(EMU_CHECK_INIT, "init")                                                                      \
    X(EMU_CHECK_DATA, "data")                                                                      \
    X(EMU_CHECK_REPLICAS, "replicas")                                                              \
    X(EMU_CHECK_TILING, "tiling")                                                                  \
    X(EMU_CHECK_LEDGER, "ledger")                                                                  \
    X(EMU_CHECK_ORACLE, "oracle")                                                                  \
    X(EMU_CHECK_MEMORY, "memory")                                                                  \
    X(EMU_CHECK_TRAFFIC, "traffic")

enum emu_check {
#define EMU_CHECK_ENUMERATOR(name, text) name,
    EMU_CHECK_LIST(EMU_CHECK_ENUMERATOR)
#undef EMU_CHECK_ENUMERATOR
        EMU_CHECK_COUNT
};

enum emu_check_status { EMU_CHECK_SKIPPED, EMU_CHECK_PASS, EMU_CHECK_FAIL };

struct emu_check_figures {
    enum emu_check_status status;
    uint64_t steps;    /* in which the check ran */
    uint64_t compared; /* hashes, blocks, sequences or elements */
    uint64_t differed;
    double worst; /* oracle: largest |mesh - oracle| / allowed, 0..1 in a pass */
    double largest_difference, largest_bound; /* oracle: over all elements */
    uint64_t examined; /* oracle: values looked at one by one (equal copies once) */
    uint64_t loose;    /* of these, with a bound above their own size: it proves little there */
    char why[96];      /* of a skipped check */
};

struct emu_evidence {
    const struct emu_plan *plan;
    uint64_t step;                          /* 0: parameters just drawn */
    const struct emu_step_record **records; /* world entries, borrowed */
    const unsigned char **arenas;           /* world entries, borrowed */
};

struct emu_audit {
    struct emu_check_figures figures[EMU_CHECK_COUNT];
    struct emu_findings findings;
};

/* The checks; each appends to audit->findings and updates its figures. */

/* Step 0: every block holds the bits that (seed, tensor, element) draws. INIT_MISMATCH. */
void emu_check_init(const struct emu_evidence *evidence, struct emu_audit *audit);

/* Blocks of the ranks that share all but the tp coordinate tile each tensor once, and the chunks of
 * a shard group each block. SHARD_TILING. */
void emu_check_tiling(const struct emu_evidence *evidence, struct emu_audit *audit);

/* Ranks that must hold the same examples do (DATA_DIVERGENCE); over dp every sequence of the batch
 * is read once (DATA_OVERLAP, DATA_GAP); the token count that was reduced is the sum. */
void emu_check_data(const struct emu_evidence *evidence, struct emu_audit *audit);

/* Weights, gradients and optimizer state agree bit for bit over every axis on which they must; so
 * do loss, norm and token count over the world. REPLICA_DIVERGENCE with the odd rank (minority;
 * tie: undecided) and the first differing element; NONFINITE with rank and parameter. */
void emu_check_replicas(const struct emu_evidence *evidence, struct emu_audit *audit);

/* What the oracle computed from the state in which this step began: one array a tensor (logical
 * shape, row-major, emu_bounded), and scalars. */
struct emu_oracle_step {
    const struct emu_bounded **weight;   /* after the update */
    const struct emu_bounded **gradient; /* reduced and scaled, before clipping */
    const struct emu_bounded **moment[2];
    struct emu_bounded loss;      /* mean over valid tokens */
    struct emu_bounded grad_norm; /* before clipping */
    uint64_t tokens;
};

/* |mesh - oracle| <= 2 * bound, element by element, on every rank. ORACLE_MISMATCH names parameter,
 * element, expected, got, the ratio, and the ranks. */
void emu_check_oracle(const struct emu_evidence *evidence, const struct emu_oracle_step *oracle,
                      struct emu_audit *audit);

/* A factor of the recipe had no value (NONFINITE, INVALID_ARGUMENT) or a reduction must not be made
 * (SHARD_TILING): one finding. true: the values of this step mean nothing, other checks of it are
 * to be left out. */
bool emu_check_trouble(const struct emu_evidence *evidence, struct emu_audit *audit);

/* Every source of gradient is inside every parameter's gradient with the coefficient 1/tokens on
 * every rank: MISSING_REDUCTION, LOST_MICROBATCH, DOUBLE_REDUCTION, REDUCED_REPLICATED,
 * WRONG_SCALE, TOKEN_WEIGHT. Notes for reductions that were not needed but did no harm. */
void emu_check_ledger(const struct emu_evidence *evidence, struct emu_audit *audit);

/* Bytes that each rank asked for, by category, are those that the plan predicts. MEMORY_MISMATCH.
 */
void emu_check_memory(const struct emu_evidence *evidence, struct emu_audit *audit);

/* Bytes that each rank sent in the step, by group and axis, are those that the plan predicts.
 * TRAFFIC_MISMATCH. */
void emu_check_traffic(const struct emu_evidence *evidence, struct emu_audit *audit);

/* The norm by which gradients are clipped is the norm of what the ranks hold, each unique parameter
 * once: WRONG_NORM and true where it is not on some rank. */
bool emu_check_norm(const struct emu_evidence *evidence, struct emu_audit *audit);

/* Is the gradient of a tensor that this rank holds what its coefficients give (want: the whole
 * array)? INTERNAL and false where it is not. */
bool emu_check_binding(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor,
                       const struct emu_bounded *want, struct emu_audit *audit);

const char *emu_check_name(enum emu_check check);
void emu_audit_init(struct emu_audit *audit); /* all skipped, no findings */
void emu_audit_finish(struct emu_audit *audit);
/* Index of the first fault from `from` on; findings.count where there is none. */
size_t emu_audit_first_fault(const struct emu_audit *audit, size_t from);

/* Findings from `from` on that the one at `cause` explains become consequences of it. */
void emu_audit_subordinate(struct emu_audit *audit, size_t cause, size_t from);

/* Say why a check never ran. */
void emu_audit_skip(struct emu_audit *audit, enum emu_check check, const char *why);

#endif
