#include "config/duration.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t ns;
};

static const struct unit units[] = {
    {"h", UINT64_C(3600000000000)}, {"m", UINT64_C(60000000000)}, {"s", UINT64_C(1000000000)},
    {"ms", UINT64_C(1000000)},      {"us", UINT64_C(1000)},       {"ns", UINT64_C(1)},
};

#define UNIT_COUNT (sizeof units / sizeof units[0])

static const struct unit *find_unit(const char *name)
{
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (!strcmp(name, units[i].name))
            return &units[i];
    }
    return NULL;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits as one integer, and how many of them stand behind the point. */
static const char *read_digits(const char *text, uint64_t *value, unsigned *behind)
{
    const char *at = text;
    bool point = false;
    for (; digit(*at) || (*at == '.' && !point && at != text); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        *behind += point;
        if (__builtin_mul_overflow(*value, UINT64_C(10), value) ||
            __builtin_add_overflow(*value, (uint64_t)(*at - '0'), value))
            return NULL;
    }
    return at == text || at[-1] == '.' ? NULL : at;
}

bool emu_duration_parse(const char *text, uint64_t *ns)
{
    uint64_t value = 0;
    unsigned behind = 0;
    const char *end = read_digits(text, &value, &behind);
    const struct unit *unit = end ? find_unit(end) : NULL;
    if (!unit)
        return false;
    uint64_t scale = unit->ns;
    for (; behind; behind--) {
        if (value % 10 == 0)
            value /= 10;
        else if (scale % 10 == 0)
            scale /= 10;
        else
            return false;
    }
    uint64_t product;
    if (__builtin_mul_overflow(value, scale, &product) || product > INT64_MAX)
        return false;
    *ns = product;
    return true;
}

const char *emu_duration_text(uint64_t ns, char out[EMU_DURATION_TEXT_MAX])
{
    size_t i = ns ? 0 : 2;
    while (ns % units[i].ns)
        i++;
    snprintf(out, EMU_DURATION_TEXT_MAX, "%" PRIu64 "%s", ns / units[i].ns, units[i].name);
    return out;
}
