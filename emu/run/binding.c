#include "run/binding.h"

#include "check/evidence.h"
#include "check/ledger_evidence.h"

#include <stdlib.h>
#include <string.h>

/* Roundings that a value may have met on its way, at most: additions of sources and members, and
 * three for every factor. */
static uint64_t terms_of(const struct emu_plan *plan)
{
    uint64_t terms = emu_plan_sources(plan) + 8;
    for (uint32_t r = 0; r < plan->recipe.reduction_count; r++) {
        uint32_t family = plan->recipe.reductions[r].family;
        uint64_t members = family == UINT32_MAX ? 1 : plan->roster.families[family].group_size;
        terms += 3 + members;
    }
    return terms;
}

/* All coefficients of a rank as fractions, 0 for tensors of other stages; false where one is no
 * small fraction, or where the uses of a tensor have different ones: the oracle weighs them
 * together. */
static bool read_weights(const struct emu_evidence *evidence, uint32_t rank,
                         struct emu_rational *weights)
{
    uint32_t sources = emu_plan_sources(evidence->plan);
    for (uint32_t i = 0; i < evidence->plan->tensor_count; i++) {
        const uint64_t *row = emu_ledger_row(evidence, rank, i);
        uint32_t uses = emu_tensor_uses(evidence->plan, i);
        for (uint32_t s = 0; s < sources; s++) {
            struct emu_rational *weight = &weights[(size_t)i * sources + s];
            *weight = emu_rational_whole(0);
            for (uint32_t use = 1; row && use < uses; use++)
                if (row[s] != row[use * sources + s])
                    return false;
            if (row && emu_rational_from_field(row[s], weight) != EMU_OK)
                return false;
        }
    }
    return true;
}

/* The window of a model is cut by cp: a rank that embeds a byte also adds what the loss of the
 * slices behind it asks of that byte. Such a gradient is split by who embedded, not by whose loss
 * it was, which is one thing only where all slices weigh alike. */
static bool crosses_slices(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor)
{
    const struct emu_plan *plan = evidence->plan;
    const uint64_t *row = emu_ledger_row(evidence, rank, tensor);
    uint32_t cp = plan->shape.cp;
    uint32_t micro = plan->shape.microbatches;
    if (!row || cp == 1 || strcmp(plan->tensors[tensor].name, "embed.weight") != 0)
        return false;
    for (uint32_t s = 0; s < emu_plan_sources(plan); s++)
        if (row[s] != row[s / (cp * micro) * cp * micro + s % micro])
            return true;
    return false;
}

static bool same_rows(const struct emu_evidence *evidence, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < evidence->plan->tensor_count; i++) {
        const uint64_t *p = emu_ledger_row(evidence, a, i);
        const uint64_t *q = emu_ledger_row(evidence, b, i);
        size_t bytes = emu_tensor_lanes(evidence->plan, i) * sizeof *p;
        if (!p != !q || (p && memcmp(p, q, bytes) != 0))
            return false;
    }
    return true;
}

/* The lowest rank with the coefficients of this one. */
static uint32_t like(const struct emu_evidence *evidence, uint32_t rank)
{
    uint32_t first = 0;
    while (!same_rows(evidence, first, rank))
        first++;
    return first;
}

static bool explained(const struct emu_evidence *evidence, uint32_t rank,
                      const struct emu_bounded *const *want, struct emu_audit *audit)
{
    for (uint32_t i = 0; i < evidence->plan->tensor_count; i++)
        if (emu_evidence_holds(evidence, rank, i) && !crosses_slices(evidence, rank, i) &&
            !emu_check_binding(evidence, rank, i, want[i], audit))
            return false;
    return true;
}

static enum emu_status check_class(struct emu_oracle *oracle, const struct emu_evidence *evidence,
                                   uint32_t first, struct emu_rational *weights,
                                   struct emu_audit *audit)
{
    const struct emu_bounded *const *gradient;
    if (!read_weights(evidence, first, weights))
        return EMU_OK;
    enum emu_status status = emu_oracle_weigh(oracle, weights, terms_of(evidence->plan), &gradient);
    for (uint32_t rank = first; status == EMU_OK && rank < evidence->plan->roster.mesh->world;
         rank++)
        if (like(evidence, rank) == first && !explained(evidence, rank, gradient, audit))
            return EMU_OK;
    return status;
}

enum emu_status emu_binding_check(struct emu_oracle *oracle, const struct emu_evidence *evidence,
                                  struct emu_audit *audit)
{
    size_t count = (size_t)evidence->plan->tensor_count * emu_plan_sources(evidence->plan);
    struct emu_rational *weights = calloc(count, sizeof *weights);
    if (!weights)
        return EMU_ENOMEM;
    enum emu_status status = EMU_OK;
    for (uint32_t rank = 0; status == EMU_OK && rank < evidence->plan->roster.mesh->world; rank++)
        if (like(evidence, rank) == rank)
            status = check_class(oracle, evidence, rank, weights, audit);
    free(weights);
    return status;
}
