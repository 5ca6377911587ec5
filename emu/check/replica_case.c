#include "check/replica_case.h"

#include <stdlib.h>

struct comparison {
    const struct emu_evidence *evidence;
    enum emu_state state;
    uint32_t tensor;
};

/* Blocks of different places cannot be compared: the tiling check names them. */
static bool holds_the_same(const void *context, uint32_t a, uint32_t b)
{
    const struct comparison *with = context;
    const struct emu_evidence *evidence = with->evidence;
    if (!emu_evidence_same_block(emu_evidence_tensor(evidence, a, with->tensor),
                                 emu_evidence_tensor(evidence, b, with->tensor)))
        return true;
    return emu_evidence_same(evidence, a, b, with->tensor, with->state);
}

static bool holds_it(const void *context, uint32_t rank)
{
    const struct comparison *with = context;
    return emu_evidence_holds(with->evidence, rank, with->tensor);
}

static bool is_known(const struct emu_divergences *divergences, enum emu_state state,
                     uint32_t tensor, int64_t tp)
{
    for (size_t i = divergences->count; i-- > 0;) {
        const struct emu_divergence *last = &divergences->items[i];
        if (last->state != state || last->tensor != tensor)
            return false;
        if (last->tp == tp)
            return true;
    }
    return false;
}

static bool append(struct emu_divergences *divergences, const struct comparison *with, int64_t tp)
{
    struct emu_divergence *longer =
        realloc(divergences->items, (divergences->count + 1) * sizeof *longer);
    if (!longer)
        return false;
    divergences->items = longer;
    struct emu_divergence *made = &longer[divergences->count];
    *made = (struct emu_divergence){.state = with->state, .tensor = with->tensor, .tp = tp};
    struct emu_split_params params = {.mesh = emu_evidence_mesh(with->evidence),
                                      .axis = tp < 0 ? NULL : "tp",
                                      .coordinate = tp < 0 ? 0 : (uint32_t)tp,
                                      .member = holds_it,
                                      .same = holds_the_same,
                                      .context = with};
    if (emu_split_init(&made->split, &params) != EMU_OK)
        return false;
    divergences->count++;
    return true;
}

bool emu_divergences_find(struct emu_divergences *divergences, const struct emu_evidence *evidence,
                          enum emu_state state, uint32_t tensor, uint64_t *compared,
                          uint64_t *differed)
{
    const char *axis = emu_evidence_axis(evidence, tensor);
    struct comparison with = {evidence, state, tensor};
    for (uint32_t rank = 0; rank < emu_evidence_world(evidence); rank++) {
        uint32_t reference = emu_evidence_holder(evidence, rank, tensor);
        if (rank == reference || !holds_it(&with, rank))
            continue;
        ++*compared;
        if (holds_the_same(&with, rank, reference))
            continue;
        ++*differed;
        int64_t tp = axis ? (int64_t)emu_evidence_tp(evidence, rank) : -1;
        if (!is_known(divergences, state, tensor, tp) && !append(divergences, &with, tp))
            return false;
    }
    return true;
}

void emu_divergences_finish(struct emu_divergences *divergences)
{
    for (size_t i = 0; i < divergences->count; i++)
        emu_split_finish(&divergences->items[i].split);
    free(divergences->items);
    *divergences = (struct emu_divergences){0};
}

/* The same ranks without regard to tp: one mistake of a replica shows on each of its tp ranks. */
static bool same_replicas(const struct emu_mesh *mesh, const struct emu_marks *a,
                          const struct emu_marks *b)
{
    int axis = emu_mesh_find(mesh, "tp");
    uint32_t size = axis < 0 ? 1 : mesh->axes[axis].size;
    for (uint32_t rank = 0; rank < a->size; rank++) {
        bool in_a = false, in_b = false;
        uint32_t coords[EMU_MESH_MAX_AXES];
        emu_mesh_coords(mesh, rank, coords);
        for (uint32_t i = 0; i < size; i++) {
            if (axis >= 0)
                coords[axis] = i;
            uint32_t peer = emu_mesh_rank(mesh, coords);
            in_a = in_a || a->at[peer];
            in_b = in_b || b->at[peer];
        }
        if (in_a != in_b)
            return false;
    }
    return true;
}

