#include "fault/fault_address.h"

#include "comm/parts.h"
#include "fault/call_rewrite.h"
#include "seg/kinds.h"

#include <string.h>

bool emu_fault_means_call(const struct emu_fault *fault, const struct emu_rank *rank,
                          const struct emu_fault_place *place, const struct emu_call *call)
{
    const struct emu_fault_value *value = fault->value;
    bool stepped = value[EMU_KEY_STEP].given;
    if (value[EMU_KEY_RANK].number != emu_rank_id(rank) ||
        (stepped && value[EMU_KEY_STEP].number != place->step))
        return false;
    if (value[EMU_KEY_CALL].given &&
        value[EMU_KEY_CALL].number != (stepped ? place->in_step : place->in_run))
        return false;
    if (value[EMU_KEY_LABEL].given &&
        (!call->label || !emu_glob_match(value[EMU_KEY_LABEL].text, call->label)))
        return false;
    if (!value[EMU_KEY_GROUP].given)
        return true;
    return !emu_kind_is_message(call->kind) && call->group != EMU_GROUP_SELF &&
           call->group < emu_rank_roster(rank)->group_count &&
           emu_roster_family_of(emu_rank_roster(rank), call->group) == value[EMU_KEY_GROUP].number;
}

uint64_t emu_call_input_elements(const struct emu_rank *rank, const struct emu_call *call)
{
    int64_t me = emu_rank_group_index(rank, call->group);
    return me < 0 ? 0 : emu_part_input(call, (uint32_t)me, emu_rank_group_size(rank, call->group));
}

uint64_t emu_call_output_elements(const struct emu_rank *rank, const struct emu_call *call)
{
    int64_t me = emu_rank_group_index(rank, call->group);
    uint64_t count;
    if (me < 0 ||
        !emu_part_output(call, (uint32_t)me, emu_rank_group_size(rank, call->group), &count))
        return 0;
    return count;
}

static bool is_real(enum emu_dtype dtype)
{
    return dtype == EMU_F64 || dtype == EMU_F32;
}

/* Values of the model, unless the address says which call is meant. */
static bool suits_payload(const struct emu_fault *fault, const struct emu_rank *rank,
                          const struct emu_call *call)
{
    bool chosen = emu_fault_has(fault, EMU_KEY_CALL) || emu_fault_has(fault, EMU_KEY_LABEL);
    if (!emu_call_meets_others(rank, call) || call->kind == EMU_BARRIER)
        return false;
    if (!is_real(call->dtype) && (!chosen || fault->kind == EMU_FAULT_NAN))
        return false;
    uint64_t elements = fault->kind == EMU_FAULT_FLIP_RESULT ? emu_call_output_elements(rank, call)
                                                             : emu_call_input_elements(rank, call);
    return elements > emu_fault_number(fault, EMU_KEY_ELEMENT, 0);
}

bool emu_fault_suits_call(const struct emu_fault *fault, const struct emu_rank *rank,
                          const struct emu_call *call)
{
    bool company = emu_kind_is_message(call->kind) || emu_call_meets_others(rank, call);
    bool inside = emu_fault_number(fault, EMU_KEY_PHASE, EMU_PHASE_BEFORE) != EMU_PHASE_BEFORE;
    struct emu_call made;
    switch (emu_fault_row(fault->kind)->means) {
    case EMU_FAULT_BY_PROCESS:
        return !inside || emu_call_meets_others(rank, call);
    case EMU_FAULT_BY_PAYLOAD:
        return suits_payload(fault, rank, call);
    case EMU_FAULT_BY_CALL:
        break;
    default:
        return false;
    }
    if (fault->kind == EMU_FAULT_SKIP_CALL || fault->kind == EMU_FAULT_REPEAT_CALL ||
        fault->kind == EMU_FAULT_SWAP_CALLS)
        return company;
    return emu_call_rewrite(fault, rank, call, &made);
}
