/* How does a tree of nodes become a struct? The parts of the reader that belong together: every one
 * stores what it understands and complains about the rest.
 *
 * A value lives at its row's offset from `base`: the config, one element of recipe.reduce, or the
 * mapping of a mesh. What was complained about keeps its zeros; the config is then never handed
 * out.
 */
#ifndef EMU_CONFIG_READING_H
#define EMU_CONFIG_READING_H

#include "config/complaint.h"
#include "config/config.h"
#include "config/document.h"
#include "config/schema.h"
#include "config/store.h"

#include <stdbool.h>
#include <stddef.h>

struct emu_reading {
    struct emu_config *config;
    struct emu_store *store;
    struct emu_complaints *complaints;
    const struct emu_source *source;    /* the file */
    const struct emu_node *root;        /* NULL: an empty file and no --set */
    const struct emu_node *tokens;      /* data.tokens; read once mesh and model are known */
    const char *directory;              /* of paths in the file */
    bool mesh_bad, model_bad, data_bad; /* complained about: do not check against it */
};

/* What emu_config.store points to: the owner of the config and the places of its keys. */
struct emu_config_keep {
    struct emu_store store;
    struct emu_source source;
    const struct emu_node *root;
};

/* Read a section's mapping, or set its defaults where node is NULL. */
void emu_section_read(struct emu_reading *r, const char *prefix, const struct emu_node *node,
                      void *base);

/* Read one scalar to place: U64, F64, BOOL, WORD, TEXT, PATH, EXPRESSION or DURATION. */
bool emu_scalar_read(struct emu_reading *r, const struct emu_key *key, const struct emu_node *node,
                     void *place);

/* Read a MESH, COUNTS, NAMES, TEXTS or AXES. */
bool emu_list_read(struct emu_reading *r, const struct emu_key *key, const struct emu_node *node,
                   void *base);
bool emu_mesh_read(struct emu_reading *r, const struct emu_key *key, const struct emu_node *node);

/* Read data.tokens, whose levels follow from the mesh and whose width from the model. */
void emu_tokens_read(struct emu_reading *r);

/* The rules that need more than one key; sets the defaults that follow from other keys. */
void emu_config_crosscheck(struct emu_reading *r);

/* Where to point for a path: its value, else the key of what it would stand in, else the file. */
struct emu_spot emu_reading_spot(const struct emu_source *source, const struct emu_node *root,
                                 const char *path);

/* "'model.hidden' must be a whole number, at least 1, not 'x'", with a hint where it is not NULL.
 * Returns false, for the caller to return. */
bool emu_reading_mistake(struct emu_reading *r, const struct emu_key *key,
                         const struct emu_node *node, const char *hint);

/* Put one --set into the tree. */
void emu_override_apply(struct emu_reading *r, const char *text, uint32_t order,
                        struct emu_node **root);

#endif
