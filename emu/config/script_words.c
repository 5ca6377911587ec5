#include "config/script_words.h"

#include "base/suggest.h"

#include <signal.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define AT(member) offsetof(struct emu_script_op, member)

_Static_assert(sizeof(enum emu_dtype) == sizeof(unsigned) &&
                   sizeof(enum emu_op) == sizeof(unsigned),
               "words are stored as unsigned");

static const struct emu_word dtypes[] = {{"f64", EMU_F64}, {"f32", EMU_F32}, {"i64", EMU_I64},
                                         {"i32", EMU_I32}, {"u8", EMU_U8},   {NULL, 0}};

static const struct emu_word ops[] = {{"sum", EMU_SUM}, {"avg", EMU_AVG},   {"min", EMU_MIN},
                                      {"max", EMU_MAX}, {"prod", EMU_PROD}, {NULL, 0}};

const struct emu_word emu_script_signals[] = {
    {"SIGKILL", SIGKILL}, {"SIGSEGV", SIGSEGV}, {"SIGABRT", SIGABRT}, {NULL, 0}};

/* count, root and peers may be what no call allows: that is found at run time. */
static const struct emu_script_field fields[] = {
    {EMU_FIELD_OVER, "over", EMU_FIELD_IS_GROUP, AT(family), 0, 0, NULL},
    {EMU_FIELD_COUNT, "count", EMU_FIELD_IS_NUMBER, AT(count), INT64_MIN, EMU_SCRIPT_MAX_COUNT,
     NULL},
    {EMU_FIELD_DTYPE, "dtype", EMU_FIELD_IS_WORD, AT(dtype), 0, 0, dtypes},
    {EMU_FIELD_OP, "op", EMU_FIELD_IS_WORD, AT(op), 0, 0, ops},
    {EMU_FIELD_ROOT, "root", EMU_FIELD_IS_NUMBER, AT(root), INT64_MIN, INT64_MAX, NULL},
    {EMU_FIELD_TO, "to", EMU_FIELD_IS_NUMBER, AT(to), INT64_MIN, INT64_MAX, NULL},
    {EMU_FIELD_FROM, "from", EMU_FIELD_IS_NUMBER, AT(from), INT64_MIN, INT64_MAX, NULL},
    {EMU_FIELD_TAG, "tag", EMU_FIELD_IS_NUMBER, AT(tag), INT32_MIN, INT32_MAX, NULL},
    {EMU_FIELD_ASYNC, "async", EMU_FIELD_IS_NAME, AT(handle), 0, 0, NULL},
    {EMU_FIELD_VALUE, "value", EMU_FIELD_IS_REAL, AT(value), 0, 0, NULL},
    {EMU_FIELD_TIMES, "times", EMU_FIELD_IS_TIMES, AT(times), 0, (int64_t)EMU_SCRIPT_MAX_TIMES,
     NULL},
    {EMU_FIELD_DO, "do", EMU_FIELD_IS_OPS, 0, 0, 0, NULL},
};

#define WHOLE (EMU_FIELD_OVER | EMU_FIELD_COUNT)
#define PAYLOAD (WHOLE | EMU_FIELD_DTYPE | EMU_FIELD_ASYNC)
#define MESSAGE (EMU_FIELD_COUNT | EMU_FIELD_DTYPE | EMU_FIELD_TAG | EMU_FIELD_ASYNC)

#define COLLECTIVE(name, call, more)                                                               \
    {                                                                                              \
        name, EMU_SCRIPT_COLLECTIVE, call, EMU_SHAPE_FIELDS, PAYLOAD | (more), WHOLE               \
    }

