#include "bench/bench_data.h"

#include "seg/kinds.h"

#include <string.h>

#define PLACE_OF_NOBODY UINT64_MAX /* a(member) depends on no place, b(place) on no member */

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014) over the three numbers. */
uint64_t emu_bench_draw(uint64_t source, uint64_t place, uint64_t salt)
{
    uint64_t x = source * UINT64_C(0xd1b54a32d192ed03) + place * UINT64_C(0x9e3779b97f4a7c15) +
                 salt * UINT64_C(0x8cb92ba72f3d8dd7);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t of_member(const struct emu_bench_data *data, uint64_t member)
{
    return 1 + emu_bench_draw(member, PLACE_OF_NOBODY, data->salt) % 7;
}

static uint64_t of_place(const struct emu_bench_data *data, uint64_t place)
{
    return emu_bench_draw(PLACE_OF_NOBODY, place, data->salt) & 15;
}

static uint64_t moved_value(const struct emu_bench_data *data, uint64_t source, uint64_t place)
{
    return emu_bench_draw(source, place, data->salt) & (data->dtype == EMU_U8 ? 0xff : 0xffff);
}

/* What member `source` puts in at `place` of its input. */
static uint64_t input_value(const struct emu_bench_data *data, uint64_t source, uint64_t place)
{
    if (!emu_kind_reduces(data->op))
        return moved_value(data, source, place);
    if (data->reduce != EMU_PROD)
        return of_member(data, source) + of_place(data, place);
    return (place + data->salt) % data->size == source ? 2 + of_place(data, place) % 7 : 1;
}

/* The fold of all members at `place`; avg: before the division. */
static uint64_t folded_value(const struct emu_bench_data *data, uint64_t place)
{
    switch (data->reduce) {
    case EMU_MIN:
        return data->least + of_place(data, place);
    case EMU_MAX:
        return data->most + of_place(data, place);
    case EMU_PROD:
        return 2 + of_place(data, place) % 7;
    default:
        return data->sum + data->size * of_place(data, place);
    }
}

/* The right value at `position` of this member's output; avg: before the division. */
static uint64_t output_value(const struct emu_bench_data *data, uint64_t position)
{
    uint64_t part = data->shape.output; /* reduce_scatter and scatter */
    switch (data->op) {
    case EMU_REDUCE_SCATTER:
        return folded_value(data, data->me * part + position);
    case EMU_REDUCE:
    case EMU_ALL_REDUCE:
        return folded_value(data, position);
    case EMU_ALL_GATHER:
    case EMU_GATHER:
        part = data->shape.input;
        return moved_value(data, position / part, position % part);
    case EMU_ALL_TO_ALL:
        part = data->shape.input / data->size;
        return moved_value(data, position / part, data->me * part + position % part);
    case EMU_SCATTER:
        return moved_value(data, data->root, data->me * part + position);
    case EMU_BROADCAST:
        return moved_value(data, data->root, position);
    default: /* sendrecv: from the member before */
        return moved_value(data, (data->me + data->size - 1) % data->size, position);
    }
}

/* One element as it lies in memory. divisor: 1 but for avg. */
static void encode(enum emu_dtype dtype, uint64_t value, uint32_t divisor, void *to)
{
    switch (dtype) {
    case EMU_F64: {
        double number = (double)value / divisor;
        memcpy(to, &number, sizeof number);
        break;
    }
    case EMU_F32: {
        float number = (float)value / (float)divisor;
        memcpy(to, &number, sizeof number);
        break;
    }
    case EMU_I32: {
        uint32_t number = (uint32_t)(value / divisor);
        memcpy(to, &number, sizeof number);
        break;
    }
    case EMU_U8: {
        uint8_t number = (uint8_t)((value & 0xff) / divisor);
        memcpy(to, &number, sizeof number);
        break;
    }
    default: { /* i64, field61 */
        uint64_t number = value / divisor;
        memcpy(to, &number, sizeof number);
    }
    }
}

static double decode(enum emu_dtype dtype, const void *from)
{
    double f64;
    float f32;
    int64_t i64;
    int32_t i32;
    switch (dtype) {
    case EMU_F64:
        memcpy(&f64, from, sizeof f64);
        return f64;
    case EMU_F32:
        memcpy(&f32, from, sizeof f32);
        return (double)f32;
    case EMU_I32:
        memcpy(&i32, from, sizeof i32);
        return i32;
    case EMU_U8:
        return *(const uint8_t *)from;
    default:
        memcpy(&i64, from, sizeof i64);
        return (double)i64;
    }
}

void emu_bench_data_init(struct emu_bench_data *data)
{
    data->sum = data->most = 0;
    data->least = UINT64_MAX;
    for (uint64_t member = 0; member < data->size; member++) {
        uint64_t a = of_member(data, member);
        data->sum += a;
        data->least = a < data->least ? a : data->least;
        data->most = a > data->most ? a : data->most;
    }
}

void emu_bench_data_fill(const struct emu_bench_data *data, void *input)
{
    unsigned char *to = input;
    uint64_t size = emu_dtype_bytes(data->dtype);
    for (uint64_t i = 0; i < data->shape.input; i++)
        encode(data->dtype, input_value(data, data->me, i), 1, to + i * size);
}

uint64_t emu_bench_data_verify(const struct emu_bench_data *data, const void *output,
                               struct emu_bench_complaint *first)
{
    const unsigned char *from = output;
    uint64_t size = emu_dtype_bytes(data->dtype), wrong = 0;
    bool divides = emu_kind_reduces(data->op) && data->reduce == EMU_AVG;
    for (uint64_t i = 0; i < data->shape.output; i++) {
        unsigned char right[8];
        encode(data->dtype, output_value(data, i), divides ? data->size : 1, right);
        if (memcmp(right, from + i * size, size) == 0)
            continue;
        if (wrong++ == 0)
            *first = (struct emu_bench_complaint){i, decode(data->dtype, right),
                                                  decode(data->dtype, from + i * size), false};
    }
    return wrong;
}
