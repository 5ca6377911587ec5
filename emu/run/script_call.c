#include "run/script_call.h"

#include "base/checked.h"
#include "comm/parts.h"
#include "run/script_value.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static enum emu_status refuse(struct emu_script_call *call, const char *format, ...)
    EMU_PRINTF(2, 3);

static enum emu_status refuse(struct emu_script_call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(call->why, sizeof call->why, format, arguments);
    va_end(arguments);
    return EMU_EINVAL;
}

bool emu_script_elements(const struct emu_script_op *op, int64_t index, uint32_t size,
                         uint64_t elements[2])
{
    uint64_t count = op->count > 0 ? (uint64_t)op->count : 0;
    bool root_inside = op->root >= 0 && op->root < size;
    struct emu_call call = {.kind = op->call,
                            .count = count,
                            .dtype = op->dtype,
                            .root = root_inside ? (uint32_t)op->root : 0,
                            .layout = EMU_LAYOUT_EQUAL};
    elements[0] = op->kind == EMU_SCRIPT_RECV ? 0 : count;
    elements[1] = op->kind == EMU_SCRIPT_SEND ? 0 : count;
    if (op->kind != EMU_SCRIPT_COLLECTIVE || index < 0 || op->call == EMU_BROADCAST)
        return true; /* broadcast works in place, and an outsider's call moves nothing */
    elements[0] = emu_part_input(&call, (uint32_t)index, size);
    return emu_part_output(&call, (uint32_t)index, size, &elements[1]);
}

static enum emu_status check_peer(struct emu_script_call *call, const char *which, int64_t peer,
                                  uint32_t world)
{
    if (peer >= 0 && peer <= UINT32_MAX) /* one that is merely too large is refused below us */
        return EMU_OK;
    return refuse(call, "%s: no rank %" PRId64 " in the world; 0..%" PRIu32 " are allowed", which,
                  peer, world - 1);
}

/* Numbers that struct emu_call cannot hold, and would wrap to others. */
static enum emu_status check_numbers(struct emu_script_call *call, uint32_t world, uint32_t size)
{
    const struct emu_script_op *op = call->op;
    if (op->count < 0)
        return refuse(call, "%s: count is %" PRId64 "; 0 and more are allowed", op->name,
                      op->count);
    if (op->root < 0 || op->root > UINT32_MAX)
        return refuse(call, "%s: root %" PRId64 " is outside the group; 0..%" PRIu32 " are allowed",
                      op->name, op->root, size - 1);
    enum emu_status status = check_peer(call, op->name, op->to, world);
    return status ? status : check_peer(call, op->name, op->from, world);
}

static enum emu_status make_buffer(void **buffer, uint64_t count, enum emu_dtype dtype)
{
    uint64_t bytes;
    if (!emu_mul_fits(count, emu_dtype_bytes(dtype), &bytes) || bytes > SIZE_MAX)
        return EMU_ENOMEM;
    *buffer = bytes ? malloc(bytes) : NULL;
    return *buffer || !bytes ? EMU_OK : EMU_ENOMEM;
}

/* Both filled: what a call does not write is then seen as the caller's own. */
static enum emu_status make_buffers(struct emu_script_call *call, bool in_place, double value)
{
    enum emu_dtype dtype = call->op->dtype;
    enum emu_status status = make_buffer(&call->input, call->input_count, dtype);
    if (status == EMU_OK && in_place)
        call->output = call->input;
    else if (status == EMU_OK)
        status = make_buffer(&call->output, call->output_count, dtype);
    if (status != EMU_OK)
        return status;
    emu_script_fill(call->input, call->input_count, dtype, value);
    if (!in_place)
        emu_script_fill(call->output, call->output_count, dtype, value);
    return EMU_OK;
}

/* One call struct for each half of the op. */
static void describe(struct emu_script_call *call, const char *file, uint32_t group)
{
    const struct emu_script_op *op = call->op;
    struct emu_call each = {
        .kind = op->call,
        .group = group,
        .count = (uint64_t)op->count,
        .dtype = op->dtype,
        .op = op->op,
        .root = (uint32_t)op->root,
        .tag = (int32_t)op->tag,
        .layout = EMU_LAYOUT_EQUAL,
        .input = call->input,
        .output = call->output,
        .file = file,
        .line = op->line,
    };
    if (op->kind == EMU_SCRIPT_COLLECTIVE)
        call->calls[call->count++] = each;
    each.group = EMU_GROUP_SELF;
    if (op->kind == EMU_SCRIPT_SEND || op->kind == EMU_SCRIPT_SENDRECV) {
        each.kind = EMU_SEND;
        each.peer = (uint32_t)op->to;
        call->calls[call->count++] = each;
    }
    if (op->kind == EMU_SCRIPT_RECV || op->kind == EMU_SCRIPT_SENDRECV) {
        each.kind = EMU_RECV;
        each.peer = (uint32_t)op->from;
        call->calls[call->count++] = each;
    }
}

enum emu_status emu_script_call_make(struct emu_rank *rank, const struct emu_script *script,
                                     const struct emu_script_op *op, double value,
                                     struct emu_script_call *call)
{
    uint32_t group = EMU_GROUP_SELF;
    *call = (struct emu_script_call){.op = op};
    if (op->kind == EMU_SCRIPT_COLLECTIVE)
        group = emu_script_group(script, op, emu_rank_id(rank));
    uint32_t size = emu_rank_group_size(rank, group);
    uint64_t elements[2];
    enum emu_status status = check_numbers(call, script->mesh.world, size);
    if (status == EMU_OK &&
        !emu_script_elements(op, emu_rank_group_index(rank, group), size, elements))
        status = EMU_ENOMEM;
    if (status == EMU_OK) {
        call->input_count = elements[0];
        call->output_count = elements[1];
        bool in_place = op->kind == EMU_SCRIPT_COLLECTIVE && op->call == EMU_BROADCAST;
        status = make_buffers(call, in_place, value);
    }
    if (status == EMU_EINVAL) /* told with what the script says, as far as it fits */
        call->input_count = call->output_count = 0;
    describe(call, script->name, group);
    return status;
}

enum emu_status emu_script_call_start(struct emu_rank *rank, struct emu_script_call *call)
{
    enum emu_status status = EMU_OK;
    for (uint32_t i = 0; i < call->count && status == EMU_OK; i++) {
        status = emu_start(rank, &call->calls[i], &call->requests[i]);
        call->begun += status == EMU_OK;
    }
    return status;
}

enum emu_status emu_script_call_wait(struct emu_rank *rank, struct emu_script_call *call)
{
    enum emu_status first = EMU_OK;
    for (uint32_t i = 0; i < call->begun; i++) {
        enum emu_status status = emu_wait(rank, call->requests[i]);
        if (first == EMU_OK)
            first = status;
    }
    call->begun = 0;
    return first;
}

void emu_script_call_finish(struct emu_script_call *call)
{
    if (call->output != call->input)
        free(call->output);
    free(call->input);
    *call = (struct emu_script_call){0};
}
