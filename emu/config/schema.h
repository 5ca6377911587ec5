/* Which keys may a config hold? One table for all who ask: the reader, --set, --help-config, the
 * suggestions and the printed resolved config.
 *
 * A path is dotted ("model.hidden"); "recipe.reduce[].op" is a key of each element of a list. Some
 * keys belong to one variant of their section alone (model.kind, optimizer.kind, data from text or
 * tokens); one path may then have a row for each variant.
 */
#ifndef EMU_CONFIG_SCHEMA_H
#define EMU_CONFIG_SCHEMA_H

#include "config/config.h"
#include "config/document.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum emu_key_kind {
    EMU_KEY_SECTION,    /* mapping; `flag` tells whether it was given */
    EMU_KEY_SECTIONS,   /* list of mappings (recipe.reduce) */
    EMU_KEY_U64,        /* uint64_t within [least, most] */
    EMU_KEY_F64,        /* double within [low, high), low itself excluded where `above` */
    EMU_KEY_BOOL,       /* bool */
    EMU_KEY_WORD,       /* one of `words`, stored as its enumerator */
    EMU_KEY_TEXT,       /* char * */
    EMU_KEY_PATH,       /* char *, resolved */
    EMU_KEY_EXPRESSION, /* char *, checked later against the mesh */
    EMU_KEY_DURATION,   /* uint64_t nanoseconds; null: all bits set */
    EMU_KEY_MESH,       /* text or {axes, ranks} */
    EMU_KEY_COUNTS,     /* list of uint64_t: pointer at `offset`, size_t count at `extra` */
    EMU_KEY_NAMES,      /* list of words or one word: char ** and size_t count */
    EMU_KEY_TEXTS,      /* list of texts: char ** and size_t count */
    EMU_KEY_AXES,       /* list of dp, cp: bools at `offset` and `extra` */
    EMU_KEY_TOKENS,     /* nested lists of numbers: struct emu_token_list * */
};

struct emu_word {
    const char *name; /* NULL ends a list */
    unsigned value;   /* enumerator */
};

/* Variants of a section, as bits of emu_key.variants. */
#define EMU_VARIANT(value) (1U << (value))

struct emu_key {
    const char *path;
    enum emu_key_kind kind;
    unsigned variants; /* 0: all */
    size_t offset;     /* of the value: in emu_config, or in the element or mapping of the list */
    size_t extra;      /* of a second value (see kind), 0: none */
    size_t flag;       /* of a bool that tells that the key was given, 0: none */
    uint64_t least, most;
    double low, high;
    bool above;
    bool nullable; /* null leaves it out */
    bool required; /* where its section is given */
    bool bare;     /* a section whose keys have no value where it is left out */
    const struct emu_word *words;
    const char *fallback; /* default as it would be written; NULL: none */
    const char *help;
};

/* {axes, ranks} of a mesh given as a mapping, while it is read. */
struct emu_mesh_mapping {
    char *axes;
    uint64_t *ranks;
    size_t rank_count;
};

/* All rows, in the order in which they are printed; a section comes before its keys. */
const struct emu_key *emu_schema_rows(size_t *count);

/* The part of the path behind the section ("hidden"), or NULL where the key is not directly in the
 * section of that prefix ("model", "recipe.reduce[]", "" for the top). */
const char *emu_schema_name_in(const struct emu_key *key, const char *prefix);

/* The row of this name in the section for a variant, or NULL. */
const struct emu_key *emu_schema_find(const char *prefix, const char *name, unsigned variant);

/* A known name like this one in the section, for "did you mean"; or NULL. */
const char *emu_schema_suggest(const char *prefix, const char *name, unsigned variant);

/* The variant of a section of the resolved config, as a bit; all bits where it has none. */
unsigned emu_schema_variant(const struct emu_config *config, const char *prefix);

/* "model.kind linear": what a set of variants is called; "" where the section has none. */
const char *emu_schema_variant_name(const char *prefix, unsigned variants);

/* Append what is allowed: "a whole number, at least 1", "one of: gelu, relu, silu". */
void emu_schema_add_expected(const struct emu_key *key, struct emu_text *out);

#endif
