#include "check/ledger_evidence.h"

#include <stdlib.h>
#include <string.h>

/* The rank at these dp and cp coordinates, 0 on all other axes. */
static uint32_t owner_of(const struct emu_mesh *mesh, uint32_t dp, uint32_t cp)
{
    uint32_t coords[EMU_MESH_MAX_AXES] = {0};
    int dp_axis = emu_mesh_find(mesh, "dp");
    int cp_axis = emu_mesh_find(mesh, "cp");
    if (dp_axis >= 0)
        coords[dp_axis] = dp;
    if (cp_axis >= 0)
        coords[cp_axis] = cp;
    return emu_mesh_rank(mesh, coords);
}

static void gather_tokens(const struct emu_evidence *evidence, struct emu_ledger_evidence *out)
{
    const struct emu_source_shape *shape = &evidence->plan->shape;
    for (uint32_t dp = 0; dp < shape->dp; dp++)
        for (uint32_t cp = 0; cp < shape->cp; cp++) {
            uint32_t rank = owner_of(evidence->plan->roster.mesh, dp, cp);
            const struct emu_step_record *record = evidence->records[rank];
            memcpy(&out->tokens[emu_plan_source(evidence->plan, dp, cp, 0)],
                   evidence->arenas[rank] + record->source_tokens,
                   shape->microbatches * sizeof(uint64_t));
        }
}

/* No tensor has more uses: two ends of a pipeline, or the ranks of tp. */
static uint32_t uses_most(const struct emu_plan *plan)
{
    return plan->tp > 2 ? plan->tp : 2;
}

bool emu_ledger_evidence_init(const struct emu_evidence *evidence, struct emu_ledger_evidence *out)
{
    const struct emu_plan *plan = evidence->plan;
    uint32_t count = emu_plan_sources(plan);
    uint32_t world = plan->roster.mesh->world;
    *out = (struct emu_ledger_evidence){
        .tokens = calloc(uses_most(plan) * (size_t)count, sizeof *out->tokens),
        .rows = calloc(world, sizeof *out->rows),
        .holders = calloc(world, sizeof *out->holders)};
    if (!out->tokens || !out->rows || !out->holders) {
        emu_ledger_evidence_finish(out);
        return false;
    }
    gather_tokens(evidence, out);
    out->sources = (struct emu_ledger_sources){.dp = plan->shape.dp,
                                               .cp = plan->shape.cp,
                                               .microbatches = plan->shape.microbatches,
                                               .uses = 1,
                                               .tokens = out->tokens};
    for (uint32_t s = 0; s < count; s++)
        out->sources.all += out->tokens[s];
    for (uint32_t use = 1; use < uses_most(plan); use++)
        memcpy(out->tokens + (size_t)use * count, out->tokens, count * sizeof *out->tokens);
    return true;
}

void emu_ledger_evidence_finish(struct emu_ledger_evidence *ledger)
{
    free(ledger->tokens);
    free(ledger->rows);
    free(ledger->holders);
    *ledger = (struct emu_ledger_evidence){0};
}

void emu_ledger_gather(const struct emu_evidence *evidence, uint32_t tensor,
                       struct emu_ledger_evidence *ledger)
{
    ledger->row_count = 0;
    for (uint32_t rank = 0; rank < evidence->plan->roster.mesh->world; rank++) {
        const uint64_t *row = emu_ledger_row(evidence, rank, tensor);
        if (!row)
            continue;
        ledger->holders[ledger->row_count] = rank;
        ledger->rows[ledger->row_count++] = row;
    }
}

const uint64_t *emu_ledger_row(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor)
{
    uint64_t offset = evidence->records[rank]->tensors[tensor].ledger;
    if (offset == UINT64_MAX)
        return NULL;
    return (const uint64_t *)(const void *)(evidence->arenas[rank] + offset);
}

const char *emu_coefficient_text(uint64_t element, char out[EMU_RATIONAL_TEXT_MAX])
{
    struct emu_rational fraction;
    if (emu_rational_from_field(element, &fraction) != EMU_OK)
        return strcpy(out, "?");
    return emu_rational_text(fraction, out);
}
