/* How does the tree of a script become a program? The parts of its reader that belong together.
 *
 * They share the reader of configs' ways: what is understood is stored, the rest is complained
 * about, and a script with a complaint is never handed out.
 */
#ifndef EMU_CONFIG_SCRIPT_READING_H
#define EMU_CONFIG_SCRIPT_READING_H

#include "config/reading.h"
#include "config/script.h"

struct emu_script_reading {
    struct emu_reading base; /* base.config holds nothing but the mesh */
    struct emu_script *script;
    bool groups_bad; /* complained about: a name that is missing may be meant */
    uint32_t *entry_of;
    const char *names[EMU_SCRIPT_MAX_NAMES]; /* async names of the entry being read */
    size_t name_count;
};

/* Named groups into the roster. */
void emu_script_read_groups(struct emu_script_reading *r, const struct emu_node *node);

/* Family that `over` names; axis lists are added to the roster. */
bool emu_script_read_over(struct emu_script_reading *r, const struct emu_node *node,
                          uint32_t *family);

/* Give the ranks that a selector names to the entry. */
void emu_script_read_ranks(struct emu_script_reading *r, const struct emu_node *node,
                           uint32_t entry);

/* The ops of one entry, and its names. */
void emu_script_read_entry_ops(struct emu_script_reading *r, const struct emu_node *list,
                               struct emu_script_entry *entry);

/* A whole number, written plainly in decimal. false: complained about. */
bool emu_script_read_integer(struct emu_script_reading *r, const char *name,
                             const struct emu_node *node, int64_t *value);

/* "'count' must be a whole number, not 'x'". */
void emu_script_mistake(struct emu_script_reading *r, const char *name, const char *expected,
                        const struct emu_node *node);

#endif
