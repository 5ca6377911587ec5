#include "fault/call_rewrite.h"

#include "seg/kinds.h"

bool emu_call_meets_others(const struct emu_rank *rank, const struct emu_call *call)
{
    return call->kind != EMU_SEND && call->kind != EMU_RECV &&
           emu_rank_group_index(rank, call->group) >= 0 &&
           emu_rank_group_size(rank, call->group) > 1;
}

/* The group of this family that holds the rank; false: there is none, or it is the one asked for.
 */
static bool other_group(const struct emu_rank *rank, const struct emu_call *asked, uint32_t family,
                        uint32_t *group)
{
    const struct emu_roster *roster = emu_rank_roster(rank);
    uint32_t found;
    if (emu_roster_family_of(roster, asked->group) == family ||
        emu_roster_group_of(roster, family, emu_rank_id(rank), &found) != EMU_OK ||
        emu_roster_group(roster, found).size < 2)
        return false;
    *group = found;
    return true;
}

/* The family asked for; else the first single axis with company, else any family. */
static bool wrong_group(const struct emu_fault *fault, const struct emu_rank *rank,
                        const struct emu_call *asked, uint32_t *group)
{
    const struct emu_roster *roster = emu_rank_roster(rank);
    if (emu_fault_has(fault, EMU_KEY_OVER))
        return other_group(rank, asked, (uint32_t)fault->value[EMU_KEY_OVER].number, group);
    for (uint32_t i = 0; i < roster->family_count; i++)
        if (roster->families[i].axes.count == 1 && other_group(rank, asked, i, group))
            return true;
    for (uint32_t i = 0; i < roster->family_count; i++)
        if (other_group(rank, asked, i, group))
            return true;
    return false;
}

static bool wrong_root(const struct emu_fault *fault, uint32_t size, const struct emu_call *asked,
                       struct emu_call *made)
{
    if (!emu_kind_has_root(asked->kind))
        return false;
    made->root = (uint32_t)emu_fault_number(fault, EMU_KEY_ROOT, (asked->root + 1) % size);
    return made->root != asked->root && made->root < size;
}

static bool wrong_op(const struct emu_fault *fault, const struct emu_call *asked,
                     struct emu_call *made)
{
    enum emu_op other = asked->op == EMU_MAX ? EMU_MIN : EMU_MAX;
    made->op = (enum emu_op)emu_fault_number(fault, EMU_KEY_OP, other);
    return emu_kind_reduces(asked->kind) && made->op != asked->op;
}

static bool wrong_dtype(const struct emu_fault *fault, const struct emu_call *asked,
                        struct emu_call *made)
{
    enum emu_dtype other = asked->dtype == EMU_I64 ? EMU_F64 : EMU_I64;
    made->dtype = (enum emu_dtype)emu_fault_number(fault, EMU_KEY_DTYPE, other);
    return asked->kind != EMU_BARRIER && made->dtype != asked->dtype;
}

static bool wrong_count(const struct emu_fault *fault, const struct emu_call *asked,
                        struct emu_call *made)
{
    made->count = emu_fault_number(fault, EMU_KEY_COUNT, asked->count + 1);
    return asked->kind != EMU_BARRIER && made->count != asked->count;
}

bool emu_call_rewrite(const struct emu_fault *fault, const struct emu_rank *rank,
                      const struct emu_call *asked, struct emu_call *made)
{
    if (!emu_call_meets_others(rank, asked))
        return false;
    uint32_t size = emu_rank_group_size(rank, asked->group);
    *made = *asked;
    switch (fault->kind) {
    case EMU_FAULT_WRONG_AXIS:
        return wrong_group(fault, rank, asked, &made->group) && made->root < size &&
               made->root < emu_rank_group_size(rank, made->group);
    case EMU_FAULT_WRONG_ROOT:
        return wrong_root(fault, size, asked, made);
    case EMU_FAULT_WRONG_OP:
        return wrong_op(fault, asked, made);
    case EMU_FAULT_WRONG_DTYPE:
        return wrong_dtype(fault, asked, made);
    case EMU_FAULT_WRONG_COUNT:
        return wrong_count(fault, asked, made);
    case EMU_FAULT_REDUCE_FOR_ALL_REDUCE:
        made->kind = EMU_REDUCE;
        made->root = (uint32_t)emu_fault_number(fault, EMU_KEY_ROOT, 0);
        return asked->kind == EMU_ALL_REDUCE && made->root < size;
    default:
        return false;
    }
}
