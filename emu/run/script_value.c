#include "run/script_value.h"

#include <string.h>

/* The bounds are powers of two, which a double holds exactly. */
static int64_t integer_of(double value, double low, double high, int64_t most)
{
    if (value >= high)
        return most;
    return value <= low ? (int64_t)low : (int64_t)value;
}

/* The bytes of one element of this value. */
static void make_element(unsigned char element[8], enum emu_dtype dtype, double value)
{
    float f32;
    int64_t i64;
    int32_t i32;
    switch (dtype) {
    case EMU_F32:
        f32 = (float)value;
        memcpy(element, &f32, sizeof f32);
        break;
    case EMU_I64:
        i64 = integer_of(value, -0x1p63, 0x1p63, INT64_MAX);
        memcpy(element, &i64, sizeof i64);
        break;
    case EMU_I32:
        i32 = (int32_t)integer_of(value, -0x1p31, 0x1p31, INT32_MAX);
        memcpy(element, &i32, sizeof i32);
        break;
    case EMU_U8:
        element[0] = (unsigned char)integer_of(value, 0, 0x1p8, UINT8_MAX);
        break;
    default: /* f64: scripts know no other */
        memcpy(element, &value, sizeof value);
        break;
    }
}

void emu_script_fill(void *buffer, uint64_t count, enum emu_dtype dtype, double value)
{
    unsigned char element[8];
    uint64_t bytes = emu_dtype_bytes(dtype);
    make_element(element, dtype, value);
    for (uint64_t i = 0; i < count; i++)
        memcpy((unsigned char *)buffer + i * bytes, element, bytes);
}

uint64_t emu_script_first(const void *buffer, enum emu_dtype dtype)
{
    uint64_t bits = 0;
    float f32;
    int32_t i32;
    double f64;
    switch (dtype) {
    case EMU_F32:
        memcpy(&f32, buffer, sizeof f32);
        f64 = (double)f32;
        memcpy(&bits, &f64, sizeof bits);
        break;
    case EMU_I32:
        memcpy(&i32, buffer, sizeof i32);
        bits = (uint64_t)(int64_t)i32;
        break;
    case EMU_U8:
        bits = *(const unsigned char *)buffer;
        break;
    default:
        memcpy(&bits, buffer, sizeof bits);
        break;
    }
    return bits;
}
