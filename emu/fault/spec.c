/* SPEC -> struct emu_fault. Words are separated by blanks; a value cannot hold any. */
#include "base/number.h"
#include "base/suggest.h"
#include "config/duration.h"
#include "fault/fault.h"
#include "seg/board.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct word {
    const char *name;
    uint64_t value;
};

static const struct word signals[] = {{"SIGKILL", SIGKILL}, {"SIGSEGV", SIGSEGV},
                                      {"SIGABRT", SIGABRT}, {"SIGBUS", SIGBUS},
                                      {"SIGFPE", SIGFPE},   {"SIGTERM", SIGTERM}};
static const struct word phases[] = {{"before", EMU_PHASE_BEFORE},
                                     {"signature", EMU_PHASE_SIGNATURE},
                                     {"deposit", EMU_PHASE_DEPOSIT},
                                     {"copyout", EMU_PHASE_COPYOUT}};
static const struct word divisors[] = {{"world", EMU_DIVIDE_BY_WORLD},
                                       {"dp", EMU_DIVIDE_BY_DP},
                                       {"local_tokens", EMU_DIVIDE_BY_LOCAL_TOKENS}};
#define OP_WORD(name, text) {text, name},
static const struct word ops[] = {EMU_OP_LIST(OP_WORD)};
#undef OP_WORD
static const struct word dtypes[] = {
    {"f64", EMU_F64}, {"f32", EMU_F32}, {"i64", EMU_I64}, {"i32", EMU_I32}, {"u8", EMU_U8}};

enum shape { NUMBER, TIME, WORD, TEXT, GROUP };

struct key_row {
    enum shape shape;
    uint64_t least, most;
    const struct word *words;
    size_t word_count;
};

#define WORDS(list)                                                                                \
    {                                                                                              \
        WORD, 0, 0, list, COUNT(list)                                                              \
    }
#define NUMBERS(least, most)                                                                       \
    {                                                                                              \
        NUMBER, least, most, NULL, 0                                                               \
    }

static const struct key_row key_rows[EMU_FAULT_KEY_COUNT] = {
    [EMU_KEY_RANK] = NUMBERS(0, UINT32_MAX),
    [EMU_KEY_STEP] = NUMBERS(1, UINT64_MAX),
    [EMU_KEY_CALL] = NUMBERS(0, UINT64_MAX),
    [EMU_KEY_LABEL] = {.shape = TEXT},
    [EMU_KEY_GROUP] = {.shape = GROUP},
    [EMU_KEY_PHASE] = WORDS(phases),
    [EMU_KEY_PARAM] = {.shape = TEXT},
    [EMU_KEY_SIGNAL] = WORDS(signals),
    [EMU_KEY_CODE] = NUMBERS(0, 255),
    [EMU_KEY_TIME] = {.shape = TIME},
    [EMU_KEY_CONT_AFTER] = {.shape = TIME},
    [EMU_KEY_OVER] = {.shape = GROUP},
    [EMU_KEY_ROOT] = NUMBERS(0, UINT32_MAX),
    [EMU_KEY_OP] = WORDS(ops),
    [EMU_KEY_DTYPE] = WORDS(dtypes),
    [EMU_KEY_COUNT] = NUMBERS(0, UINT64_C(1) << 32),
    [EMU_KEY_ELEMENT] = NUMBERS(0, UINT64_MAX),
    [EMU_KEY_BIT] = NUMBERS(0, 63),
    [EMU_KEY_BY] = WORDS(divisors),
    [EMU_KEY_MICRO] = NUMBERS(0, UINT32_MAX),
};

/* A piece of the SPEC. */
struct piece {
    const char *start;
    size_t size;
};

struct reader {
    const char *spec;
    const struct emu_roster *roster;
    const struct emu_plan *plan; /* NULL: none */
    struct emu_fault *fault;
    struct emu_fault_error *error;
};

static enum emu_status complain(const struct reader *r, struct piece at, const char *format, ...)
    EMU_PRINTF(3, 4);

