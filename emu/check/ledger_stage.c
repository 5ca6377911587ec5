#include "check/ledger_stage.h"

#include "check/evidence.h"
#include "ledger/field.h"

static bool is_right(const struct emu_evidence *evidence, const struct emu_ledger_evidence *ledger,
                     uint32_t rank, uint64_t wanted)
{
    for (uint32_t i = 0; i < evidence->plan->tensor_count; i++) {
        const uint64_t *row = emu_ledger_row(evidence, rank, i);
        for (uint32_t lane = 0; row && lane < emu_tensor_lanes(evidence->plan, i); lane++)
            if (ledger->tokens[lane] > 0 && row[lane] != wanted)
                return false;
    }
    return true;
}

bool emu_ledger_one_stage(const struct emu_evidence *evidence,
                          const struct emu_ledger_evidence *ledger, uint32_t *stage)
{
    const struct emu_mesh *mesh = emu_evidence_mesh(evidence);
    uint64_t tokens = emu_field_reduce(ledger->sources.all);
    uint64_t wanted = tokens ? emu_field_inverse(tokens) : 0;
    uint32_t wrong = 0;
    if (evidence->plan->pp == 1)
        return false;
    for (uint32_t rank = 0; rank < mesh->world; rank++) {
        uint32_t own = emu_mesh_coord(mesh, rank, "pp");
        if (is_right(evidence, ledger, rank, wanted))
            continue;
        if (wrong++ > 0 && own != *stage)
            return false;
        *stage = own;
    }
    return wrong > 0 && wrong == mesh->world / evidence->plan->pp;
}
