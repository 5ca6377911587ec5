/* The loops of fold.h, for the compiler to vectorise; compiled once for each variant of the
 * processor (base/cpu_variant.h). Each element is folded alone, so every variant gives the same
 * bits. */
#include "comm/fold_kernels.h"

#include "ledger/field.h"

#include <string.h>

/* Loads and stores through memcpy: deposits may have any alignment, and compilers see through it.
 */
#define FOLD_LOOP(name, type, expression)                                                          \
    static void name(void *restrict result, const void *restrict next, uint64_t count)             \
    {                                                                                              \
        unsigned char *to = result;                                                                \
        const unsigned char *from = next;                                                          \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            type a, b;                                                                             \
            memcpy(&a, to + i * sizeof a, sizeof a);                                               \
            memcpy(&b, from + i * sizeof b, sizeof b);                                             \
            a = (type)(expression);                                                                \
            memcpy(to + i * sizeof a, &a, sizeof a);                                               \
        }                                                                                          \
    }                                                                                              \
    static void name##_two(void *restrict result, const void *restrict one,                        \
                           const void *restrict next, uint64_t count)                              \
    {                                                                                              \
        unsigned char *to = result;                                                                \
        const unsigned char *first = one, *from = next;                                            \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            type a, b;                                                                             \
            memcpy(&a, first + i * sizeof a, sizeof a);                                            \
            memcpy(&b, from + i * sizeof b, sizeof b);                                             \
            a = (type)(expression);                                                                \
            memcpy(to + i * sizeof a, &a, sizeof a);                                               \
        }                                                                                          \
    }

#define FLOAT_LOOPS(prefix, type)                                                                  \
    FOLD_LOOP(prefix##_sum, type, a + b)                                                           \
    FOLD_LOOP(prefix##_prod, type, a *b)                                                           \
    FOLD_LOOP(prefix##_min, type, a != a ? a : (b != b || b < a) ? b : a)                          \
    FOLD_LOOP(prefix##_max, type, a != a ? a : (b != b || b > a) ? b : a)

/* wide: an unsigned type of at least int's width, so that nothing is promoted to a signed type. */
#define INTEGER_LOOPS(prefix, type, wide)                                                          \
    FOLD_LOOP(prefix##_sum, type, (wide)a + (wide)b)                                               \
    FOLD_LOOP(prefix##_prod, type, (wide)a *(wide)b)                                               \
    FOLD_LOOP(prefix##_min, type, b < a ? b : a)                                                   \
    FOLD_LOOP(prefix##_max, type, b > a ? b : a)

FLOAT_LOOPS(f64, double)
FLOAT_LOOPS(f32, float)
INTEGER_LOOPS(i64, int64_t, uint64_t)
INTEGER_LOOPS(i32, int32_t, uint32_t)
INTEGER_LOOPS(u8, uint8_t, uint32_t)
FOLD_LOOP(field61_sum, uint64_t, emu_field_add(emu_field_reduce(a), emu_field_reduce(b)))

/* Divide each element once. */
#define DIVIDE_LOOP(name, type, divisor_type)                                                      \
    static void name(void *result, uint64_t count, uint32_t members)                               \
    {                                                                                              \
        unsigned char *to = result;                                                                \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            type a;                                                                                \
            memcpy(&a, to + i * sizeof a, sizeof a);                                               \
            a = (type)(a / (divisor_type)members);                                                 \
            memcpy(to + i * sizeof a, &a, sizeof a);                                               \
        }                                                                                          \
    }

DIVIDE_LOOP(f64_divide, double, double)
DIVIDE_LOOP(f32_divide, float, float)
DIVIDE_LOOP(i64_divide, int64_t, int64_t)
DIVIDE_LOOP(i32_divide, int32_t, int64_t)
DIVIDE_LOOP(u8_divide, uint8_t, int64_t)

#define ROW(prefix)                                                                                \
    {                                                                                              \
        .step = {[EMU_SUM] = prefix##_sum,                                                         \
                 [EMU_AVG] = prefix##_sum,                                                         \
                 [EMU_MIN] = prefix##_min,                                                         \
                 [EMU_MAX] = prefix##_max,                                                         \
                 [EMU_PROD] = prefix##_prod},                                                      \
        .two = {[EMU_SUM] = prefix##_sum_two,                                                      \
                [EMU_AVG] = prefix##_sum_two,                                                      \
                [EMU_MIN] = prefix##_min_two,                                                      \
                [EMU_MAX] = prefix##_max_two,                                                      \
                [EMU_PROD] = prefix##_prod_two},                                                   \
        .divide = prefix##_divide                                                                  \
    }

const struct emu_fold_table EMU_VARIANT_NAME(emu_fold_table) = {
    .rows = {
        [EMU_F64] = ROW(f64),
        [EMU_F32] = ROW(f32),
        [EMU_I64] = ROW(i64),
        [EMU_I32] = ROW(i32),
        [EMU_U8] = ROW(u8),
        [EMU_FIELD61] = {.step = {[EMU_SUM] = field61_sum}, .two = {[EMU_SUM] = field61_sum_two}},
    }};
