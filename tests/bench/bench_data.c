/* Is a wrong datum seen, and is a right one right? What collectives do is recomputed here member by
 * member, from the inputs. */
#include "bench/bench_data.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 5
#define BYTES 400

static struct emu_bench_data data_of(enum emu_kind op, enum emu_dtype dtype, enum emu_op reduce,
                                     uint32_t me)
{
    struct emu_bench_data data = {.op = op,
                                  .dtype = dtype,
                                  .reduce = reduce,
                                  .me = me,
                                  .size = SIZE,
                                  .root = 2,
                                  .salt = 9,
                                  .shape = emu_bench_shape_of(op, dtype, SIZE, BYTES)};
    emu_bench_data_init(&data);
    return data;
}

/* The inputs of all members, one after the other. */
static int32_t *inputs_of(enum emu_kind op, enum emu_op reduce)
{
    struct emu_bench_data data = data_of(op, EMU_I32, reduce, 0);
    int32_t *all = calloc(SIZE * data.shape.input, sizeof *all);
    cr_assert_not_null(all);
    for (data.me = 0; data.me < SIZE; data.me++)
        emu_bench_data_fill(&data, all + data.me * data.shape.input);
    return all;
}

static void assert_right(enum emu_kind op, enum emu_op reduce, uint32_t me, const int32_t *output)
{
    struct emu_bench_data data = data_of(op, EMU_I32, reduce, me);
    struct emu_bench_complaint first = {0};
    cr_assert_eq(emu_bench_data_verify(&data, output, &first), 0,
                 "%s, member %u, element %lu: %g is right, %g is there", emu_bench_op_name(op), me,
                 (unsigned long)first.position, first.expected, first.got);
}

static int32_t fold(const int32_t *all, uint64_t stride, uint64_t place, enum emu_op reduce)
{
    int32_t value = all[place];
    for (uint64_t i = 1; i < SIZE; i++) {
        int32_t next = all[i * stride + place];
        switch (reduce) {
        case EMU_MIN:
            value = next < value ? next : value;
            break;
        case EMU_MAX:
            value = next > value ? next : value;
            break;
        case EMU_PROD:
            value *= next;
            break;
        default:
            value += next;
        }
    }
    return reduce == EMU_AVG ? value / SIZE : value;
}

Test(bench_data, folds_of_the_inputs_are_right)
{
    int32_t output[BYTES / 4];
    for (unsigned reduce = 0; reduce < EMU_OP_COUNT; reduce++) {
        int32_t *all = inputs_of(EMU_ALL_REDUCE, (enum emu_op)reduce);
        for (uint64_t i = 0; i < BYTES / 4; i++)
            output[i] = fold(all, BYTES / 4, i, (enum emu_op)reduce);
        assert_right(EMU_ALL_REDUCE, (enum emu_op)reduce, 3, output);
        assert_right(EMU_REDUCE, (enum emu_op)reduce, 2, output);
        assert_right(EMU_REDUCE_SCATTER, (enum emu_op)reduce, 3, output + 3 * (BYTES / 4 / SIZE));
        free(all);
    }
}

Test(bench_data, parts_that_were_moved_are_right)
{
    enum { WHOLE = BYTES / 4, PART = WHOLE / SIZE };
    int32_t output[WHOLE];
    int32_t *all = inputs_of(EMU_ALL_GATHER, EMU_SUM);
    assert_right(EMU_ALL_GATHER, EMU_SUM, 1, all);
    assert_right(EMU_GATHER, EMU_SUM, 2, all);
    free(all);
    all = inputs_of(EMU_ALL_TO_ALL, EMU_SUM);
    for (uint64_t source = 0; source < SIZE; source++)
        memcpy(output + source * PART, all + source * WHOLE + 4 * PART, PART * sizeof *output);
    assert_right(EMU_ALL_TO_ALL, EMU_SUM, 4, output);
    assert_right(EMU_BROADCAST, EMU_SUM, 0, all + 2 * WHOLE);
    assert_right(EMU_SCATTER, EMU_SUM, 4, all + 2 * WHOLE + 4 * PART);
    assert_right(EMU_SEND, EMU_SUM, 0, all + (SIZE - 1) * WHOLE);
    assert_right(EMU_SEND, EMU_SUM, 3, all + 2 * WHOLE);
    free(all);
}

/* What a sendrecv gives is the input of the member before: right in every dtype. */
static void *right_bytes(enum emu_dtype dtype, struct emu_bench_data *data)
{
    unsigned char *bytes = malloc(BYTES);
    cr_assert_not_null(bytes);
    *data = data_of(EMU_SEND, dtype, EMU_SUM, 2);
    emu_bench_data_fill(data, bytes);
    *data = data_of(EMU_SEND, dtype, EMU_SUM, 3);
    return bytes;
}

Test(bench_data, one_flipped_bit_anywhere_is_seen)
{
    for (unsigned dtype = 0; dtype <= EMU_FIELD61; dtype++) {
        struct emu_bench_data data;
        struct emu_bench_complaint first;
        unsigned char *bytes = right_bytes((enum emu_dtype)dtype, &data);
        uint64_t size = emu_dtype_bytes((enum emu_dtype)dtype);
        cr_assert_eq(emu_bench_data_verify(&data, bytes, &first), 0);
        for (uint64_t bit = 0; bit < UINT64_C(8) * BYTES; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
            cr_assert_eq(emu_bench_data_verify(&data, bytes, &first), 1, "bit %lu",
                         (unsigned long)bit);
            cr_assert_eq(first.position, bit / 8 / size);
            bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
        }
        free(bytes);
    }
}

Test(bench_data, the_complaint_says_what_is_right_and_what_is_there)
{
    struct emu_bench_data data;
    struct emu_bench_complaint first;
    float *values = right_bytes(EMU_F32, &data);
    float right = values[17];
    values[17] = -1;
    values[40] = -1;
    cr_assert_eq(emu_bench_data_verify(&data, values, &first), 2);
    cr_assert_eq(first.position, 17);
    cr_assert_eq(first.expected, (double)right);
    cr_assert_eq(first.got, -1);
    free(values);
}

Test(bench_data, data_of_another_call_member_or_place_are_wrong)
{
    struct emu_bench_complaint first;
    struct emu_bench_data data = data_of(EMU_ALL_REDUCE, EMU_I32, EMU_SUM, 0);
    struct emu_bench_data other = data;
    int32_t output[BYTES / 4], *all = inputs_of(EMU_ALL_REDUCE, EMU_SUM);
    for (uint64_t i = 0; i < BYTES / 4; i++)
        output[i] = fold(all, BYTES / 4, i, EMU_SUM);
    cr_assert_eq(emu_bench_data_verify(&data, output, &first), 0);
    other.salt++;
    emu_bench_data_init(&other);
    cr_assert_gt(emu_bench_data_verify(&other, output, &first), 0, "a result of the call before");
    for (uint64_t i = 0; i < BYTES / 4; i++)
        output[i] -= all[i];
    cr_assert_eq(emu_bench_data_verify(&data, output, &first), BYTES / 4, "a member left out");
    for (uint64_t i = 0; i < BYTES / 4; i++)
        output[i] += 2 * all[i];
    cr_assert_eq(emu_bench_data_verify(&data, output, &first), BYTES / 4, "a member twice");
    free(all);
}
