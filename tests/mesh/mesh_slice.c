#include <meshemu/mesh.h>

#include <criterion/criterion.h>
#include <criterion/theories.h>

TheoryDataPoints(mesh_slice, parts_tile_exactly) = {
    DataPoints(uint64_t, 0, 1, 2, 3, 7, 8, 9, 100, 256, UINT64_C(1) << 40, UINT64_MAX),
    DataPoints(uint64_t, 1, 2, 3, 4, 5, 8, 33),
};

Theory((uint64_t n, uint64_t parts), mesh_slice, parts_tile_exactly)
{
    uint64_t chunk_end = 0;
    uint64_t even_end = 0;
    uint64_t each = n / parts + (n % parts != 0);
    for (uint64_t i = 0; i < parts; i++) {
        struct emu_slice chunk = emu_slice_chunk(n, parts, i);
        struct emu_slice even = emu_slice_even(n, parts, i);
        cr_assert_eq(chunk.start, chunk_end);
        cr_assert_eq(even.start, even_end);
        cr_assert_leq(chunk.count, each);
        cr_assert(chunk.count == each || chunk.start + chunk.count == n);
        cr_assert_eq(even.count, n / parts + (i < n % parts));
        chunk_end += chunk.count;
        even_end += even.count;
    }
    cr_assert_eq(chunk_end, n);
    cr_assert_eq(even_end, n);
}

Test(mesh_slice, later_chunks_are_short_or_empty)
{
    const uint64_t counts[] = {2, 2, 1, 0}; /* 5 elements over 4 parts: chunks of 2 */
    for (uint64_t i = 0; i < 4; i++)
        cr_assert_eq(emu_slice_chunk(5, 4, i).count, counts[i]);
    cr_assert_eq(emu_slice_chunk(5, 4, 3).start, 5);
    cr_assert_eq(emu_slice_even(5, 4, 0).count, 2);
    cr_assert_eq(emu_slice_even(5, 4, 3).count, 1);
}
