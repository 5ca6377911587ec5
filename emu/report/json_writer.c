#include "report/json_writer.h"

#include "base/number.h"

#include <meshemu/meshemu.h>

#include <assert.h>
#include <math.h>
#include <string.h>

static void put(struct emu_json *json, const char *bytes, size_t size)
{
    if (json->failed)
        return;
    if (json->text) {
        emu_text_add(json->text, bytes, size);
        json->failed = json->text->failed;
    } else if (fwrite(bytes, 1, size, json->file) != size) {
        json->failed = true;
    }
}

static void put_string(struct emu_json *json, const char *string)
{
    put(json, string, strlen(string));
}

static void new_line(struct emu_json *json)
{
    put(json, "\n", 1);
    for (uint32_t i = 0; i < json->depth; i++)
        put(json, "  ", 2);
}

/* Comma and line break or blank before the next key or value. */
static void separate(struct emu_json *json)
{
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->depth == 0)
        return;
    uint64_t bit = UINT64_C(1) << (json->depth - 1);
    bool own_line = json->depth <= json->line_depth;
    if (json->filled & bit)
        put(json, own_line ? "," : ", ", own_line ? 1 : 2);
    json->filled |= bit;
    if (own_line)
        new_line(json);
}

static void begin(struct emu_json *json, const char *bracket)
{
    separate(json);
    assert(json->depth < EMU_JSON_MAX_DEPTH);
    put(json, bracket, 1);
    json->filled &= ~(UINT64_C(1) << json->depth);
    json->depth++;
}

static void end(struct emu_json *json, const char *bracket)
{
    assert(json->depth > 0 && !json->after_key);
    bool own_line = json->depth <= json->line_depth;
    json->depth--;
    if (own_line && json->filled >> json->depth & 1)
        new_line(json);
    put(json, bracket, 1);
}

/* Length of the UTF-8 sequence at `s`, 0 where it is none (RFC 3629: shortest form, no
 * surrogates, up to U+10FFFF). A NUL inside the sequence fails its range check. */
static size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    size_t length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4)
        return 0;
    unsigned char least = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char most = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF;
    if (s[1] < least || s[1] > most)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

/* The two-letter escape of a character that has one, else NULL. */
static const char *short_escape(unsigned char c)
{
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\t':
        return "\\t";
    case '\r':
        return "\\r";
    default:
        return NULL;
    }
}

/* What must stand for the byte at `s` instead of itself; NULL: itself. */
static const char *escape(const unsigned char *s, size_t length, char room[8])
{
    if (length == 0)
        return "\\ufffd";
    if (s[0] >= 0x20 && s[0] != '"' && s[0] != '\\')
        return NULL;
    const char *short_one = short_escape(s[0]);
    if (short_one)
        return short_one;
    snprintf(room, 8, "\\u%04x", s[0]);
    return room;
}

static void quote(struct emu_json *json, const char *value)
{
    const unsigned char *at = (const unsigned char *)value;
    const unsigned char *plain = at; /* start of what can be written as it is */
    put(json, "\"", 1);
    while (*at) {
        char room[8];
        size_t length = utf8_length(at);
        const char *escaped = escape(at, length, room);
        if (escaped) {
            put(json, (const char *)plain, (size_t)(at - plain));
            put_string(json, escaped);
        }
        at += length ? length : 1;
        if (escaped)
            plain = at;
    }
    put(json, (const char *)plain, (size_t)(at - plain));
    put(json, "\"", 1);
}

void emu_json_init_text(struct emu_json *json, struct emu_text *text)
{
    *json = (struct emu_json){.text = text, .line_depth = 2};
}

void emu_json_init_file(struct emu_json *json, FILE *file)
{
    *json = (struct emu_json){.file = file, .line_depth = 2};
}

void emu_json_report_begin(struct emu_json *json, const char *command)
{
    emu_json_object_begin(json);
    emu_json_put_string(json, "meshemu", EMU_VERSION);
    emu_json_put_u64(json, "schema", EMU_JSON_SCHEMA);
    emu_json_put_string(json, "command", command);
}

void emu_json_object_begin(struct emu_json *json)
{
    begin(json, "{");
}

void emu_json_object_end(struct emu_json *json)
{
    end(json, "}");
}

void emu_json_array_begin(struct emu_json *json)
{
    begin(json, "[");
}

void emu_json_array_end(struct emu_json *json)
{
    end(json, "]");
}

void emu_json_key(struct emu_json *json, const char *key)
{
    assert(!json->after_key);
    separate(json);
    quote(json, key);
    put(json, ": ", 2);
    json->after_key = true;
}

void emu_json_string(struct emu_json *json, const char *value)
{
    if (!value) {
        emu_json_null(json);
        return;
    }
    separate(json);
    quote(json, value);
}

void emu_json_u64(struct emu_json *json, uint64_t value)
{
    char digits[20]; /* 2^64 - 1 has 20 */
    size_t first = sizeof digits;
    separate(json);
    do {
        digits[--first] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    put(json, digits + first, sizeof digits - first);
}

void emu_json_i64(struct emu_json *json, int64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)value);
    emu_json_raw(json, digits);
}

void emu_json_f64(struct emu_json *json, double value)
{
    char digits[EMU_NUMBER_MAX];
    emu_json_raw(json, isfinite(value) ? emu_number_f64(value, digits) : "null");
}

void emu_json_bool(struct emu_json *json, bool value)
{
    emu_json_raw(json, value ? "true" : "false");
}

void emu_json_null(struct emu_json *json)
{
    emu_json_raw(json, "null");
}

void emu_json_raw(struct emu_json *json, const char *value)
{
    separate(json);
    put_string(json, value);
}

void emu_json_put_string(struct emu_json *json, const char *key, const char *value)
{
    emu_json_key(json, key);
    emu_json_string(json, value);
}

void emu_json_put_budget(struct emu_json *json, const char *key, uint64_t ns)
{
    emu_json_key(json, key);
    if (ns == 0)
        emu_json_null(json);
    else
        emu_json_u64(json, ns);
}

void emu_json_put_u64(struct emu_json *json, const char *key, uint64_t value)
{
    emu_json_key(json, key);
    emu_json_u64(json, value);
}

void emu_json_put_i64(struct emu_json *json, const char *key, int64_t value)
{
    emu_json_key(json, key);
    emu_json_i64(json, value);
}

void emu_json_put_f64(struct emu_json *json, const char *key, double value)
{
    emu_json_key(json, key);
    emu_json_f64(json, value);
}

void emu_json_put_bool(struct emu_json *json, const char *key, bool value)
{
    emu_json_key(json, key);
    emu_json_bool(json, value);
}

bool emu_json_finish(struct emu_json *json)
{
    assert(json->depth == 0);
    put(json, "\n", 1);
    return !json->failed;
}
