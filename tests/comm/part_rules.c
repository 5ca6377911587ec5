/* Parts of every kind cover what they must: checked over all small counts and group sizes. */
#include "comm/parts.h"

#include <criterion/criterion.h>

static struct emu_call call_of(enum emu_kind kind, uint64_t count, enum emu_layout layout,
                               uint32_t root)
{
    return (struct emu_call){.kind = kind, .count = count, .layout = layout, .root = root};
}

/* Every element of every output is written by exactly one source (copies) or by all (folds). */
static void check_cover(const struct emu_call *call, uint32_t size)
{
    for (uint32_t me = 0; me < size; me++) {
        unsigned written[512] = {0};
        uint64_t out;
        cr_assert(emu_part_output(call, me, size, &out));
        for (uint32_t source = 0; source < size; source++) {
            struct emu_part part = emu_part_taken(call, me, size, source);
            cr_assert_leq(part.take.start + part.take.count,
                          part.take.count ? emu_part_input(call, source, size) : UINT64_MAX);
            for (uint64_t i = 0; i < part.take.count; i++)
                written[part.at + i]++;
        }
        for (uint64_t i = 0; i < 512; i++)
            cr_assert_eq(written[i],
                         i >= out                       ? 0
                         : emu_kind_reduces(call->kind) ? size
                                                        : 1,
                         "%s count %lu size %u me %u", emu_kind_name(call->kind),
                         (unsigned long)call->count, size, me);
    }
}

Test(parts, cover_every_output_exactly)
{
    for (int kind = EMU_BROADCAST; kind <= EMU_SCATTER; kind++)
        for (uint32_t size = 1; size <= 8; size++)
            for (uint64_t count = 0; count <= 40; count++)
                for (int layout = 0; layout < 2; layout++) {
                    struct emu_call call = call_of((enum emu_kind)kind, count,
                                                   (enum emu_layout)layout, (uint32_t)count % size);
                    check_cover(&call, size);
                }
}

Test(parts, largest_input_is_that_of_some_member_and_no_less_than_any)
{
    for (int kind = EMU_BARRIER; kind <= EMU_SCATTER; kind++)
        for (uint32_t size = 1; size <= 8; size++)
            for (uint64_t count = 0; count <= 20; count++)
                for (int layout = 0; layout < 2; layout++) {
                    struct emu_call call =
                        call_of((enum emu_kind)kind, count, (enum emu_layout)layout, size - 1);
                    uint64_t largest = 0;
                    for (uint32_t i = 0; i < size; i++) {
                        uint64_t one = emu_part_input(&call, i, size);
                        largest = one > largest ? one : largest;
                    }
                    cr_assert_eq(emu_part_input_max(&call, size), largest);
                }
}

Test(parts, in_place_writes_are_never_behind_the_deposit)
{
    /* an element is written at or before its place in the own input: see comm/shm_collective.c */
    static const enum emu_kind kinds[] = {EMU_ALL_REDUCE, EMU_REDUCE, EMU_REDUCE_SCATTER,
                                          EMU_SCATTER};
    for (size_t k = 0; k < 4; k++)
        for (uint32_t size = 1; size <= 8; size++)
            for (uint64_t count = 0; count <= 40; count++)
                for (uint32_t me = 0; me < size; me++) {
                    struct emu_call call = call_of(kinds[k], count, EMU_LAYOUT_EQUAL, me);
                    struct emu_part part = emu_part_taken(&call, me, size, me);
                    cr_assert(part.take.count == 0 || part.at <= part.take.start);
                }
}

Test(parts, output_that_no_memory_holds_is_refused)
{
    uint64_t out;
    struct emu_call call = call_of(EMU_ALL_GATHER, UINT64_MAX / 2, EMU_LAYOUT_EQUAL, 0);
    cr_expect_not(emu_part_output(&call, 0, 3, &out));
    call.layout = EMU_LAYOUT_CHUNKS;
    cr_expect(emu_part_output(&call, 0, 3, &out));
}
