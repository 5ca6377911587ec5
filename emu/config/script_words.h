/* Which words does the language of scripts have? One table of ops, one of their fields. */
#ifndef EMU_CONFIG_SCRIPT_WORDS_H
#define EMU_CONFIG_SCRIPT_WORDS_H

#include "config/schema.h"
#include "config/script.h"

#include <stddef.h>
#include <stdint.h>

/* What stands behind the name of an op. */
enum emu_script_shape {
    EMU_SHAPE_FIELDS,   /* a mapping of the fields below */
    EMU_SHAPE_DURATION, /* 10ms */
    EMU_SHAPE_TRUE,     /* true */
    EMU_SHAPE_CODE,     /* 0..255 */
    EMU_SHAPE_SIGNAL,   /* SIGKILL */
    EMU_SHAPE_NAMES,    /* a name or a list of names */
    EMU_SHAPE_REPEAT,   /* {times, do} */
};

/* Fields, as bits. */
enum {
    EMU_FIELD_OVER = 1 << 0,
    EMU_FIELD_COUNT = 1 << 1,
    EMU_FIELD_DTYPE = 1 << 2,
    EMU_FIELD_OP = 1 << 3,
    EMU_FIELD_ROOT = 1 << 4,
    EMU_FIELD_TO = 1 << 5,
    EMU_FIELD_FROM = 1 << 6,
    EMU_FIELD_TAG = 1 << 7,
    EMU_FIELD_ASYNC = 1 << 8,
    EMU_FIELD_VALUE = 1 << 9,
    EMU_FIELD_TIMES = 1 << 10,
    EMU_FIELD_DO = 1 << 11,
};

enum emu_field_kind {
    EMU_FIELD_IS_GROUP,  /* an axis, a list of axes, a named group or world */
    EMU_FIELD_IS_NUMBER, /* int64_t within [least, most] */
    EMU_FIELD_IS_WORD,   /* one of words, stored as unsigned */
    EMU_FIELD_IS_NAME,   /* of an async call */
    EMU_FIELD_IS_REAL,   /* double */
    EMU_FIELD_IS_TIMES,  /* uint64_t up to most */
    EMU_FIELD_IS_OPS,    /* a list of ops */
};

struct emu_script_field {
    unsigned bit;
    const char *name;
    enum emu_field_kind kind;
    size_t offset; /* in struct emu_script_op */
    int64_t least, most;
    const struct emu_word *words;
};

struct emu_script_verb {
    const char *name;
    enum emu_script_kind kind;
    enum emu_kind call;
    enum emu_script_shape shape;
    unsigned fields, needed; /* bits */
};

const struct emu_script_verb *emu_script_verbs(size_t *count);
const struct emu_script_field *emu_script_fields(size_t *count);
const struct emu_script_verb *emu_script_verb_find(const char *name);
const struct emu_script_field *emu_script_field_find(const char *name);

/* A known name like this one, or NULL. allowed: bits of the fields to choose from. */
const char *emu_script_verb_suggest(const char *name);
const char *emu_script_field_suggest(const char *name, unsigned allowed);

extern const struct emu_word emu_script_signals[];

#endif
