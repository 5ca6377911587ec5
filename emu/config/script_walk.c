#include "config/script.h"

#include <assert.h>

void emu_script_walk_init(struct emu_script_walk *walk, const struct emu_script_entry *entry)
{
    walk->depth = 0;
    if (entry)
        walk->frames[walk->depth++] = (struct emu_script_frame){entry->ops, entry->count, 0, 0};
}

/* The innermost list is at its end: another round of it, or back to the one around it. */
static void end_round(struct emu_script_walk *walk)
{
    struct emu_script_frame *frame = &walk->frames[walk->depth - 1];
    if (frame->left > 0) {
        frame->left--;
        frame->next = 0;
    } else {
        walk->depth--;
    }
}

/* A repeat that executes nothing is passed by, however often it would do so. */
static void enter(struct emu_script_walk *walk, const struct emu_script_op *repeat)
{
    if (repeat->steps == 0)
        return;
    assert(walk->depth < EMU_SCRIPT_MAX_DEPTH);
    walk->frames[walk->depth++] =
        (struct emu_script_frame){repeat->body, repeat->body_count, 0, repeat->times - 1};
}

const struct emu_script_op *emu_script_walk_next(struct emu_script_walk *walk)
{
    while (walk->depth > 0) {
        struct emu_script_frame *frame = &walk->frames[walk->depth - 1];
        if (frame->next == frame->count) {
            end_round(walk);
            continue;
        }
        const struct emu_script_op *op = &frame->ops[frame->next++];
        if (op->kind != EMU_SCRIPT_REPEAT)
            return op;
        enter(walk, op);
    }
    return NULL;
}

const struct emu_script_entry *emu_script_entry_of(const struct emu_script *script, uint32_t rank)
{
    uint32_t entry = script->entry_of[rank];
    return entry == UINT32_MAX ? NULL : &script->entries[entry];
}

bool emu_script_op_is_call(const struct emu_script_op *op)
{
    return op->kind <= EMU_SCRIPT_SENDRECV;
}

bool emu_script_op_yields(const struct emu_script_op *op)
{
    return op->kind == EMU_SCRIPT_RECV || op->kind == EMU_SCRIPT_SENDRECV ||
           (op->kind == EMU_SCRIPT_COLLECTIVE && op->call != EMU_BARRIER);
}

uint32_t emu_script_group(const struct emu_script *script, const struct emu_script_op *op,
                          uint32_t rank)
{
    uint32_t group;
    if (emu_roster_group_of(&script->roster, op->family, rank, &group) == EMU_OK)
        return group;
    return script->roster.families[op->family].first_group;
}
