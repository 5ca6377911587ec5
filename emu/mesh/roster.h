/* Which groups exist in a program, and which number does each one have?
 *
 * A family is one way to cut the mesh: all groups over one ordered axis set, or one explicit list
 * of ranks. Group ids run through the families in order. `world` (ranks 0..n-1 in order of rank)
 * and every axis of the mesh are always there. Queries cost O(axes + families); no tables of ranks
 * but the explicit lists.
 */
#ifndef EMU_MESH_ROSTER_H
#define EMU_MESH_ROSTER_H

#include <meshemu/mesh.h>
#include <meshemu/status.h>

#include <assert.h>

#define EMU_ROSTER_MAX_FAMILIES 64

struct emu_family {
    char name[EMU_NAME_MAX * 2]; /* "world", "tp", "dp,cp", or a given name */
    struct emu_axes axes;        /* count 0 for world and for an explicit list */
    uint32_t first_group;        /* id of its first group */
    uint32_t group_count;
    uint32_t group_size;
    uint32_t *members; /* explicit list, owned; NULL otherwise */
};

/* What calls need to know of the families, in few lines. */
struct emu_family_starts {
    uint32_t groups, families;               /* their numbers */
    uint32_t first[EMU_ROSTER_MAX_FAMILIES]; /* id of the first group of each */
    uint32_t size[EMU_ROSTER_MAX_FAMILIES];  /* members of a group of each */
};

struct emu_roster {
    const struct emu_mesh *mesh; /* borrowed */
    uint32_t group_count;        /* ids are below this */
    uint32_t family_count;
    struct emu_family_starts starts;
    struct emu_family families[EMU_ROSTER_MAX_FAMILIES];
};

/* Families: world first (family 0, group 0), then each axis in mesh order. Ids end below 2^32-1: of
 * a mesh with more groups than that only the first axes get them. */
void emu_roster_init(struct emu_roster *roster, const struct emu_mesh *mesh);
void emu_roster_finish(struct emu_roster *roster);

/* Add the groups over these axes (an axis of which only the ends take part is named "tied") (a set
 * that is there already is found, not added again) or one named list. *family is the index.
 * EMU_ERANGE: too many families. EMU_EINVAL: a name in use, a rank twice or outside the mesh, an
 * empty list. */
EMU_MUST_CHECK enum emu_status emu_roster_add_axes(struct emu_roster *roster,
                                                   const struct emu_axes *axes, uint32_t *family);
EMU_MUST_CHECK enum emu_status emu_roster_add_list(struct emu_roster *roster, const char *name,
                                                   const uint32_t *members, uint32_t count,
                                                   uint32_t *family);

/* Family by name; blanks around commas do not matter. EMU_ENOTFOUND. */
EMU_MUST_CHECK enum emu_status emu_roster_find(const struct emu_roster *roster, const char *name,
                                               uint32_t *family);

/* Id of the group of this family that holds the rank. EMU_ENOTMEMBER. */
EMU_MUST_CHECK enum emu_status emu_roster_group_of(const struct emu_roster *roster, uint32_t family,
                                                   uint32_t rank, uint32_t *group);

/* Family of a group id (below group_count), and the group itself. */
static inline uint32_t emu_starts_family(const struct emu_family_starts *starts, uint32_t group)
{
    assert(group < starts->groups);
    uint32_t family = starts->families - 1;
    while (starts->first[family] > group)
        family--;
    return family;
}

static inline uint32_t emu_roster_family_of(const struct emu_roster *roster, uint32_t group)
{
    return emu_starts_family(&roster->starts, group);
}
struct emu_group emu_roster_group(const struct emu_roster *roster, uint32_t group);

#endif
