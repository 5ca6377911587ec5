#include "config/config.h"
#include "config/schema.h"

#include <string.h>

/* Where the third column begins. */
#define NAME_COLUMNS 28

static unsigned levels(const char *path)
{
    unsigned count = 0;
    for (; *path; path++)
        count += *path == '.';
    return count;
}

static const char *last_name(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

static const char *section_of(const char *path, char out[EMU_NAME_MAX * 2])
{
    const char *dot = strrchr(path, '.');
    size_t size = dot ? (size_t)(dot - path) : 0;
    if (size >= EMU_NAME_MAX * 2)
        size = EMU_NAME_MAX * 2 - 1;
    memcpy(out, path, size);
    out[size] = '\0';
    return out;
}

static void add_key(const struct emu_key *key, struct emu_text *out)
{
    char section[EMU_NAME_MAX * 2];
    unsigned indent = levels(key->path) * 2;
    emu_text_printf(out, "%*s%-*s %s\n", (int)indent, "", (int)(NAME_COLUMNS - indent),
                    last_name(key->path), key->help);
    emu_text_printf(out, "%*s ", NAME_COLUMNS, "");
    emu_schema_add_expected(key, out);
    if (key->fallback)
        emu_text_printf(out, "; default %s", key->fallback);
    if (key->required)
        emu_text_puts(out, "; required");
    if (key->variants)
        emu_text_printf(out, "; %s",
                        emu_schema_variant_name(section_of(key->path, section), key->variants));
    emu_text_putc(out, '\n');
}

void emu_config_help(struct emu_text *out)
{
    size_t count;
    const struct emu_key *rows = emu_schema_rows(&count);
    emu_text_puts(out, "Keys of a config, indented as they are nested. Any of them can be set on "
                       "the command\nline: --set model.hidden=128, --set mesh=dp=4,tp=2.\n\n");
    for (size_t i = 0; i < count; i++)
        add_key(&rows[i], out);
}
