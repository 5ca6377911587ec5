#include "fault/call_scratch.h"

#include "base/checked.h"
#include "comm/parts.h"

#include <stdlib.h>
#include <string.h>

struct sizes {
    uint64_t input, output; /* bytes */
};

/* Bytes that a call reads and writes on this rank. A call that its group will refuse has none. */
static enum emu_status measure(const struct emu_rank *rank, const struct emu_call *call,
                               struct sizes *sizes)
{
    uint64_t element = call->kind == EMU_BARRIER ? 0 : emu_dtype_bytes(call->dtype);
    uint64_t output = call->count;
    uint64_t input = call->count;
    if (call->kind != EMU_SEND && call->kind != EMU_RECV) {
        int64_t me = emu_rank_group_index(rank, call->group);
        uint32_t size = emu_rank_group_size(rank, call->group);
        if (me < 0)
            return EMU_ENOTMEMBER;
        input = emu_part_input(call, (uint32_t)me, size);
        if (!emu_part_output(call, (uint32_t)me, size, &output))
            return EMU_ERANGE;
    }
    if (!emu_mul_fits(input, element, &sizes->input) ||
        !emu_mul_fits(output, element, &sizes->output))
        return EMU_ERANGE;
    return EMU_OK;
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Zeroed, and never NULL: count 0 with a buffer is legal too. */
static void *room_for(uint64_t bytes)
{
    return calloc(1, bytes ? bytes : 1);
}

enum emu_status emu_call_scratch_init(struct emu_call_scratch *scratch, const struct emu_rank *rank,
                                      const struct emu_call *asked, const struct emu_call *made)
{
    struct sizes before, after;
    enum emu_status status = measure(rank, asked, &before);
    if (status == EMU_OK)
        status = measure(rank, made, &after);
    if (status != EMU_OK)
        return status;
    struct emu_call_scratch s = {.asked = *asked, .made = *made};
    s.input = room_for(after.input);
    s.output = room_for(after.output);
    s.ledger = asked->ledger ? room_for(asked->ledger_count * sizeof *s.ledger) : NULL;
    if (!s.input || !s.output || (asked->ledger && !s.ledger)) {
        emu_call_scratch_finish(&s);
        return EMU_ENOMEM;
    }
    if (asked->input && before.input)
        memcpy(s.input, asked->input, at_most(before.input, after.input));
    if (asked->ledger)
        memcpy(s.ledger, asked->ledger, asked->ledger_count * sizeof *s.ledger);
    s.made.input = s.input;
    s.made.output = s.output;
    s.made.ledger = s.ledger;
    s.output_bytes = asked->output ? at_most(before.output, after.output) : 0;
    *scratch = s;
    return EMU_OK;
}

void emu_call_scratch_return(const struct emu_call_scratch *scratch)
{
    if (scratch->output_bytes)
        memcpy(scratch->asked.output, scratch->output, scratch->output_bytes);
    if (scratch->ledger)
        memcpy(scratch->asked.ledger, scratch->ledger,
               scratch->asked.ledger_count * sizeof *scratch->ledger);
}

void emu_call_scratch_finish(struct emu_call_scratch *scratch)
{
    free(scratch->input);
    free(scratch->output);
    free(scratch->ledger);
    *scratch = (struct emu_call_scratch){0};
}
