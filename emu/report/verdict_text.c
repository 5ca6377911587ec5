#include "report/verdict_text.h"

#include "check/finding_build.h"

#include <inttypes.h>

void emu_tone_text(const char *word, enum emu_tone tone, bool colour, struct emu_text *out)
{
    static const char *const escapes[] = {"\033[32m", "\033[1;31m", "\033[2m"};
    if (colour)
        emu_text_puts(out, escapes[tone]);
    emu_text_puts(out, word);
    if (colour)
        emu_text_puts(out, "\033[0m");
}

static void add_count(size_t count, const char *what, struct emu_text *out)
{
    if (count > 0)
        emu_text_printf(out, ", %zu %s%s", count, what, count == 1 ? "" : "s");
}

void emu_verdict_text(const struct emu_findings *findings, bool interrupted,
                      const struct emu_mesh *mesh, bool colour, struct emu_text *out)
{
    size_t faults = emu_findings_faults(findings);
    bool passed = faults == 0 && !interrupted;
    emu_text_puts(out, "verdict: ");
    emu_tone_text(passed ? "pass" : "fail", passed ? EMU_TONE_GOOD : EMU_TONE_BAD, colour, out);
    add_count(faults, "fault", out);
    add_count(findings->count - faults, "note", out);
    if (interrupted)
        emu_text_puts(out, ", interrupted: the ranks were ended");
    emu_text_putc(out, '\n');
    for (size_t i = 0; i < findings->count; i++) {
        emu_text_putc(out, '\n');
        emu_finding_to_text(&findings->items[i], mesh, out);
    }
}

void emu_processes_text(const struct emu_mesh *mesh, struct emu_text *out)
{
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        emu_text_printf(out, "%s%s=%" PRIu32, i > 0 ? "," : "", mesh->axes[i].name,
                        mesh->axes[i].size);
    emu_text_printf(out, ": %" PRIu32 " rank%s, one process each\n", mesh->world,
                    mesh->world == 1 ? "" : "s");
}
