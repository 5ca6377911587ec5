/* Does a finding say what was expected: class, ranks, axes, sources, parameter? */
#include "fault/expectation.h"

#include <string.h>

bool emu_fault_class_right(const struct emu_fault_expectation *expectation,
                           const struct emu_finding *finding)
{
    return expectation->classes >> finding->class_id & 1;
}

static bool holds(const uint32_t *ranks, size_t count, uint32_t rank)
{
    for (size_t i = 0; i < count; i++)
        if (ranks[i] == rank)
            return true;
    return false;
}

/* Where no minority can be told nobody is blamed: the rank is then among those shown. */
static bool rank_named(const struct emu_finding *finding, uint32_t rank)
{
    if (finding->culprit_count)
        return holds(finding->culprits, finding->culprit_count, rank);
    for (size_t i = 0; i < finding->member_count; i++)
        if (finding->members[i].rank == rank)
            return true;
    return holds(finding->group, finding->group_size, rank);
}

/* What is not finite is known by the tokens that it came from. */
static bool source_named(const struct emu_finding *finding, const struct emu_mesh *mesh,
                         uint32_t rank)
{
    for (size_t i = 0; i < finding->culprit_count; i++)
        if (emu_mesh_coord(mesh, finding->culprits[i], "dp") == emu_mesh_coord(mesh, rank, "dp") &&
            emu_mesh_coord(mesh, finding->culprits[i], "cp") == emu_mesh_coord(mesh, rank, "cp"))
            return true;
    return false;
}

static bool parameter_named(const struct emu_finding *finding, const char *glob)
{
    for (size_t i = 0; i < finding->parameter_count; i++)
        if (emu_glob_match(glob, finding->parameters[i]))
            return true;
    return finding->parameter && emu_glob_match(glob, finding->parameter);
}

static bool axes_named(const struct emu_finding *finding, const struct emu_mesh *mesh,
                       uint32_t axes)
{
    for (uint32_t a = 0; a < mesh->axis_count; a++) {
        bool named = !(axes >> a & 1);
        for (size_t i = 0; i < finding->axis_count && !named; i++)
            named = !strcmp(finding->axes[i], mesh->axes[a].name);
        if (!named)
            return false;
    }
    return true;
}

/* Is it the coefficient of this source, in any use of the parameter ("dp=1@use1")? */
static bool is_of_source(const char *lane, const char *source)
{
    size_t size = strcspn(lane, "@");
    return strlen(source) == size && !memcmp(lane, source, size);
}

/* Its value occurs once, beside others that are all alike. */
static bool source_is_odd(const struct emu_finding *finding, const char *source)
{
    const struct emu_coefficient_view *odd = NULL, *other = NULL;
    for (size_t i = 0; i < finding->coefficient_count; i++) {
        const struct emu_coefficient_view *one = &finding->coefficients[i];
        if (is_of_source(one->source, source))
            odd = one;
        else if (other && strcmp(other->value, one->value) != 0)
            return false;
        else
            other = one;
    }
    return odd && other && strcmp(odd->value, other->value) != 0;
}

bool emu_fault_culprit_right(const struct emu_fault_expectation *expectation,
                             const struct emu_plan *plan, const struct emu_finding *finding)
{
    bool names_rank = expectation->names_rank && !(expectation->nameless >> finding->class_id & 1);
    bool right =
        !names_rank || rank_named(finding, expectation->rank) ||
        (expectation->any_of_source && source_named(finding, plan->roster.mesh, expectation->rank));
    if (expectation->parameter && (finding->parameter || finding->parameter_count))
        right = right && parameter_named(finding, expectation->parameter);
    right = right && axes_named(finding, plan->roster.mesh, expectation->axes);
    if (right && expectation->names_source && finding->coefficient_count) {
        struct emu_text name = {0};
        emu_source_name(plan, expectation->source, &name);
        right = source_is_odd(finding, emu_text_get(&name));
        emu_text_finish(&name);
    }
    return right;
}