static enum emu_status complain(const struct reader *r, struct piece at, const char *format, ...)
{
    va_list arguments;
    r->error->offset = (size_t)(at.start - r->spec);
    r->error->length = at.size ? at.size : 1;
    va_start(arguments, format);
    vsnprintf(r->error->message, sizeof r->error->message, format, arguments);
    va_end(arguments);
    return EMU_EPARSE;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct piece next_piece(const char **at)
{
    while (blank(**at))
        ++*at;
    struct piece piece = {*at, 0};
    while (**at && !blank(**at))
        ++*at;
    piece.size = (size_t)(*at - piece.start);
    return piece;
}

/* A copy that ends in NUL; what does not fit is no word that anybody knows. */
static void copy_piece(struct piece piece, char out[EMU_FAULT_TEXT_MAX])
{
    size_t size = piece.size < EMU_FAULT_TEXT_MAX - 1 ? piece.size : EMU_FAULT_TEXT_MAX - 1;
    memcpy(out, piece.start, size);
    out[size] = '\0';
}

static enum emu_status read_word(const struct reader *r, const struct key_row *row, const char *key,
                                 struct piece piece, struct emu_fault_value *value)
{
    const char *known[16];
    char allowed[160] = "";
    for (size_t i = 0; i < row->word_count; i++) {
        if (!strcmp(row->words[i].name, value->text)) {
            value->number = row->words[i].value;
            return EMU_OK;
        }
        known[i] = row->words[i].name;
        size_t used = strlen(allowed);
        snprintf(allowed + used, sizeof allowed - used, "%s%s", i ? ", " : "", known[i]);
    }
    const char *near = emu_suggest(value->text, known, row->word_count);
    return complain(r, piece, "%s=%s: %s%s%sallowed are %s", key, value->text,
                    near ? "did you mean '" : "", near ? near : "", near ? "'? " : "", allowed);
}

static enum emu_status read_number(const struct reader *r, const struct key_row *row,
                                   const char *key, struct piece piece,
                                   struct emu_fault_value *value)
{
    if (emu_parse_u64(value->text, &value->number) && value->number >= row->least &&
        value->number <= row->most)
        return EMU_OK;
    if (row->most == UINT64_MAX)
        return complain(r, piece, "%s=%s: a whole number from %" PRIu64 " is allowed", key,
                        value->text, row->least);
    return complain(r, piece, "%s=%s: a whole number from %" PRIu64 " to %" PRIu64 " is allowed",
                    key, value->text, row->least, row->most);
}

static enum emu_status read_group(const struct reader *r, const char *key, struct piece piece,
                                  struct emu_fault_value *value)
{
    const char *known[EMU_ROSTER_MAX_FAMILIES];
    uint32_t family;
    if (emu_roster_find(r->roster, value->text, &family) == EMU_OK) {
        value->number = family;
        return EMU_OK;
    }
    for (uint32_t i = 0; i < r->roster->family_count; i++)
        known[i] = r->roster->families[i].name;
    const char *near = emu_suggest(value->text, known, r->roster->family_count);
    return complain(r, piece, "%s=%s: this program has no such group%s%s%s", key, value->text,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static enum emu_status read_value(const struct reader *r, enum emu_fault_key key,
                                  struct piece piece)
{
    const struct key_row *row = &key_rows[key];
    const char *name = emu_fault_key_name(key);
    struct emu_fault_value *value = &r->fault->value[key];
    if (piece.size >= EMU_FAULT_TEXT_MAX)
        return complain(r, piece, "the value of %s is too long: at most %d bytes", name,
                        EMU_FAULT_TEXT_MAX - 1);
    if (piece.size == 0)
        return complain(r, piece, "%s= needs a value", name);
    copy_piece(piece, value->text);
    value->given = true;
    switch (row->shape) {
    case NUMBER:
        return read_number(r, row, name, piece, value);
    case WORD:
        return read_word(r, row, name, piece, value);
    case GROUP:
        return read_group(r, name, piece, value);
    case TIME:
        if (emu_duration_parse(value->text, &value->number))
            return EMU_OK;
        return complain(r, piece, "%s=%s: write " EMU_DURATION_HINT, name, value->text);
    case TEXT:
        break;
    }
    return EMU_OK;
}

static enum emu_status unknown_key(const struct reader *r, struct piece piece, const char *text)
{
    const struct emu_fault_row *row = emu_fault_row(r->fault->kind);
    const char *known[EMU_FAULT_KEY_COUNT];
    char allowed[160] = "";
    size_t count = 0;
    for (int key = 0; key < EMU_FAULT_KEY_COUNT; key++) {
        if (!(row->keys >> key & 1))
            continue;
        known[count++] = emu_fault_key_name((enum emu_fault_key)key);
        size_t used = strlen(allowed);
        snprintf(allowed + used, sizeof allowed - used, "%s%s", count > 1 ? ", " : "",
                 known[count - 1]);
    }
    const char *near = emu_suggest(text, known, count);
    return complain(r, piece, "%s takes no '%s'%s%s%s; it takes %s", emu_fault_name(r->fault->kind),
                    text, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "",
                    allowed);
}

/* "key=value" */
static enum emu_status read_setting(const struct reader *r, struct piece piece)
{
    const char *equals = memchr(piece.start, '=', piece.size);
    if (!equals)
        return complain(r, piece, "'%.*s' is no key=value", (int)piece.size, piece.start);
    struct piece name = {piece.start, (size_t)(equals - piece.start)};
    struct piece value = {equals + 1, piece.size - name.size - 1};
    char text[EMU_FAULT_TEXT_MAX];
    copy_piece(name, text);
    for (int key = 0; key < EMU_FAULT_KEY_COUNT; key++) {
        if (strcmp(text, emu_fault_key_name((enum emu_fault_key)key)) != 0)
            continue;
        if (!(emu_fault_row(r->fault->kind)->keys >> key & 1))
            break;
        if (r->fault->value[key].given)
            return complain(r, piece, "%s is given twice", text);
        return read_value(r, (enum emu_fault_key)key, value);
    }
    return unknown_key(r, name, text);
}

static enum emu_status read_kind(const struct reader *r, struct piece piece)
{
    const char *known[EMU_FAULT_KIND_COUNT];
    char text[EMU_FAULT_TEXT_MAX];
    copy_piece(piece, text);
    for (int kind = 0; kind < EMU_FAULT_KIND_COUNT; kind++) {
        known[kind] = emu_fault_name((enum emu_fault_kind)kind);
        if (!strcmp(text, known[kind])) {
            r->fault->kind = (enum emu_fault_kind)kind;
            return EMU_OK;
        }
    }
    if (piece.size == 0)
        return complain(r, piece, "a fault is 'kind key=value...', as in 'crash rank=1 step=1'");
    const char *near = emu_suggest(text, known, EMU_FAULT_KIND_COUNT);
    return complain(r, piece,
                    "there is no fault '%s'%s%s%s; meshemu faults CONFIG --list names all", text,
                    near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* What needs more than one word, or the mesh and the plan. */
static enum emu_status check_whole(const struct reader *r, struct piece kind)
{
    const struct emu_fault *fault = r->fault;
    const struct emu_fault_row *row = emu_fault_row(fault->kind);
    uint32_t world = r->roster->mesh->world;
    const char *name = emu_fault_name(fault->kind);
    for (int key = 0; key < EMU_FAULT_KEY_COUNT; key++)
        if ((row->needed >> key & 1) && !fault->value[key].given)
            return complain(r, kind, "%s needs %s=", name,
                            emu_fault_key_name((enum emu_fault_key)key));
    if (emu_fault_has(fault, EMU_KEY_RANK) && fault->value[EMU_KEY_RANK].number >= world)
        return complain(r, kind, "rank=%" PRIu64 ": the mesh has ranks 0 to %" PRIu32,
                        fault->value[EMU_KEY_RANK].number, world - 1);
    if (!r->plan && row->means >= EMU_FAULT_BY_ALGEBRA)
        return complain(r, kind, "%s acts inside the training step of `meshemu run`; here are none",
                        name);
    if (!r->plan)
        return EMU_OK;
    if (emu_fault_number(fault, EMU_KEY_STEP, 1) > r->plan->config->train.steps)
        return complain(r, kind, "step=%" PRIu64 ": the run has steps 1 to %" PRIu64,
                        fault->value[EMU_KEY_STEP].number, r->plan->config->train.steps);
    if (emu_fault_number(fault, EMU_KEY_MICRO, 0) >= r->plan->microbatches)
        return complain(r, kind, "micro=%" PRIu64 ": the run has microbatches 0 to %" PRIu32,
                        fault->value[EMU_KEY_MICRO].number, r->plan->microbatches - 1);
    if (!emu_fault_has(fault, EMU_KEY_PARAM))
        return EMU_OK;
    for (uint32_t i = 0; i < r->plan->tensor_count; i++)
        if (emu_glob_match(fault->value[EMU_KEY_PARAM].text, r->plan->tensors[i].name))
            return EMU_OK;
    return complain(r, kind, "param=%s names no parameter of this model",
                    fault->value[EMU_KEY_PARAM].text);
}

enum emu_status emu_fault_parse(const char *spec, const struct emu_roster *roster,
                                const struct emu_plan *plan, struct emu_fault *fault,
                                struct emu_fault_error *error)
{
    struct emu_fault made = {0};
    struct reader r = {spec, roster, plan, &made, error};
    if (strlen(spec) >= EMU_FAULT_SPEC_MAX)
        return complain(&r, (struct piece){spec, 1}, "a fault has at most %d bytes",
                        EMU_FAULT_SPEC_MAX - 1);
    memcpy(made.spec, spec, strlen(spec) + 1);
    const char *at = spec;
    struct piece kind = next_piece(&at);
    enum emu_status status = read_kind(&r, kind);
    while (status == EMU_OK) {
        struct piece piece = next_piece(&at);
        if (piece.size == 0)
            break;
        status = read_setting(&r, piece);
    }
    if (status == EMU_OK)
        status = check_whole(&r, kind);
    if (status == EMU_OK)
        *fault = made;
    return status;
}
