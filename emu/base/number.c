#include "base/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_LIMIT 1e17 /* 17 digits tell every double apart: what is longer is told in short */

/* The C locale, made once by whichever thread comes first; (locale_t)0 where memory ran out.
 * release/acquire: what newlocale wrote is there for whoever sees the pointer. */
static locale_t c_locale(void)
{
    static _Atomic(locale_t) made;
    locale_t seen = atomic_load_explicit(&made, memory_order_acquire);
    if (seen)
        return seen;
    locale_t mine = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!mine || atomic_compare_exchange_strong_explicit(&made, &seen, mine, memory_order_release,
                                                         memory_order_acquire))
        return mine;
    freelocale(mine);
    return seen;
}

/* "1e+02" -> "100": %g leaves plain notation as soon as a number has more places than the digits
 * asked for. Such a number is an integer, and "%.0f" prints it exactly. */
static void print_plainly(double value, char out[EMU_NUMBER_MAX])
{
    if (strchr(out, 'e') && fabs(value) >= 1 && fabs(value) < PLAIN_LIMIT)
        snprintf(out, EMU_NUMBER_MAX, "%.0f", value);
}

const char *emu_number_f64(double value, char out[EMU_NUMBER_MAX])
{
    if (isnan(value))
        return strcpy(out, "nan");
    if (isinf(value))
        return strcpy(out, value > 0 ? "inf" : "-inf");
    locale_t callers = uselocale(c_locale());
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, EMU_NUMBER_MAX, "%.*g", digits, value);
        double back;
        if (emu_parse_f64(out, &back) && back == value)
            break;
    }
    print_plainly(value, out);
    uselocale(callers);
    return out;
}

bool emu_parse_f64(const char *text, double *out)
{
    if (!*text || !strchr("+-.0123456789", *text) || strpbrk(text, "xXpPnN"))
        return false;
    char *end;
    locale_t locale = c_locale();
    double value = locale ? strtod_l(text, &end, locale) : strtod(text, &end);
    if (end == text || *end || !isfinite(value))
        return false;
    *out = value;
    return true;
}

bool emu_parse_u64(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            return false;
    }
    *out = value;
    return true;
}

bool emu_parse_i64(const char *text, int64_t *out)
{
    bool negative = *text == '-';
    uint64_t magnitude;
    if (!emu_parse_u64(text + negative, &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}