static bool case_has_tensor(const struct emu_divergences *divergences, size_t number,
                            uint32_t tensor)
{
    for (size_t i = 0; i < divergences->count; i++)
        if (divergences->items[i].case_number == number && divergences->items[i].tensor == tensor)
            return true;
    return false;
}

/* Is the case's odd set, as far as it is among the members of this tie, one whole class of it? */
static bool decides(const struct emu_replica_case *one, const struct emu_split *tie)
{
    uint32_t class_number = EMU_SPLIT_OUTSIDE;
    for (uint32_t rank = 0; rank < tie->world; rank++)
        if (one->odd.at[rank] && emu_split_contains(tie, rank))
            class_number = tie->class_of[rank];
    if (class_number == EMU_SPLIT_OUTSIDE)
        return false;
    for (uint32_t rank = 0; rank < tie->world; rank++)
        if (emu_split_contains(tie, rank) &&
            one->odd.at[rank] != (tie->class_of[rank] == class_number))
            return false;
    return true;
}

struct sorting {
    struct emu_divergences *divergences;
    const struct emu_mesh *mesh;
    struct emu_replica_case *cases; /* room for one a divergence */
    size_t count;
};

static bool joins(const struct sorting *sorting, const struct emu_divergence *divergence,
                  const struct emu_marks *odd, size_t number)
{
    const struct emu_replica_case *one = &sorting->cases[number];
    if (divergence->split.tie)
        return one->tie ? one->axes == divergence->split.axes : decides(one, &divergence->split);
    if (one->tie || !same_replicas(sorting->mesh, &one->odd, odd))
        return false;
    return emu_marks_within(odd, &one->odd) || emu_marks_within(&one->odd, odd) ||
           case_has_tensor(sorting->divergences, number, divergence->tensor);
}

/* Put the divergence into the case it belongs to, or into a new one. false: memory. */
static bool sort_one(struct sorting *sorting, size_t index)
{
    struct emu_divergence *divergence = &sorting->divergences->items[index];
    struct emu_marks odd;
    if (!emu_marks_init(&odd, divergence->split.world))
        return false;
    for (uint32_t rank = 0; rank < divergence->split.world; rank++)
        odd.at[rank] = emu_split_is_odd(&divergence->split, rank);
    size_t number = 0;
    while (number < sorting->count && !joins(sorting, divergence, &odd, number))
        number++;
    divergence->case_number = number;
    struct emu_replica_case *one = &sorting->cases[number];
    if (number == sorting->count) {
        *one = (struct emu_replica_case){.tie = divergence->split.tie,
                                         .axes = divergence->split.axes,
                                         .odd = odd,
                                         .first = index};
        sorting->count++;
        return true;
    }
    emu_marks_add(&one->odd, &odd);
    one->axes |= divergence->split.axes;
    if (index < one->first)
        one->first = index;
    emu_marks_finish(&odd);
    return true;
}

/* Decided ones first: they decide ties. */
static bool sort_all(struct sorting *sorting, bool ties)
{
    for (size_t i = 0; i < sorting->divergences->count; i++) {
        const struct emu_divergence *divergence = &sorting->divergences->items[i];
        if (divergence->split.tie == ties && !divergence->explained && !sort_one(sorting, i))
            return false;
    }
    return true;
}

bool emu_divergences_sort(struct emu_divergences *divergences, const struct emu_mesh *mesh,
                          struct emu_replica_cases *cases)
{
    for (size_t i = 0; i < divergences->count; i++)
        divergences->items[i].case_number = EMU_NO_CASE;
    struct sorting sorting = {.divergences = divergences, .mesh = mesh};
    sorting.cases = calloc(divergences->count + 1, sizeof *sorting.cases);
    bool done = sorting.cases && sort_all(&sorting, false) && sort_all(&sorting, true);
    *cases = (struct emu_replica_cases){.items = sorting.cases, .count = sorting.count};
    return done;
}

void emu_replica_cases_finish(struct emu_replica_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++)
        emu_marks_finish(&cases->items[i].odd);
    free(cases->items);
    *cases = (struct emu_replica_cases){0};
}