static const struct emu_script_verb verbs[] = {
    {"barrier", EMU_SCRIPT_COLLECTIVE, EMU_BARRIER, EMU_SHAPE_FIELDS,
     EMU_FIELD_OVER | EMU_FIELD_ASYNC, EMU_FIELD_OVER},
    COLLECTIVE("broadcast", EMU_BROADCAST, EMU_FIELD_ROOT),
    COLLECTIVE("reduce", EMU_REDUCE, EMU_FIELD_ROOT | EMU_FIELD_OP),
    COLLECTIVE("all_reduce", EMU_ALL_REDUCE, EMU_FIELD_OP),
    COLLECTIVE("reduce_scatter", EMU_REDUCE_SCATTER, EMU_FIELD_OP),
    COLLECTIVE("all_gather", EMU_ALL_GATHER, 0),
    COLLECTIVE("all_to_all", EMU_ALL_TO_ALL, 0),
    COLLECTIVE("gather", EMU_GATHER, EMU_FIELD_ROOT),
    COLLECTIVE("scatter", EMU_SCATTER, EMU_FIELD_ROOT),
    {"send", EMU_SCRIPT_SEND, EMU_SEND, EMU_SHAPE_FIELDS, MESSAGE | EMU_FIELD_TO,
     EMU_FIELD_TO | EMU_FIELD_COUNT},
    {"recv", EMU_SCRIPT_RECV, EMU_RECV, EMU_SHAPE_FIELDS, MESSAGE | EMU_FIELD_FROM,
     EMU_FIELD_FROM | EMU_FIELD_COUNT},
    {"sendrecv", EMU_SCRIPT_SENDRECV, EMU_KIND_COUNT, EMU_SHAPE_FIELDS,
     MESSAGE | EMU_FIELD_TO | EMU_FIELD_FROM, EMU_FIELD_TO | EMU_FIELD_FROM | EMU_FIELD_COUNT},
    {"wait", EMU_SCRIPT_WAIT, EMU_KIND_COUNT, EMU_SHAPE_NAMES, 0, 0},
    {"compute", EMU_SCRIPT_COMPUTE, EMU_KIND_COUNT, EMU_SHAPE_DURATION, 0, 0},
    {"sleep", EMU_SCRIPT_SLEEP, EMU_KIND_COUNT, EMU_SHAPE_DURATION, 0, 0},
    {"spin", EMU_SCRIPT_SPIN, EMU_KIND_COUNT, EMU_SHAPE_TRUE, 0, 0},
    {"repeat", EMU_SCRIPT_REPEAT, EMU_KIND_COUNT, EMU_SHAPE_REPEAT, EMU_FIELD_TIMES | EMU_FIELD_DO,
     EMU_FIELD_TIMES | EMU_FIELD_DO},
    {"exit", EMU_SCRIPT_EXIT, EMU_KIND_COUNT, EMU_SHAPE_CODE, 0, 0},
    {"kill", EMU_SCRIPT_KILL, EMU_KIND_COUNT, EMU_SHAPE_SIGNAL, 0, 0},
    {"stop", EMU_SCRIPT_STOP, EMU_KIND_COUNT, EMU_SHAPE_TRUE, 0, 0},
    {"data", EMU_SCRIPT_DATA, EMU_KIND_COUNT, EMU_SHAPE_FIELDS, EMU_FIELD_VALUE, EMU_FIELD_VALUE},
};

const struct emu_script_verb *emu_script_verbs(size_t *count)
{
    *count = COUNT(verbs);
    return verbs;
}

const struct emu_script_field *emu_script_fields(size_t *count)
{
    *count = COUNT(fields);
    return fields;
}

const struct emu_script_verb *emu_script_verb_find(const char *name)
{
    for (size_t i = 0; i < COUNT(verbs); i++)
        if (!strcmp(verbs[i].name, name))
            return &verbs[i];
    return NULL;
}

const struct emu_script_field *emu_script_field_find(const char *name)
{
    for (size_t i = 0; i < COUNT(fields); i++)
        if (!strcmp(fields[i].name, name))
            return &fields[i];
    return NULL;
}

const char *emu_script_verb_suggest(const char *name)
{
    const char *names[COUNT(verbs)];
    for (size_t i = 0; i < COUNT(verbs); i++)
        names[i] = verbs[i].name;
    return emu_suggest(name, names, COUNT(verbs));
}

const char *emu_script_field_suggest(const char *name, unsigned allowed)
{
    const char *names[COUNT(fields)];
    size_t count = 0;
    for (size_t i = 0; i < COUNT(fields); i++)
        if (fields[i].bit & allowed)
            names[count++] = fields[i].name;
    return emu_suggest(name, names, count);
}
