#include "bench/byte_range.h"

#include "base/number.h"

#include <string.h>

/* A whole number and K, M or G. */
static bool parse_size(const char *text, size_t length, uint64_t *bytes)
{
    static const char units[] = "KMG";
    char digits[24];
    unsigned shift = 0;
    uint64_t number;
    if (length == 0 || length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    const char *unit = strchr(units, digits[length - 1]);
    if (unit) {
        shift = 10 * (unsigned)(unit - units + 1);
        digits[length - 1] = '\0';
    }
    if (!emu_parse_u64(digits, &number) || number < 1 || number > EMU_BYTE_RANGE_MAX >> shift)
        return false;
    *bytes = number << shift;
    return true;
}

bool emu_byte_range_parse(const char *text, struct emu_byte_range *range)
{
    struct emu_byte_range made;
    const char *colon = strchr(text, ':');
    size_t first = colon ? (size_t)(colon - text) : strlen(text);
    if (!parse_size(text, first, &made.low))
        return false;
    made.high = made.low;
    if (colon && !parse_size(colon + 1, strlen(colon + 1), &made.high))
        return false;
    if (made.low > made.high)
        return false;
    *range = made;
    return true;
}
