/* Is a wrong coefficient seen, and is a right one right? Sums are made here member by member. */
#include "bench/bench_coefficients.h"

#include <criterion/criterion.h>

#define SIZE 5
#define COUNT 9
#define ROOT 2
#define PRIME ((UINT64_C(1) << 61) - 1)

static struct emu_bench_data data_of(enum emu_kind op, enum emu_op reduce, uint32_t me)
{
    return (struct emu_bench_data){
        .op = op, .reduce = reduce, .me = me, .size = SIZE, .root = ROOT, .salt = 4};
}

static uint64_t before(uint32_t member, uint32_t place)
{
    uint64_t all[COUNT];
    struct emu_bench_data data = data_of(EMU_ALL_REDUCE, EMU_SUM, member);
    emu_bench_coefficients_fill(&data, all, COUNT);
    return all[place];
}

static uint64_t sum_at(uint32_t place)
{
    uint64_t sum = 0;
    for (uint32_t m = 0; m < SIZE; m++)
        sum = (sum + before(m, place)) % PRIME;
    return sum;
}

/* 5 times it is the sum. */
static uint64_t mean_at(uint32_t place)
{
    const uint64_t fifth = UINT64_C(1844674407370955161); /* (4 p + 1) / 5 */
    uint64_t mean = 0, term = sum_at(place);
    for (uint64_t bits = fifth; bits; bits >>= 1, term = (term + term) % PRIME)
        mean = bits & 1 ? (mean + term) % PRIME : mean;
    return mean;
}

static uint64_t wrong_in(const struct emu_bench_data *data, const uint64_t *all)
{
    struct emu_bench_complaint first;
    return emu_bench_coefficients_verify(data, all, COUNT, &first);
}

static void assert_right(enum emu_kind op, enum emu_op reduce, uint32_t me,
                         uint64_t (*right)(uint32_t place))
{
    uint64_t all[COUNT];
    struct emu_bench_data data = data_of(op, reduce, me);
    struct emu_bench_complaint first;
    for (uint32_t i = 0; i < COUNT; i++)
        all[i] = right(i);
    cr_assert_eq(wrong_in(&data, all), 0, "%s at member %u", emu_bench_op_name(op), me);
    all[3] = (all[3] + 1) % PRIME;
    cr_assert_eq(emu_bench_coefficients_verify(&data, all, COUNT, &first), 1);
    cr_assert(first.is_coefficient && first.position == 3);
}

static uint64_t of_root(uint32_t place)
{
    return before(ROOT, place);
}

static uint64_t of_third(uint32_t place)
{
    return before(3, place);
}

Test(bench_coefficients, are_summed_where_output_is)
{
    assert_right(EMU_ALL_REDUCE, EMU_SUM, 3, sum_at);
    assert_right(EMU_ALL_REDUCE, EMU_MAX, 3, sum_at);
    assert_right(EMU_ALL_REDUCE, EMU_AVG, 3, mean_at);
    assert_right(EMU_REDUCE_SCATTER, EMU_AVG, 1, mean_at);
    assert_right(EMU_REDUCE, EMU_AVG, ROOT, mean_at);
    assert_right(EMU_REDUCE, EMU_SUM, 3, of_third);
}

Test(bench_coefficients, are_the_roots_after_a_broadcast_and_else_left_alone)
{
    assert_right(EMU_BROADCAST, EMU_SUM, 3, of_root);
    assert_right(EMU_BROADCAST, EMU_SUM, ROOT, of_root);
    assert_right(EMU_ALL_GATHER, EMU_SUM, 3, of_third);
    assert_right(EMU_SEND, EMU_SUM, 3, of_third);
}

/* Those of another call, or another member, are wrong. */
Test(bench_coefficients, differ_from_call_to_call_and_from_member_to_member)
{
    uint64_t all[COUNT];
    struct emu_bench_data data = data_of(EMU_BROADCAST, EMU_SUM, ROOT);
    data.salt++;
    emu_bench_coefficients_fill(&data, all, COUNT);
    data.salt--;
    cr_assert_eq(wrong_in(&data, all), COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        all[i] = before(3, i);
    cr_assert_eq(wrong_in(&data, all), COUNT);
}
