/* How do ranks that should hold one value fall apart by what they really hold?
 *
 * Members are all ranks with one coordinate on one or two axes, or the whole world. Members that
 * hold the same are one class. The largest class is right by majority and the others are odd; where
 * two classes share the largest size nobody can tell: a tie. Bad cases only: O(members * classes).
 */
#ifndef EMU_CHECK_SPLIT_H
#define EMU_CHECK_SPLIT_H

#include <meshemu/finding.h>
#include <meshemu/mesh.h>

#include <stdbool.h>
#include <stdint.h>

#define EMU_SPLIT_OUTSIDE UINT32_MAX

struct emu_split_params {
    const struct emu_mesh *mesh;
    const char *axis; /* NULL, or an axis the mesh does not have: all ranks */
    uint32_t coordinate;
    const char *axis_too; /* likewise: members share a coordinate on this axis as well */
    uint32_t coordinate_too;
    bool (*member)(const void *context, uint32_t rank); /* NULL: all that share the coordinates */
    bool (*same)(const void *context, uint32_t a, uint32_t b); /* do two ranks hold the same? */
    const void *context;
};

struct emu_split {
    uint32_t *class_of; /* one entry a rank; EMU_SPLIT_OUTSIDE: no member. Owned */
    uint32_t world, members, classes;
    uint32_t usual; /* the largest class */
    bool tie;       /* another class is as large */
    uint32_t axes;  /* bit i: what ranks hold varies along axis i of the mesh */
};

/* EMU_ENOMEM. Finish accepts a zeroed split. */
EMU_MUST_CHECK enum emu_status emu_split_init(struct emu_split *split,
                                              const struct emu_split_params *params);
void emu_split_finish(struct emu_split *split);

/* Is the rank a member, and is it in the minority (never in a tie)? */
bool emu_split_contains(const struct emu_split *split, uint32_t rank);
bool emu_split_is_odd(const struct emu_split *split, uint32_t rank);

/* The first rank of a class; class < classes. */
uint32_t emu_split_first(const struct emu_split *split, uint32_t class_number);

#endif
