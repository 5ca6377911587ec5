#include "comm/arguments.h"

#include "base/checked.h"
#include "base/hot.h"
#include "comm/fold.h"
#include "comm/parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static enum emu_status refuse(struct emu_refusal *refusal, enum emu_status status,
                              const char *format, ...) EMU_PRINTF(3, 4);

static enum emu_status refuse(struct emu_refusal *refusal, enum emu_status status,
                              const char *format, ...)
{
    if (!refusal)
        return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(refusal->text, sizeof refusal->text, format, arguments);
    va_end(arguments);
    refusal->status = status;
    return status;
}

static bool is_bound(enum emu_dtype dtype)
{
    return dtype == EMU_BOUND32 || dtype == EMU_BOUND64;
}

static enum emu_status check_bytes(const struct emu_call *call, uint64_t elements,
                                   const void *buffer, const char *which,
                                   struct emu_refusal *refusal)
{
    uint64_t bytes;
    if (!emu_mul_fits(elements, emu_dtype_bytes(call->dtype), &bytes) || bytes > INT64_MAX)
        return refuse(refusal, EMU_EINVAL, "%s: count %" PRIu64 " of %s does not fit in memory",
                      emu_kind_name(call->kind), call->count, emu_dtype_name(call->dtype));
    if (bytes > 0 && !buffer)
        return refuse(refusal, EMU_EINVAL, "%s: %s is NULL with count %" PRIu64 "; allowed with 0",
                      emu_kind_name(call->kind), which, call->count);
    return EMU_OK;
}

static enum emu_status check_dtype(const struct emu_call *call, uint32_t size,
                                   struct emu_refusal *refusal)
{
    if ((unsigned)call->dtype >= EMU_DTYPE_COUNT)
        return refuse(refusal, EMU_EINVAL, "%s: no dtype has number %d; 0..%d are allowed",
                      emu_kind_name(call->kind), (int)call->dtype, EMU_DTYPE_COUNT - 1);
    if (is_bound(call->dtype) && size > 1)
        return refuse(refusal, EMU_EINVAL, "%s: %s is allowed in groups of one only",
                      emu_kind_name(call->kind), emu_dtype_name(call->dtype));
    return EMU_OK;
}

static enum emu_status check_choices(const struct emu_call *call, uint32_t size,
                                     struct emu_refusal *refusal)
{
    if (emu_kind_has_root(call->kind) && call->root >= size)
        return refuse(refusal, EMU_EINVAL, "%s: root %u is outside the group; 0..%u are allowed",
                      emu_kind_name(call->kind), call->root, size - 1);
    if ((call->kind == EMU_ALL_GATHER || call->kind == EMU_GATHER) &&
        (unsigned)call->layout > EMU_LAYOUT_CHUNKS)
        return refuse(refusal, EMU_EINVAL, "%s: no layout has number %d; 0 and 1 are allowed",
                      emu_kind_name(call->kind), (int)call->layout);
    if (!emu_kind_reduces(call->kind))
        return EMU_OK;
    if ((unsigned)call->op >= EMU_OP_COUNT)
        return refuse(refusal, EMU_EINVAL, "%s: no op has number %d; 0..%d are allowed",
                      emu_kind_name(call->kind), (int)call->op, EMU_OP_COUNT - 1);
    if (!is_bound(call->dtype) && !emu_fold_knows(call->dtype, call->op))
        return refuse(refusal, EMU_EINVAL, "%s: %s of %s; sum alone is allowed",
                      emu_kind_name(call->kind), emu_op_name(call->op),
                      emu_dtype_name(call->dtype));
    return EMU_OK;
}

EMU_HOT enum emu_status emu_call_check_member(const struct emu_call *call, uint32_t index,
                                              uint32_t size, struct emu_refusal *refusal)
{
    if (call->kind == EMU_BARRIER)
        return EMU_OK;
    enum emu_status status = check_dtype(call, size, refusal);
    if (!status)
        status = check_choices(call, size, refusal);
    if (!status)
        status =
            check_bytes(call, emu_part_input(call, index, size), call->input, "input", refusal);
    uint64_t wanted = 0;
    if (!status && !emu_part_output(call, index, size, &wanted))
        wanted = UINT64_MAX;
    return status ? status : check_bytes(call, wanted, call->output, "output", refusal);
}

static enum emu_status check_message(const struct emu_roster *roster, uint32_t rank,
                                     const struct emu_call *call, struct emu_refusal *refusal)
{
    if (call->peer >= roster->mesh->world)
        return refuse(refusal, EMU_EINVAL, "%s: no rank %u in the world; 0..%u are allowed",
                      emu_kind_name(call->kind), call->peer, roster->mesh->world - 1);
    enum emu_status status = check_dtype(call, call->peer == rank ? 1 : 2, refusal);
    if (status)
        return status;
    return call->kind == EMU_SEND ? check_bytes(call, call->count, call->input, "input", refusal)
                                  : check_bytes(call, call->count, call->output, "output", refusal);
}

enum emu_status emu_call_check(const struct emu_roster *roster, uint32_t rank,
                               const struct emu_call *call, struct emu_refusal *refusal)
{
    if ((unsigned)call->kind >= EMU_KIND_COUNT)
        return refuse(refusal, EMU_EINVAL, "no kind of call has number %d; 0..%d are allowed",
                      (int)call->kind, EMU_KIND_COUNT - 1);
    if (call->kind == EMU_SEND || call->kind == EMU_RECV)
        return check_message(roster, rank, call, refusal);
    if (call->group == EMU_GROUP_SELF)
        return emu_call_check_member(call, 0, 1, refusal);
    if (call->group >= roster->group_count)
        return refuse(refusal, EMU_EINVAL, "%s: no group has id %u; ids below %u are allowed",
                      emu_kind_name(call->kind), call->group, roster->group_count);
    struct emu_group group = emu_roster_group(roster, call->group);
    int64_t index = emu_group_index(&group, rank);
    if (index < 0)
        return refuse(refusal, EMU_ENOTMEMBER,
                      "%s: rank %u is not among the %u members of group %u",
                      emu_kind_name(call->kind), rank, group.size, call->group);
    return emu_call_check_member(call, (uint32_t)index, group.size, refusal);
}
