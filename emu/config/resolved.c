#include "base/number.h"
#include "config/config.h"
#include "config/duration.h"
#include "config/schema.h"
#include "config/source.h"

#include <inttypes.h>
#include <string.h>

static void add_section(const struct emu_config *config, const char *prefix, const void *base,
                        struct emu_text *out);

static const void *place_of(const void *base, size_t offset)
{
    return (const char *)base + offset;
}

/* Characters that a YAML reader would not take raw, or that end a JSON string. */
static bool must_escape(uint32_t c)
{
    return c < 0x20 || c == '"' || c == '\\' || (c >= 0x7f && c < 0xa0) || c == 0x2028 ||
           c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff;
}

static void add_string(const char *text, struct emu_text *out)
{
    size_t size = strlen(text);
    emu_text_putc(out, '"');
    for (size_t i = 0; i < size;) {
        uint32_t c = 0xfffd;
        size_t length = emu_utf8_next(text + i, size - i, &c);
        if (!length || must_escape(c))
            emu_text_printf(out, "\\u%04x", c);
        else
            emu_text_add(out, text + i, length);
        i += length ? length : 1;
    }
    emu_text_putc(out, '"');
}

static void add_number(double value, struct emu_text *out)
{
    char text[EMU_NUMBER_MAX];
    emu_text_puts(out, emu_number_f64(value, text));
}

static void add_strings(char *const *texts, size_t count, struct emu_text *out)
{
    emu_text_putc(out, '[');
    for (size_t i = 0; i < count; i++) {
        emu_text_puts(out, i ? ", " : "");
        add_string(texts[i], out);
    }
    emu_text_putc(out, ']');
}

static void add_mesh(const struct emu_config *config, struct emu_text *out)
{
    const struct emu_mesh *mesh = &config->mesh;
    if (!mesh->rank_at) {
        add_string(config->mesh_axes, out);
        return;
    }
    emu_text_puts(out, "{\"axes\": ");
    add_string(config->mesh_axes, out);
    emu_text_puts(out, ", \"ranks\": [");
    for (uint32_t place = 0; place < mesh->world; place++)
        emu_text_printf(out, "%s%" PRIu32, place ? ", " : "", mesh->rank_at[place]);
    emu_text_puts(out, "]}");
}

static void add_token(const struct emu_token_list *list, uint64_t token, struct emu_text *out)
{
    const double *value = list->value + token * list->features;
    if (list->masked[token]) {
        emu_text_puts(out, "null");
        return;
    }
    emu_text_puts(out, list->features > 1 ? "[" : "");
    for (uint64_t i = 0; i < list->features; i++) {
        emu_text_puts(out, i ? ", " : "");
        add_number(value[i], out);
    }
    emu_text_puts(out, list->features > 1 ? "]" : "");
}

static void add_microbatches(const struct emu_token_list *list, uint64_t rank, struct emu_text *out)
{
    emu_text_putc(out, '[');
    for (uint64_t mb = 0; mb < list->microbatches; mb++) {
        const uint64_t *first = list->first + rank * list->microbatches + mb;
        emu_text_puts(out, mb ? ", [" : "[");
        for (uint64_t token = first[0]; token < first[1]; token++) {
            emu_text_puts(out, token > first[0] ? ", " : "");
            add_token(list, token, out);
        }
        emu_text_putc(out, ']');
    }
    emu_text_putc(out, ']');
}

static void add_tokens(const struct emu_token_list *list, struct emu_text *out)
{
    bool cp = list->cp_count > 1;
    emu_text_putc(out, '[');
    for (uint64_t rank = 0; rank < (uint64_t)list->dp_count * list->cp_count; rank++) {
        bool begins = rank % list->cp_count == 0;
        emu_text_puts(out, rank ? ", " : "");
        emu_text_puts(out, cp && begins ? "[" : "");
        add_microbatches(list, rank, out);
        emu_text_puts(out, cp && (rank + 1) % list->cp_count == 0 ? "]" : "");
    }
    emu_text_putc(out, ']');
}

static void add_axes(const struct emu_key *key, const void *base, struct emu_text *out)
{
    bool dp = *(const bool *)place_of(base, key->offset);
    bool cp = *(const bool *)place_of(base, key->extra);
    emu_text_printf(out, "[%s%s%s]", dp ? "\"dp\"" : "", dp && cp ? ", " : "", cp ? "\"cp\"" : "");
}

