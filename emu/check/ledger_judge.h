/* Is every source of gradient inside a parameter's gradient with the coefficient 1/tokens, on every
 * rank that holds it? And if not: what kind of fault is it, and which sizes explain it?
 *
 * Pure arithmetic on the coefficients that the ranks end with. The path (which call summed what was
 * already whole) only names the cause; the verdict follows the coefficients. Sources without a
 * valid token do not count.
 */
#ifndef EMU_CHECK_LEDGER_JUDGE_H
#define EMU_CHECK_LEDGER_JUDGE_H

#include "ledger/explain.h"
#include "ledger/rational.h"

#include <meshemu/finding.h>

#include <stdbool.h>
#include <stdint.h>

/* Who owns tokens: sources are numbered (dp, cp, microbatch), microbatch fastest. */
struct emu_ledger_sources {
    uint32_t dp, cp, microbatches;
    uint32_t uses; /* of the tensor (emu_tensor_uses): lanes of the second use follow, ... */
    bool tied;     /* the uses are the ends of a tied table */
    const uint64_t *tokens; /* valid tokens of each lane */
    uint64_t all;           /* their sum */
};

/* The coefficients of one parameter. rows[i] points to one field element a source, as the i-th
 * holder of the parameter ended with. */
struct emu_ledger_rows {
    const uint64_t *const *rows;
    uint32_t count;
};

/* What the path says about sums over axes on which the value was not partial. */
struct emu_ledger_path {
    bool summed_again;      /* over dp or cp, which had been summed before */
    bool summed_replicated; /* over an axis that was never partial */
};

enum emu_weight_law {
    EMU_WEIGHT_OTHER,
    EMU_WEIGHT_SOURCE_MEANS, /* c ~ 1/tokens of the source: a mean of means over both */
    EMU_WEIGHT_RANK_MEANS, /* c ~ 1/tokens of the dp x cp owner: each rank's mean weighs the same */
    EMU_WEIGHT_SLICE_MEANS, /* c ~ 1/tokens of the cp slice over dp and microbatches */
    EMU_WEIGHT_MICRO_MEANS  /* c ~ 1/tokens of the microbatch over the mesh */
};

struct emu_ledger_judgement {
    bool right;
    enum emu_class class_id;
    bool uniform;                    /* one factor for all sources on every rank */
    struct emu_rational ratio;       /* got / wanted where uniform */
    struct emu_rational least, most; /* of got / wanted where not uniform and recoverable */
    bool spread_known;
    uint32_t worst_row;   /* holder whose row shows the fault best */
    uint32_t lost_source; /* LOST_MICROBATCH, MISSING_REDUCTION: a source that is left out */
    enum emu_weight_law law;
};

void emu_ledger_judge(const struct emu_ledger_sources *sources, const struct emu_ledger_rows *rows,
                      const struct emu_ledger_path *path, struct emu_ledger_judgement *out);

#endif
