#include "seg/header.h"
#include "seg/slot.h"
#include "small_segment.h"

#include <criterion/criterion.h>

Test(segment_plan, cuts_disjoint_page_aligned_regions)
{
    static const char *const meshes[] = {"dp=1", "dp=2,tp=2", "dp=3,tp=5,pp=7", "dp=4096"};
    for (size_t m = 0; m < sizeof meshes / sizeof meshes[0]; m++) {
        struct small_segment small = {0};
        cr_assert_eq(small_plan(&small, meshes[m], 5000), EMU_OK);
        const struct emu_segment *s = &small.segment;
        const uint64_t starts[] = {s->strips,   s->gates, s->incidents, s->groups, s->stages,
                                   s->outboxes, s->sites, s->records,   s->arenas, s->bytes};
        for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
            cr_expect_eq(starts[i] % 4096, 0);
            cr_expect(starts[i] > (i ? starts[i - 1] : 0), "%s region %zu", meshes[m], i);
        }
        cr_expect_eq(s->bytes - s->arenas, s->world * UINT64_C(8192));
        cr_expect_geq(s->gates - s->strips, s->world * EMU_STRIP_BYTES);
        cr_expect_eq(s->arenas - s->records, s->world * UINT64_C(4096));
        cr_expect_geq(s->arena_bytes, 5000);
        small_close(&small);
    }
}

Test(segment_plan, keeps_large_worlds_reservable)
{
    struct small_segment small = {0};
    cr_assert_eq(small_plan(&small, "dp=64,tp=64", 0), EMU_OK);
    cr_expect_lt(small.segment.bytes, UINT64_C(1) << 31, "%lu MiB without arenas",
                 (unsigned long)(small.segment.bytes >> 20));
    small_close(&small);
}

Test(segment_plan, refuses_what_does_not_fit)
{
    struct small_segment small = {0};
    cr_expect_eq(small_plan(&small, "dp=4", UINT64_MAX), EMU_ERANGE);
    cr_expect_eq(small_plan(&small, "dp=4", UINT64_MAX / 5), EMU_ERANGE);
    cr_expect_eq(small_plan(&small, "dp=4194304", 0), EMU_ERANGE, "more ranks than processes");
    cr_expect_eq(small_plan(&small, "dp=2147483648", 0), EMU_ERANGE);
}

Test(segment_init, writes_who_it_belongs_to)
{
    struct small_segment small;
    cr_assert(small_open(&small, "dp=2,tp=2"));
    const struct emu_header *header = (const void *)small.segment.base;
    cr_expect_eq(header->magic, EMU_SEGMENT_MAGIC);
    cr_expect_eq(header->layout, EMU_SEGMENT_LAYOUT);
    cr_expect_eq(header->world, 4);
    cr_expect_eq(header->bytes, small.segment.bytes);
    small_close(&small);
}

/* Slots of all groups, their entries and stages: no two share a byte. */
Test(ring, gives_every_member_its_own_bytes)
{
    struct small_segment small;
    cr_assert(small_open(&small, "dp=2,tp=3"));
    uint64_t count = 0;
    for (uint32_t g = 0; g < small.roster.group_count; g++) {
        struct emu_ring ring = emu_ring_of(&small.segment, g);
        unsigned char *start = (unsigned char *)ring.head;
        cr_expect(start >= small.segment.base + small.segment.groups);
        for (uint64_t k = 0; k < EMU_SLOTS; k++)
            for (uint32_t m = 0; m < ring.size; m++) {
                struct emu_slot_entry *entry = emu_ring_entry(&ring, k, m);
                cr_expect((unsigned char *)(entry + 1) <=
                          small.segment.base + small.segment.stages);
                cr_expect_eq(entry->input, 0, "nobody has marked it yet");
                entry->input = 1;
                for (uint64_t round = 0; round < 2; round++) {
                    unsigned char *stage = emu_ring_deposit(&ring, k, m, round, ring.chunk_bytes);
                    cr_expect(stage[0] == 0 && stage[ring.chunk_bytes - 1] == 0);
                    stage[0] = stage[ring.chunk_bytes - 1] = 1;
                    count++;
                }
            }
    }
    cr_expect_eq(count * emu_ring_of(&small.segment, 0).chunk_bytes, small.segment.stage_bytes * 6,
                 "the stages are used up exactly");
    small_close(&small);
}

static bool apart(const unsigned char *a, uint64_t a_bytes, const unsigned char *b,
                  uint64_t b_bytes)
{
    return a + a_bytes <= b || b + b_bytes <= a;
}

/* Until their signatures are compared, members deposit what each of them believes the call to be.
 */
Test(ring, keeps_deposits_apart_of_members_that_do_not_agree)
{
    static const uint64_t bytes[] = {1, 64, 65, 128, 129, 255, 256, 257, 4096, 5000, 40000, 65536};
    enum { SIZES = sizeof bytes / sizeof bytes[0] };
    struct small_segment small;
    cr_assert(small_open(&small, "dp=2,tp=3"));
    struct emu_ring ring = emu_ring_of(&small.segment, 0);
    cr_assert_eq(ring.chunk_bytes, bytes[SIZES - 1]);
    for (size_t i = 0; i < SIZES; i++)
        for (size_t j = 0; j < SIZES; j++)
            for (uint32_t m = 0; m < ring.size; m++)
                for (uint32_t other = 0; other < ring.size; other++)
                    cr_expect(m == other ||
                                  apart(emu_ring_deposit(&ring, 3, m, 0, bytes[i]), bytes[i],
                                        emu_ring_deposit(&ring, 3, other, 0, bytes[j]), bytes[j]),
                              "%u with %lu bytes, %u with %lu", m, (unsigned long)bytes[i], other,
                              (unsigned long)bytes[j]);
    for (size_t i = 0; i < SIZES; i++)
        for (uint32_t m = 0; m < ring.size; m++)
            cr_expect(apart(emu_ring_deposit(&ring, 3, m, 0, bytes[i]), bytes[i],
                            emu_ring_result(&ring, 3), bytes[i]),
                      "the result of %lu bytes", (unsigned long)bytes[i]);
    small_close(&small);
}
