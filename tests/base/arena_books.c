#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdalign.h>
#include <stdint.h>

static alignas(EMU_ARENA_ALIGN) unsigned char memory[1024];

Test(base_arena, carves_aligned_blocks_that_do_not_overlap)
{
    struct emu_arena arena;
    emu_arena_init(&arena, memory, sizeof memory);
    unsigned char *last_end = memory;
    const uint64_t sizes[] = {1, 63, 64, 65, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *block = emu_arena_alloc(&arena, EMU_WEIGHT, sizes[i]);
        cr_assert_not_null(block);
        cr_assert_eq((uintptr_t)block % EMU_ARENA_ALIGN, 0u);
        cr_assert(block >= last_end);
        last_end = block + sizes[i];
    }
}

Test(base_arena, counts_requested_and_rounded_bytes_apart)
{
    struct emu_arena arena;
    emu_arena_init(&arena, memory, sizeof memory);
    cr_assert_not_null(emu_arena_alloc(&arena, EMU_WEIGHT, 65));
    cr_assert_not_null(emu_arena_alloc(&arena, EMU_GRADIENT, 8));
    cr_assert_not_null(emu_arena_alloc(&arena, EMU_GRADIENT, 8));
    cr_assert_eq(arena.requested[EMU_WEIGHT], 65u);
    cr_assert_eq(arena.rounded[EMU_WEIGHT], 128u);
    cr_assert_eq(arena.requested[EMU_GRADIENT], 16u);
    cr_assert_eq(arena.rounded[EMU_GRADIENT], 128u);
    cr_assert_eq(arena.requested[EMU_MOMENTS], 0u);
    cr_assert_eq(arena.used, 256u);
}

Test(base_arena, refuses_what_does_not_fit_and_stays_whole)
{
    struct emu_arena arena;
    emu_arena_init(&arena, memory, 256);
    cr_assert_not_null(emu_arena_alloc(&arena, EMU_BUFFERS, 192));
    cr_assert_null(emu_arena_alloc(&arena, EMU_BUFFERS, 65));
    cr_assert_null(emu_arena_alloc(&arena, EMU_BUFFERS, UINT64_MAX));
    cr_assert_null(emu_arena_alloc(&arena, EMU_BUFFERS, UINT64_MAX - 63));
    cr_assert_eq(arena.requested[EMU_BUFFERS], 192u);
    cr_assert_not_null(emu_arena_alloc(&arena, EMU_BUFFERS, 64));
    cr_assert_null(emu_arena_alloc(&arena, EMU_BUFFERS, 1));
}

Test(base_arena, gives_a_valid_place_for_nothing)
{
    struct emu_arena arena;
    emu_arena_init(&arena, memory, sizeof memory);
    cr_assert_not_null(emu_arena_alloc(&arena, EMU_WEIGHT, 0));
    cr_assert_eq(arena.used, 0u);
}

Test(base_arena, names_its_categories)
{
    cr_assert_str_eq(emu_category_name(EMU_WEIGHT), "weight");
    cr_assert_str_eq(emu_category_name(EMU_BUFFERS), "buffers");
    cr_assert_str_eq(emu_category_name((enum emu_category)EMU_CATEGORY_COUNT), "?");
}
