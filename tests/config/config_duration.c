#include "config/duration.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct duration_case {
    char text[32];
    uint64_t ns;
    char back[32]; /* as it is printed again */
};

ParameterizedTestParameters(config_duration, reads_and_prints)
{
    static struct duration_case cases[] = {
        {"0s", 0, "0s"},
        {"1ns", 1, "1ns"},
        {"10ms", 10000000, "10ms"},
        {"2s", 2000000000, "2s"},
        {"1.25s", 1250000000, "1250ms"},
        {"0.5us", 500, "500ns"},
        {"1.50m", 90000000000, "90s"},
        {"1h", 3600000000000, "1h"},
        {"9223372036854775807ns", INT64_MAX, "9223372036854775807ns"},
    };
    return cr_make_param_array(struct duration_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(const struct duration_case *c, config_duration, reads_and_prints)
{
    uint64_t ns = 7;
    char text[EMU_DURATION_TEXT_MAX];
    cr_assert(emu_duration_parse(c->text, &ns), "%s", c->text);
    cr_expect_eq(ns, c->ns);
    cr_expect_str_eq(emu_duration_text(ns, text), c->back);
}

Test(config_duration, all_else_is_refused)
{
    static const char *const bad[] = {
        "",
        "5",
        "s",
        "-1s",
        "1 s",
        "1.s",
        ".5s",
        "1.2.3s",
        "1sec",
        "1s ",
        "0x1s",
        "1e3ms",
        "inf s",
        "1S",
        "1.5ns",
        "0.0000000001s",
        "9223372036854775808ns",
        "99999999999999999999s",
        "2562048h",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t ns = 7;
        cr_expect_not(emu_duration_parse(bad[i], &ns), "'%s'", bad[i]);
        cr_expect_eq(ns, 7);
    }
}
