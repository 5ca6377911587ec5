#include "check/finding_values.h"

#include "check/text_table.h"

#include <inttypes.h>
#include <string.h>

#define INDENT EMU_FINDING_INDENT
#define PARAMETERS_SHOWN 16
#define SOURCES_SHOWN 8

static size_t line_length(const char *text)
{
    return strcspn(text, "\n");
}

/* A line of a text, whatever its bytes. */
static void add_part(struct emu_text *out, const char *text)
{
    struct emu_text line = {0};
    emu_text_add(&line, text, line_length(text));
    emu_text_visible(out, emu_text_get(&line));
    emu_text_finish(&line);
}

/* "every token counts 1/2, right is 1/4", "expected 1.5, got 3". */
static bool add_comparison(const struct emu_finding *finding, struct emu_text *out)
{
    if (!finding->expected && !finding->got)
        return false;
    emu_text_puts(out, INDENT);
    if (finding->coefficient_count > 0 && finding->expected && finding->got) {
        bool several = strstr(finding->got, " to ") != NULL;
        emu_text_printf(out, "%s %s, right is %s", several ? "tokens count" : "every token counts",
                        finding->got, finding->expected);
        return true;
    }
    if (finding->expected) {
        emu_text_puts(out, "expected ");
        emu_text_visible(out, finding->expected);
    }
    if (finding->got) {
        emu_text_puts(out, finding->expected ? ", got " : "got ");
        emu_text_visible(out, finding->got);
    }
    return true;
}

/* Does the explanation say what the ratio equals? */
static bool explains_ratio(const struct emu_finding *finding)
{
    size_t length = finding->ratio ? strlen(finding->ratio) : 0;
    return length > 0 && finding->explanation &&
           strncmp(finding->explanation, finding->ratio, length) == 0 &&
           strncmp(finding->explanation + length, " = ", 3) == 0;
}

/* The first line of an explanation is the reason, unless the ratio's line holds it; further lines
 * bring their own words. */
static void add_explanation(const struct emu_finding *finding, bool told, struct emu_text *out)
{
    const char *line = finding->explanation;
    for (bool first = true; line && *line; first = false) {
        if (!first || !told) {
            emu_text_puts(out, first ? INDENT "why: " : INDENT);
            add_part(out, line);
            emu_text_putc(out, '\n');
        }
        line += line_length(line);
        line += *line == '\n';
    }
}

static void add_values(const struct emu_finding *finding, struct emu_text *out)
{
    bool compared = add_comparison(finding, out);
    bool told = explains_ratio(finding);
    if (finding->ratio) {
        emu_text_puts(out, compared ? ": ratio " : INDENT "ratio ");
        add_part(out, told ? finding->explanation : finding->ratio);
    }
    if (compared || finding->ratio)
        emu_text_putc(out, '\n');
    add_explanation(finding, told, out);
}

static void add_parameters(const struct emu_finding *finding, struct emu_text *out)
{
    if (finding->parameter_count == 0)
        return;
    emu_text_printf(out, INDENT "%s: ", finding->parameter_count > 1 ? "parameters" : "parameter");
    for (size_t i = 0; i < finding->parameter_count && i < PARAMETERS_SHOWN; i++) {
        emu_text_puts(out, i > 0 ? ", " : "");
        emu_text_visible(out, finding->parameters[i]);
    }
    if (finding->parameter_count > PARAMETERS_SHOWN)
        emu_text_printf(out, ", ... (%zu of them)", finding->parameter_count);
    emu_text_putc(out, '\n');
}

/* Do all sources count the same, which the line of values says? */
static bool are_told(const struct emu_finding *finding)
{
    for (size_t i = 0; i < finding->coefficient_count; i++)
        if (!finding->got || strcmp(finding->coefficients[i].value, finding->got) != 0)
            return false;
    return true;
}

static void add_coefficient(const struct emu_coefficient_view *view, struct emu_text *out)
{
    emu_text_printf(out, "%s: %s", view->source, view->value);
    if (view->tokens > 0)
        emu_text_printf(out, " (%" PRIu64 " token%s)", view->tokens, view->tokens > 1 ? "s" : "");
}

/* "coefficients on rank 1: dp=0: 1/6, dp=1: 1/2". */
static void add_coefficients(const struct emu_finding *finding, struct emu_text *out)
{
    size_t count = finding->coefficient_count;
    if (are_told(finding))
        return;
    emu_text_puts(out, INDENT "coefficients");
    if (finding->coefficient_rank >= 0)
        emu_text_printf(out, " on rank %" PRId64, finding->coefficient_rank);
    emu_text_puts(out, ": ");
    for (size_t i = 0; i < count && i < SOURCES_SHOWN; i++) {
        emu_text_puts(out, i > 0 ? ", " : "");
        add_coefficient(&finding->coefficients[i], out);
    }
    if (count > SOURCES_SHOWN)
        emu_text_printf(out, ", ... (%zu sources)", count);
    emu_text_putc(out, '\n');
}

void emu_finding_values_text(const struct emu_finding *finding, struct emu_text *out)
{
    add_parameters(finding, out);
    add_coefficients(finding, out);
    add_values(finding, out);
}

void emu_delay_text(uint64_t ns, struct emu_text *out)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    double time = (double)ns;
    size_t unit = 0;
    while (time < units[unit].ns && units[unit].ns > 1)
        unit++;
    time /= units[unit].ns;
    emu_text_printf(out, time < 1e4 ? "%.4g %s" : "%.0f %s", time, units[unit].name);
}
