/* Which coordinate does a rank have, and who shares which group with it?
 *
 * A mesh is an ordered list of named axes. The first axis is outermost (slowest), the last one
 * fastest: in `dp=2,tp=4` rank = dp*4 + tp. An explicit arrangement puts given ranks at the
 * row-major places instead; the given order is kept.
 *
 * A group over an ordered set of axes holds all ranks that differ in these axes alone. Its members
 * are listed row-major in the order of the axes asked for: over dp,cp and over cp,dp have the
 * same members in another order. Size-1 axes are legal everywhere.
 *
 * Invariants: 1 <= world <= 2^31; every size >= 1; names are unique; place = sum coordinate*stride.
 * Every query costs O(number of axes) and allocates nothing. Nothing here makes a system call.
 */
#ifndef MESHEMU_MESH_H
#define MESHEMU_MESH_H

#include <meshemu/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EMU_MESH_MAX_AXES 16
#define EMU_NAME_MAX 32
#define EMU_MESH_MAX_WORLD (UINT64_C(1) << 31)
#define EMU_MESH_MESSAGE_MAX 256

struct emu_axis {
    char name[EMU_NAME_MAX];
    uint32_t size;
    uint32_t stride; /* in places: product of the sizes of all later axes */
};

struct emu_mesh {
    uint32_t axis_count;
    uint32_t world;
    struct emu_axis axes[EMU_MESH_MAX_AXES];
    uint32_t *rank_at;  /* place -> rank; NULL: row-major, rank == place. Owned */
    uint32_t *place_of; /* rank -> place; NULL likewise. Owned */
};

/* Why a text was refused: column counts bytes from 1 in the text that was parsed. */
struct emu_mesh_error {
    uint32_t column;
    char message[EMU_MESH_MESSAGE_MAX];
};

/* An ordered set of axes, as indices into emu_mesh.axes. */
struct emu_axes {
    uint32_t count;
    uint8_t index[EMU_MESH_MAX_AXES];
    uint16_t ends; /* bit i: of axis index[i] the first and the last coordinate alone take part */
};

/* One group: the ranks that differ from the place `base` in the given axes alone. Without mesh and
 * members it is the world: ranks 0 to size-1 in order. */
struct emu_group {
    const struct emu_mesh *mesh; /* borrowed; NULL for an explicit list and the world */
    struct emu_axes axes;
    uint32_t base;           /* place of member 0 */
    uint32_t size;           /* number of members */
    const uint32_t *members; /* explicit list, borrowed; NULL for axes and the world */
};

/* Parse "dp=2,tp=4". Names: a letter, then letters, digits or _ ; `world` and `tied` are reserved.
 * Blanks around names, sizes and commas do not matter. EMU_EPARSE: *error (may be NULL) says what
 * was wrong, where, and what is allowed; mesh is untouched. */
EMU_PUBLIC EMU_MUST_CHECK enum emu_status emu_mesh_parse(const char *text, struct emu_mesh *mesh,
                                                         struct emu_mesh_error *error);

/* Put ranks[place] at each place (row-major). The list must be a permutation of 0..world-1; the
 * mesh copies it. EMU_EINVAL with *error.message otherwise (column = 1 + index of the bad entry;
 * of the last one where the list is too short, 1 where it is empty). EMU_ENOMEM. */
EMU_PUBLIC EMU_MUST_CHECK enum emu_status emu_mesh_arrange(struct emu_mesh *mesh,
                                                           const uint32_t *ranks, size_t count,
                                                           struct emu_mesh_error *error);

/* Free what emu_mesh_arrange allocated. Accepts NULL and a zeroed mesh. */
EMU_PUBLIC void emu_mesh_finish(struct emu_mesh *mesh);

/* Index of the axis, or -1. */
EMU_PUBLIC int emu_mesh_find(const struct emu_mesh *mesh, const char *name);

/* Size of the axis of that name, 1 where the mesh has none. */
EMU_PUBLIC uint32_t emu_mesh_size(const struct emu_mesh *mesh, const char *name);

/* Coordinates of a rank, one for each axis in mesh order. rank < world. */
EMU_PUBLIC void emu_mesh_coords(const struct emu_mesh *mesh, uint32_t rank,
                                uint32_t coords[EMU_MESH_MAX_AXES]);

/* Coordinate of a rank on one axis by name; 0 where the mesh has no such axis. */
EMU_PUBLIC uint32_t emu_mesh_coord(const struct emu_mesh *mesh, uint32_t rank, const char *name);

/* The rank at these coordinates, each below its axis size. */
EMU_PUBLIC uint32_t emu_mesh_rank(const struct emu_mesh *mesh,
                                  const uint32_t coords[EMU_MESH_MAX_AXES]);

/* Parse "dp,cp": unknown and repeated axes are refused with a message. */
EMU_PUBLIC EMU_MUST_CHECK enum emu_status emu_axes_parse(const struct emu_mesh *mesh,
                                                         const char *text, struct emu_axes *axes,
                                                         struct emu_mesh_error *error);

/* All axes of the mesh, in mesh order. */
EMU_PUBLIC struct emu_axes emu_axes_all(const struct emu_mesh *mesh);

/* Members of each group over these axes. */
EMU_PUBLIC uint32_t emu_axes_group_size(const struct emu_mesh *mesh, const struct emu_axes *axes);

/* Number of groups over these axes: world / group size. */
EMU_PUBLIC uint32_t emu_axes_group_count(const struct emu_mesh *mesh, const struct emu_axes *axes);

/* The nth group (row-major in the other axes); nth < emu_axes_group_count. */
EMU_PUBLIC struct emu_group emu_group_nth(const struct emu_mesh *mesh, const struct emu_axes *axes,
                                          uint32_t nth);

/* The group that holds the rank, and (emu_group_number_of) its number among its siblings. */
EMU_PUBLIC struct emu_group emu_group_of(const struct emu_mesh *mesh, const struct emu_axes *axes,
                                         uint32_t rank);
EMU_PUBLIC uint32_t emu_group_number_of(const struct emu_mesh *mesh, const struct emu_axes *axes,
                                        uint32_t rank);

/* Global rank of the member at this group rank; index < group->size. */
EMU_PUBLIC uint32_t emu_group_member(const struct emu_group *group, uint32_t index);

/* Group rank of a global rank, or -1 where it is no member. */
EMU_PUBLIC int64_t emu_group_index(const struct emu_group *group, uint32_t rank);
EMU_PUBLIC bool emu_group_contains(const struct emu_group *group, uint32_t rank);

/* A run of elements of a dimension. */
struct emu_slice {
    uint64_t start;
    uint64_t count;
};

/* The chunk rule (torch.chunk, but always `parts` of them): part `index` of n elements gets
 * ceil(n/parts) in order until none is left; later parts are short or empty. */
EMU_PUBLIC struct emu_slice emu_slice_chunk(uint64_t n, uint64_t parts, uint64_t index);

/* The even rule: floor(n/parts) each, one more for the first n mod parts. */
EMU_PUBLIC struct emu_slice emu_slice_even(uint64_t n, uint64_t parts, uint64_t index);

#ifdef __cplusplus
}
#endif
#endif
