#include "mesh/roster.h"

#include "mesh/notation.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The name of an axis list; one too long for the field ends in "...". */
static void name_axes(const struct emu_mesh *mesh, const struct emu_axes *axes,
                      char out[EMU_NAME_MAX * 2])
{
    size_t used = 0;
    for (uint32_t i = 0; i < axes->count; i++) {
        const char *name = axes->ends >> i & 1 ? "tied" : mesh->axes[axes->index[i]].name;
        size_t size = strlen(name);
        if (used + size + sizeof ",..." > EMU_NAME_MAX * 2) {
            memcpy(out + used, ",...", sizeof ",...");
            return;
        }
        if (i > 0)
            out[used++] = ',';
        memcpy(out + used, name, size);
        used += size;
    }
    out[used] = '\0';
}

static bool same_axes(const struct emu_axes *a, const struct emu_axes *b)
{
    return a->count == b->count && a->ends == b->ends && memcmp(a->index, b->index, a->count) == 0;
}

/* Append the family; its ids follow those that are there. */
static enum emu_status append(struct emu_roster *roster, struct emu_family made, uint32_t *family)
{
    if (roster->family_count == EMU_ROSTER_MAX_FAMILIES ||
        made.group_count >= UINT32_MAX - roster->group_count)
        return EMU_ERANGE;
    made.first_group = roster->group_count;
    roster->group_count += made.group_count;
    roster->starts.first[roster->family_count] = made.first_group;
    roster->starts.size[roster->family_count] = made.group_size;
    roster->families[roster->family_count] = made;
    *family = roster->family_count++;
    roster->starts.groups = roster->group_count;
    roster->starts.families = roster->family_count;
    return EMU_OK;
}

static bool find_axes(const struct emu_roster *roster, const struct emu_axes *axes,
                      uint32_t *family)
{
    for (uint32_t i = 0; i < roster->family_count; i++)
        if (axes->count > 0 && same_axes(&roster->families[i].axes, axes)) {
            *family = i;
            return true;
        }
    return false;
}

void emu_roster_init(struct emu_roster *roster, const struct emu_mesh *mesh)
{
    *roster = (struct emu_roster){.mesh = mesh};
    struct emu_family world = {.name = "world", .group_count = 1, .group_size = mesh->world};
    uint32_t family;
    enum emu_status status = append(roster, world, &family);
    assert(status == EMU_OK);
    for (uint32_t i = 0; i < mesh->axis_count && status == EMU_OK; i++) {
        struct emu_axes axis = {.count = 1, .index = {(uint8_t)i}};
        status = emu_roster_add_axes(roster, &axis, &family);
    }
}

void emu_roster_finish(struct emu_roster *roster)
{
    if (!roster)
        return;
    for (uint32_t i = 0; i < roster->family_count; i++)
        free(roster->families[i].members);
    *roster = (struct emu_roster){0};
}

enum emu_status emu_roster_add_axes(struct emu_roster *roster, const struct emu_axes *axes,
                                    uint32_t *family)
{
    if (axes->count == 0)
        return EMU_EINVAL;
    if (find_axes(roster, axes, family))
        return EMU_OK;
    struct emu_family made = {.axes = *axes,
                              .group_count = emu_axes_group_count(roster->mesh, axes),
                              .group_size = emu_axes_group_size(roster->mesh, axes)};
    name_axes(roster->mesh, axes, made.name);
    return append(roster, made, family);
}

/* A name may not be read as something else: no blank, no comma, no axis, no name in use. */
static bool name_is_free(const struct emu_roster *roster, const char *name)
{
    size_t size = strlen(name);
    if (size == 0 || size >= EMU_NAME_MAX * 2 || strpbrk(name, ", \t"))
        return false;
    for (uint32_t i = 0; i < roster->family_count; i++)
        if (strcmp(roster->families[i].name, name) == 0)
            return false;
    return emu_mesh_find(roster->mesh, name) < 0;
}

static int by_value(const void *a, const void *b)
{
    const uint32_t *x = a;
    const uint32_t *y = b;
    return (*x > *y) - (*x < *y);
}

/* Every rank inside the mesh and none twice. `scratch` holds a copy and is sorted. */
static bool members_are_distinct(uint32_t *scratch, uint32_t count, uint32_t world)
{
    qsort(scratch, count, sizeof *scratch, by_value);
    for (uint32_t i = 1; i < count; i++)
        if (scratch[i] == scratch[i - 1])
            return false;
    return scratch[count - 1] < world;
}

enum emu_status emu_roster_add_list(struct emu_roster *roster, const char *name,
                                    const uint32_t *members, uint32_t count, uint32_t *family)
{
    if (count == 0 || !name_is_free(roster, name))
        return EMU_EINVAL;
    size_t bytes = count * sizeof *members;
    uint32_t *copy = malloc(bytes);
    if (!copy)
        return EMU_ENOMEM;
    memcpy(copy, members, bytes);
    if (!members_are_distinct(copy, count, roster->mesh->world)) {
        free(copy);
        return EMU_EINVAL;
    }
    memcpy(copy, members, bytes); /* the order given, which sorting lost */
    struct emu_family made = {.group_count = 1, .group_size = count, .members = copy};
    memcpy(made.name, name, strlen(name));
    enum emu_status status = append(roster, made, family);
    if (status != EMU_OK)
        free(copy);
    return status;
}

enum emu_status emu_roster_find(const struct emu_roster *roster, const char *name, uint32_t *family)
{
    struct emu_item item = emu_item_trim(name, strlen(name));
    for (uint32_t i = 0; i < roster->family_count; i++)
        if (roster->families[i].axes.count == 0 &&
            emu_item_equals(item, roster->families[i].name)) {
            *family = i;
            return EMU_OK;
        }
    struct emu_axes axes;
    if (emu_axes_parse(roster->mesh, name, &axes, NULL) != EMU_OK)
        return EMU_ENOTFOUND;
    return find_axes(roster, &axes, family) ? EMU_OK : EMU_ENOTFOUND;
}

enum emu_status emu_roster_group_of(const struct emu_roster *roster, uint32_t family, uint32_t rank,
                                    uint32_t *group)
{
    if (family >= roster->family_count)
        return EMU_ENOTFOUND;
    if (rank >= roster->mesh->world)
        return EMU_ENOTMEMBER;
    const struct emu_family *found = &roster->families[family];
    uint32_t number = found->axes.count ? emu_group_number_of(roster->mesh, &found->axes, rank) : 0;
    struct emu_group its = emu_roster_group(roster, found->first_group + number);
    if (!emu_group_contains(&its, rank))
        return EMU_ENOTMEMBER;
    *group = found->first_group + number;
    return EMU_OK;
}

struct emu_group emu_roster_group(const struct emu_roster *roster, uint32_t group)
{
    const struct emu_family *family = &roster->families[emu_roster_family_of(roster, group)];
    if (family->axes.count > 0)
        return emu_group_nth(roster->mesh, &family->axes, group - family->first_group);
    return (struct emu_group){.size = family->group_size, .members = family->members};
}
