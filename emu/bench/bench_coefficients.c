#include "bench/bench_coefficients.h"

#include "base/wide.h"
#include "seg/kinds.h"

#define PRIME ((UINT64_C(1) << 61) - 1)
#define ANY UINT64_MAX /* a depends on no place, b on no member */

static uint64_t plus(uint64_t a, uint64_t b)
{
    return (a + b) % PRIME;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return (uint64_t)((emu_u128)a * b % PRIME);
}

/* 1/n: the multiple of n among 1, p + 1, 2 p + 1 ..., by n. 0 < n < p. */
static uint64_t inverse(uint64_t n)
{
    emu_u128 one = 1;
    while (one % n != 0)
        one += PRIME;
    return (uint64_t)(one / n);
}

static uint64_t of_member(const struct emu_bench_data *data, uint64_t member)
{
    return emu_bench_draw(member, ANY, data->salt) % PRIME;
}

static uint64_t of_place(const struct emu_bench_data *data, uint64_t place)
{
    return emu_bench_draw(ANY, place, data->salt) % PRIME;
}

static bool is_folded(const struct emu_bench_data *data)
{
    return emu_kind_reduces(data->op) && emu_bench_op_writes(data->op, data->me == data->root);
}

void emu_bench_coefficients_fill(const struct emu_bench_data *data, uint64_t *coefficients,
                                 uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        coefficients[i] = plus(of_member(data, data->me), of_place(data, i));
}

uint64_t emu_bench_coefficients_verify(const struct emu_bench_data *data,
                                       const uint64_t *coefficients, uint32_t count,
                                       struct emu_bench_complaint *first)
{
    uint64_t sum = of_member(data, data->op == EMU_BROADCAST ? data->root : data->me);
    uint64_t members = 1, wrong = 0;
    if (is_folded(data)) {
        sum = 0;
        for (members = 0; members < data->size; members++)
            sum = plus(sum, of_member(data, members));
    }
    uint64_t share = is_folded(data) && data->reduce == EMU_AVG ? inverse(members) : 1;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t right = times(plus(sum, times(members, of_place(data, i))), share);
        if (coefficients[i] == right)
            continue;
        if (wrong++ == 0)
            *first = (struct emu_bench_complaint){.position = i,
                                                  .expected = (double)right,
                                                  .got = (double)coefficients[i],
                                                  .is_coefficient = true};
    }
    return wrong;
}
