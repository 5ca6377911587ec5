#include "comm/fold.h"

#include <criterion/criterion.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* Fold three vectors of one element and finish. */
#define FOLD3(dtype, op, type, a, b, c)                                                            \
    __extension__({                                                                                \
        type values_[3] = {a, b, c};                                                               \
        emu_fold(dtype, op, &values_[0], &values_[1], 1);                                          \
        emu_fold(dtype, op, &values_[0], &values_[2], 1);                                          \
        emu_fold_finish(dtype, op, &values_[0], 1, 3);                                             \
        values_[0];                                                                                \
    })

/* dtype, C type, three exact values: sum, avg, min, max, prod. */
#define EXACT(dtype, type)                                                                         \
    cr_expect_eq(FOLD3(dtype, EMU_SUM, type, 6, 2, 4), (type)12);                                  \
    cr_expect_eq(FOLD3(dtype, EMU_AVG, type, 6, 2, 4), (type)4);                                   \
    cr_expect_eq(FOLD3(dtype, EMU_MIN, type, 6, 2, 4), (type)2);                                   \
    cr_expect_eq(FOLD3(dtype, EMU_MAX, type, 6, 2, 4), (type)6);                                   \
    cr_expect_eq(FOLD3(dtype, EMU_PROD, type, 6, 2, 4), (type)48)

Test(fold, computes_every_op_of_every_dtype)
{
    EXACT(EMU_F64, double);
    EXACT(EMU_F32, float);
    EXACT(EMU_I64, int64_t);
    EXACT(EMU_I32, int32_t);
    EXACT(EMU_U8, uint8_t);
}

Test(fold, of_integers_wraps_in_twos_complement)
{
    cr_expect_eq(FOLD3(EMU_I64, EMU_SUM, int64_t, INT64_MAX, 1, 0), INT64_MIN);
    cr_expect_eq(FOLD3(EMU_I64, EMU_PROD, int64_t, INT64_MIN, -1, 1), INT64_MIN);
    cr_expect_eq(FOLD3(EMU_I32, EMU_SUM, int32_t, INT32_MAX, INT32_MAX, 3), 1);
    cr_expect_eq(FOLD3(EMU_I32, EMU_PROD, int32_t, 65536, 65536, 5), 0);
    cr_expect_eq(FOLD3(EMU_U8, EMU_SUM, uint8_t, 200, 100, 0), 44);
    cr_expect_eq(FOLD3(EMU_U8, EMU_PROD, uint8_t, 255, 255, 255), 255);
}

Test(fold, of_integer_averages_truncates_towards_zero)
{
    cr_expect_eq(FOLD3(EMU_I64, EMU_AVG, int64_t, -5, 0, 0), -1);
    cr_expect_eq(FOLD3(EMU_I64, EMU_AVG, int64_t, 5, 0, 0), 1);
    cr_expect_eq(FOLD3(EMU_I32, EMU_AVG, int32_t, -8, 0, 0), -2);
    cr_expect_eq(FOLD3(EMU_I32, EMU_AVG, int32_t, INT32_MAX, INT32_MAX, 2), 0,
                 "of the wrapped sum");
    cr_expect_eq(FOLD3(EMU_U8, EMU_AVG, uint8_t, 200, 100, 0), 14, "of the wrapped sum");
}

Test(fold, of_floats_rounds_after_every_step_in_order)
{
    cr_expect_eq(FOLD3(EMU_F64, EMU_SUM, double, 1e300, -1e300, 1), 1);
    cr_expect_eq(FOLD3(EMU_F64, EMU_SUM, double, 1, 1e300, -1e300), 0);
    cr_expect_eq(FOLD3(EMU_F32, EMU_SUM, float, 16777216.0f, 1, 1), 16777216.0f);
    cr_expect_eq(FOLD3(EMU_F64, EMU_AVG, double, 1, 0, 0), 1.0 / 3);
    cr_expect_eq(FOLD3(EMU_F32, EMU_AVG, float, 1, 0, 0), 1.0f / 3);
}

Test(fold, lets_the_first_nan_win_minimum_and_maximum)
{
    static const enum emu_op ops[] = {EMU_MIN, EMU_MAX};
    for (int i = 0; i < 2; i++) {
        cr_expect(isnan(FOLD3(EMU_F64, ops[i], double, NAN, 1, 2)));
        cr_expect(isnan(FOLD3(EMU_F64, ops[i], double, 1, NAN, 2)));
        cr_expect(isnan(FOLD3(EMU_F32, ops[i], float, 1, 2, NAN)));
        double first = nan("1"), second = nan("2");
        double kept = FOLD3(EMU_F64, ops[i], double, 0, first, second);
        cr_expect_eq(memcmp(&kept, &first, sizeof kept), 0, "the payload of the first");
        cr_expect(signbit(FOLD3(EMU_F64, ops[i], double, -0.0, 0.0, 0.0)),
                  "equal: the first stays");
        cr_expect(!signbit(FOLD3(EMU_F64, ops[i], double, 0.0, -0.0, -0.0)));
    }
    cr_expect_eq(FOLD3(EMU_F64, EMU_MAX, double, 1, INFINITY, 2), INFINITY);
    cr_expect_eq(FOLD3(EMU_F64, EMU_MIN, double, 1, -INFINITY, 2), -INFINITY);
}

Test(fold, of_the_ledger_field_is_exact_modulo_its_prime)
{
    uint64_t p = (UINT64_C(1) << 61) - 1;
    cr_expect_eq(FOLD3(EMU_FIELD61, EMU_SUM, uint64_t, p - 1, 2, p - 1), 0);
    cr_expect_eq(FOLD3(EMU_FIELD61, EMU_SUM, uint64_t, 5, 6, 7), 18);
}

Test(fold, knows_only_the_ops_that_mean_something)
{
    for (int op = 0; op < EMU_OP_COUNT; op++) {
        cr_expect_eq(emu_fold_knows(EMU_FIELD61, (enum emu_op)op), op == EMU_SUM);
        cr_expect_not(emu_fold_knows(EMU_BOUND32, (enum emu_op)op));
        cr_expect_not(emu_fold_knows(EMU_BOUND64, (enum emu_op)op));
        cr_expect(emu_fold_knows(EMU_U8, (enum emu_op)op));
    }
    cr_expect_not(emu_fold_knows((enum emu_dtype)88, EMU_SUM));
    cr_expect_not(emu_fold_knows(EMU_F64, (enum emu_op)88));
}

Test(fold, takes_any_alignment_and_leaves_the_rest_alone)
{
    unsigned char result[1 + 3 * 8 + 1] = {0}, next[2 + 3 * 8];
    result[0] = result[25] = 0x77;
    for (int i = 0; i < 3; i++) {
        double a = i, b = 10 * i;
        memcpy(result + 1 + i * 8, &a, 8);
        memcpy(next + 2 + i * 8, &b, 8);
    }
    emu_fold(EMU_F64, EMU_SUM, result + 1, next + 2, 3);
    for (int i = 0; i < 3; i++) {
        double sum;
        memcpy(&sum, result + 1 + i * 8, 8);
        cr_expect_eq(sum, 11 * i);
    }
    cr_expect(result[0] == 0x77 && result[25] == 0x77);
}
