/* Shapes, factors and sizes: the arithmetic of a row. */
#include "bench/bench_op.h"

#include "bench/byte_range.h"

#include <criterion/criterion.h>
#include <math.h>

static void assert_factor(enum emu_kind op, uint32_t ranks, double factor)
{
    cr_assert(fabs(emu_bench_bus_factor(op, ranks) - factor) < 1e-12, "%s, %u ranks: %g",
              emu_bench_op_name(op), ranks, emu_bench_bus_factor(op, ranks));
}

Test(bench_op, bus_factors_are_those_of_nccl_tests)
{
    assert_factor(EMU_ALL_REDUCE, 4, 1.5);
    assert_factor(EMU_REDUCE_SCATTER, 4, 0.75);
    assert_factor(EMU_ALL_GATHER, 8, 0.875);
    assert_factor(EMU_ALL_TO_ALL, 2, 0.5);
    assert_factor(EMU_GATHER, 4, 0.75);
    assert_factor(EMU_SCATTER, 4, 0.75);
    assert_factor(EMU_BROADCAST, 4, 1);
    assert_factor(EMU_REDUCE, 4, 1);
    assert_factor(EMU_SEND, 4, 1);
    assert_factor(EMU_BARRIER, 4, 0);
    assert_factor(EMU_ALL_REDUCE, 1, 0);
}

Test(bench_op, every_op_is_found_by_its_name)
{
    for (unsigned i = 0; i < EMU_BENCH_OPS; i++) {
        enum emu_kind op = EMU_RECV;
        cr_assert(emu_bench_op_find(emu_bench_op_name(emu_bench_ops[i]), &op));
        cr_assert_eq(op, emu_bench_ops[i]);
    }
    enum emu_kind op = EMU_RECV;
    cr_assert_not(emu_bench_op_find("recv", &op));
    cr_assert_not(emu_bench_op_find("", &op));
    cr_assert_eq(op, EMU_RECV);
}

static void assert_shape(struct emu_bench_shape shape, uint64_t count, uint64_t input,
                         uint64_t output, uint64_t bytes)
{
    cr_assert_eq(shape.count, count);
    cr_assert_eq(shape.input, input);
    cr_assert_eq(shape.output, output);
    cr_assert_eq(shape.bytes, bytes);
}

Test(bench_op, bytes_count_the_whole_vector)
{
    assert_shape(emu_bench_shape_of(EMU_ALL_REDUCE, EMU_F32, 4, 64), 16, 16, 16, 64);
    assert_shape(emu_bench_shape_of(EMU_REDUCE_SCATTER, EMU_F32, 4, 64), 16, 16, 4, 64);
    assert_shape(emu_bench_shape_of(EMU_SCATTER, EMU_F32, 4, 64), 16, 16, 4, 64);
    assert_shape(emu_bench_shape_of(EMU_ALL_GATHER, EMU_F32, 4, 64), 4, 4, 16, 64);
    assert_shape(emu_bench_shape_of(EMU_GATHER, EMU_F32, 4, 64), 4, 4, 16, 64);
    assert_shape(emu_bench_shape_of(EMU_ALL_TO_ALL, EMU_F32, 4, 64), 16, 16, 16, 64);
    assert_shape(emu_bench_shape_of(EMU_BARRIER, EMU_F32, 4, 64), 0, 0, 0, 0);
}

Test(bench_op, sizes_round_down_to_whole_parts_but_not_to_nothing)
{
    assert_shape(emu_bench_shape_of(EMU_ALL_GATHER, EMU_F64, 3, 100), 4, 4, 12, 96);
    assert_shape(emu_bench_shape_of(EMU_ALL_TO_ALL, EMU_F64, 3, 1), 3, 3, 3, 24);
    assert_shape(emu_bench_shape_of(EMU_BROADCAST, EMU_F64, 3, 1), 1, 1, 1, 8);
}

Test(byte_range, bounds_and_units_are_read)
{
    struct emu_byte_range range;
    cr_assert(emu_byte_range_parse("8:4M", &range));
    cr_assert(range.low == 8 && range.high == 4 << 20);
    cr_assert(emu_byte_range_parse("3K", &range));
    cr_assert(range.low == 3072 && range.high == 3072);
    cr_assert(emu_byte_range_parse("1:1024G", &range));
    cr_assert(range.low == 1 && range.high == EMU_BYTE_RANGE_MAX);
}

Test(byte_range, anything_else_is_refused)
{
    static const char *const bad[] = {"",
                                      ":",
                                      "8:",
                                      ":8",
                                      "0:8",
                                      "9:8",
                                      "8:9:10",
                                      "-1:8",
                                      "8:4MB",
                                      "8 :9",
                                      "K:8K",
                                      "1.5:3",
                                      "1:1025G",
                                      "8:0x10",
                                      "8k",
                                      "18446744073709551616:18446744073709551617",
                                      "99999999999999999999999999999999:1"};
    struct emu_byte_range range = {5, 6};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_assert_not(emu_byte_range_parse(bad[i], &range), "'%s'", bad[i]);
    cr_assert(range.low == 5 && range.high == 6);
}