static void add_counts(const struct emu_key *key, const void *base, struct emu_text *out)
{
    const uint64_t *values = *(uint64_t *const *)place_of(base, key->offset);
    size_t count = *(const size_t *)place_of(base, key->extra);
    emu_text_putc(out, '[');
    for (size_t i = 0; i < count; i++)
        emu_text_printf(out, "%s%" PRIu64, i ? ", " : "", values[i]);
    emu_text_putc(out, ']');
}

static void add_reductions(const struct emu_config *config, struct emu_text *out)
{
    emu_text_putc(out, '[');
    for (size_t i = 0; i < config->recipe.reduce_count; i++) {
        emu_text_puts(out, i ? ", " : "");
        add_section(config, "recipe.reduce[]", &config->recipe.reduce[i], out);
    }
    emu_text_putc(out, ']');
}

static void add_word(const struct emu_key *key, const void *place, struct emu_text *out)
{
    bool is_op = !strcmp(key->path, "recipe.reduce[].op");
    unsigned value = is_op ? *(const bool *)place : *(const unsigned *)place;
    const struct emu_word *word = key->words;
    while (word->name && word->value != value)
        word++;
    add_string(word->name ? word->name : "", out);
}

static void add_scalar(const struct emu_key *key, const void *place, struct emu_text *out)
{
    char text[EMU_DURATION_TEXT_MAX];
    uint64_t number;
    switch (key->kind) {
    case EMU_KEY_U64:
        emu_text_printf(out, "%" PRIu64, *(const uint64_t *)place);
        break;
    case EMU_KEY_F64:
        add_number(*(const double *)place, out);
        break;
    case EMU_KEY_BOOL:
        emu_text_puts(out, *(const bool *)place ? "true" : "false");
        break;
    case EMU_KEY_WORD:
        add_word(key, place, out);
        break;
    case EMU_KEY_DURATION:
        memcpy(&number, place, sizeof number);
        add_string(emu_duration_text(number, text), out);
        break;
    default:
        add_string(*(char *const *)place, out);
        break;
    }
}

static void add_value(const struct emu_config *config, const struct emu_key *key, const void *base,
                      struct emu_text *out)
{
    const void *place = place_of(base, key->offset);
    switch (key->kind) {
    case EMU_KEY_SECTION:
        add_section(config, key->path, base, out);
        break;
    case EMU_KEY_SECTIONS:
        add_reductions(config, out);
        break;
    case EMU_KEY_MESH:
        add_mesh(config, out);
        break;
    case EMU_KEY_TOKENS:
        add_tokens(*(struct emu_token_list *const *)place, out);
        break;
    case EMU_KEY_COUNTS:
        add_counts(key, base, out);
        break;
    case EMU_KEY_NAMES:
    case EMU_KEY_TEXTS:
        add_strings(*(char **const *)place, *(const size_t *)place_of(base, key->extra), out);
        break;
    case EMU_KEY_AXES:
        add_axes(key, base, out);
        break;
    default:
        add_scalar(key, place, out);
        break;
    }
}

/* Left out and without a default: a section, a pointer, a number 0 that is no legal value, or a
 * time of all bits. */
static bool is_null(const struct emu_key *key, const void *base)
{
    static const uint64_t ones = UINT64_MAX;
    const void *place = place_of(base, key->offset);
    if (!key->nullable)
        return false;
    if (key->flag)
        return !*(const bool *)place_of(base, key->flag);
    if (key->kind == EMU_KEY_DURATION)
        return !memcmp(place, &ones, sizeof ones);
    if (key->kind == EMU_KEY_U64)
        return !*(const uint64_t *)place;
    return !*(char *const *)place;
}

static void add_section(const struct emu_config *config, const char *prefix, const void *base,
                        struct emu_text *out)
{
    unsigned variant = emu_schema_variant(config, prefix);
    size_t count;
    const struct emu_key *rows = emu_schema_rows(&count);
    const char *comma = "";
    emu_text_putc(out, '{');
    for (size_t i = 0; i < count; i++) {
        const char *name = emu_schema_name_in(&rows[i], prefix);
        if (!name || (rows[i].variants && !(rows[i].variants & variant)))
            continue;
        emu_text_printf(out, "%s\"%s\": ", comma, name);
        comma = ", ";
        if (is_null(&rows[i], base))
            emu_text_puts(out, "null");
        else
            add_value(config, &rows[i], base, out);
    }
    emu_text_putc(out, '}');
}

void emu_config_to_json(const struct emu_config *config, struct emu_text *out)
{
    add_section(config, "", config, out);
}
