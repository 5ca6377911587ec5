#include "check/evidence.h"

#include <assert.h>
#include <string.h>

const char *emu_state_word(enum emu_state state)
{
    static const char *const words[EMU_STATE_COUNT] = {"weight", "gradient", "first moment",
                                                       "second moment"};
    return words[state];
}

bool emu_state_is_kept(const struct emu_plan *plan, enum emu_state state)
{
    return state < EMU_STATE_MOMENT_0 || state - EMU_STATE_MOMENT_0 < plan->moments;
}

const struct emu_mesh *emu_evidence_mesh(const struct emu_evidence *evidence)
{
    return evidence->plan->roster.mesh;
}

uint32_t emu_evidence_world(const struct emu_evidence *evidence)
{
    return evidence->plan->roster.mesh->world;
}

uint32_t emu_evidence_tp(const struct emu_evidence *evidence, uint32_t rank)
{
    return emu_mesh_coord(evidence->plan->roster.mesh, rank, "tp");
}

const struct emu_tensor_record *emu_evidence_tensor(const struct emu_evidence *evidence,
                                                    uint32_t rank, uint32_t tensor)
{
    assert(tensor < evidence->records[rank]->tensor_count);
    return &evidence->records[rank]->tensors[tensor];
}

struct emu_hash emu_evidence_hash(const struct emu_evidence *evidence, uint32_t rank,
                                  uint32_t tensor, enum emu_state state)
{
    const struct emu_tensor_record *record = emu_evidence_tensor(evidence, rank, tensor);
    if (state == EMU_STATE_WEIGHT)
        return record->weight_hash;
    if (state == EMU_STATE_GRADIENT)
        return record->gradient_hash;
    return record->moment_hash[state - EMU_STATE_MOMENT_0];
}

static uint64_t offset_of(const struct emu_tensor_record *record, enum emu_state state)
{
    if (state == EMU_STATE_WEIGHT)
        return record->weight;
    if (state == EMU_STATE_GRADIENT)
        return record->gradient;
    return record->moment[state - EMU_STATE_MOMENT_0];
}

/* Is this state divided over the shard group? */
static bool is_divided(const struct emu_plan *plan, enum emu_state state)
{
    if (state == EMU_STATE_GRADIENT)
        return emu_plan_shards_gradients(plan);
    return state != EMU_STATE_WEIGHT && emu_plan_shards_moments(plan);
}

/* The member of the rank's shard group that keeps chunk `index`. */
static uint32_t keeper(const struct emu_evidence *evidence, uint32_t rank, uint32_t index)
{
    struct emu_group group =
        emu_group_of(emu_evidence_mesh(evidence), &evidence->plan->shard_axes, rank);
    return emu_group_member(&group, index);
}

bool emu_evidence_same(const struct emu_evidence *evidence, uint32_t a, uint32_t b, uint32_t tensor,
                       enum emu_state state)
{
    if (!is_divided(evidence->plan, state))
        return emu_hash_equal(emu_evidence_hash(evidence, a, tensor, state),
                              emu_evidence_hash(evidence, b, tensor, state));
    for (uint32_t i = 0; i < evidence->plan->shard_parts; i++) {
        struct emu_hash p = emu_evidence_hash(evidence, keeper(evidence, a, i), tensor, state);
        struct emu_hash q = emu_evidence_hash(evidence, keeper(evidence, b, i), tensor, state);
        if (!emu_hash_equal(p, q))
            return false;
    }
    return true;
}

/* Elements of all chunks but the last ones, which have the remainder. */
static uint64_t chunk_length(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor)
{
    const struct emu_tensor_record *record = emu_evidence_tensor(evidence, rank, tensor);
    return emu_plan_chunk(evidence->plan, emu_evidence_elements(record), 0).count;
}

uint32_t emu_evidence_keeper(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor,
                             enum emu_state state, uint64_t local)
{
    if (!is_divided(evidence->plan, state))
        return rank;
    return keeper(evidence, rank, (uint32_t)(local / chunk_length(evidence, rank, tensor)));
}

double emu_evidence_value(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor,
                          enum emu_state state, uint64_t local)
{
    if (is_divided(evidence->plan, state)) {
        uint64_t most = chunk_length(evidence, rank, tensor);
        rank = emu_evidence_keeper(evidence, rank, tensor, state, local);
        local %= most;
    }
    const struct emu_tensor_record *record = emu_evidence_tensor(evidence, rank, tensor);
    const unsigned char *array = evidence->arenas[rank] + offset_of(record, state);
    if (evidence->plan->dtype == EMU_F32) {
        float value;
        memcpy(&value, array + local * sizeof value, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, array + local * sizeof value, sizeof value);
    return value;
}

static void read_values(const unsigned char *array, bool single, uint64_t count, double *values)
{
    for (uint64_t i = 0; single && i < count; i++) {
        float value;
        memcpy(&value, array + i * sizeof value, sizeof value);
        values[i] = (double)value;
    }
    if (!single)
        memcpy(values, array, count * sizeof *values);
}

bool emu_evidence_next(const struct emu_evidence *evidence, struct emu_evidence_run *run)
{
    run->first += run->count;
    uint64_t all = emu_evidence_elements(emu_evidence_tensor(evidence, run->rank, run->tensor));
    uint64_t left = all - run->first, local = run->first;
    uint32_t from = run->rank;
    run->count = left < EMU_EVIDENCE_RUN ? left : EMU_EVIDENCE_RUN;
    if (run->count == 0)
        return false;
    if (is_divided(evidence->plan, run->state)) {
        uint64_t most = chunk_length(evidence, run->rank, run->tensor);
        from = emu_evidence_keeper(evidence, run->rank, run->tensor, run->state, local);
        local %= most;
        run->count = most - local < run->count ? most - local : run->count;
    }
    bool single = evidence->plan->dtype == EMU_F32;
    uint64_t bytes = local * (single ? sizeof(float) : sizeof(double));
    const struct emu_tensor_record *record = emu_evidence_tensor(evidence, from, run->tensor);
    read_values(evidence->arenas[from] + offset_of(record, run->state) + bytes, single, run->count,
                run->values);
    return true;
}

uint64_t emu_evidence_elements(const struct emu_tensor_record *record)
{
    return record->rows * record->columns;
}

struct emu_element emu_evidence_element(const struct emu_tensor_record *record, uint64_t local)
{
    return (struct emu_element){.row = record->first_row + local / record->columns,
                                .column = record->first_column + local % record->columns};
}

uint64_t emu_evidence_logical(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor,
                              uint64_t local)
{
    struct emu_element at =
        emu_evidence_element(emu_evidence_tensor(evidence, rank, tensor), local);
    return at.row * evidence->plan->tensors[tensor].columns + at.column;
}

bool emu_evidence_same_block(const struct emu_tensor_record *a, const struct emu_tensor_record *b)
{
    return a->first_row == b->first_row && a->rows == b->rows &&
           a->first_column == b->first_column && a->columns == b->columns;
}

static bool run_in_bounds(uint64_t first, uint64_t count, uint64_t all)
{
    return first <= all && count <= all - first;
}

bool emu_evidence_in_bounds(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor)
{
    const struct emu_tensor_record *record = emu_evidence_tensor(evidence, rank, tensor);
    const struct emu_tensor_plan *plan = &evidence->plan->tensors[tensor];
    return run_in_bounds(record->first_row, record->rows, plan->rows) &&
           run_in_bounds(record->first_column, record->columns, plan->columns);
}

uint32_t emu_evidence_reference(const struct emu_evidence *evidence, uint32_t rank,
                                const char *axis)
{
    const struct emu_mesh *mesh = emu_evidence_mesh(evidence);
    uint32_t coords[EMU_MESH_MAX_AXES] = {0};
    int kept = axis ? emu_mesh_find(mesh, axis) : -1;
    if (kept >= 0)
        coords[kept] = emu_mesh_coord(mesh, rank, axis);
    return emu_mesh_rank(mesh, coords);
}

const char *emu_evidence_axis(const struct emu_evidence *evidence, uint32_t tensor)
{
    return evidence->plan->tensors[tensor].over_tp.kind == EMU_SHARD ? "tp" : NULL;
}

uint32_t emu_evidence_owner(const struct emu_evidence *evidence, uint32_t rank)
{
    static const char *const names[] = {"dp", "cp"};
    const struct emu_mesh *mesh = emu_evidence_mesh(evidence);
    uint32_t own[EMU_MESH_MAX_AXES];
    uint32_t coords[EMU_MESH_MAX_AXES] = {0};
    emu_mesh_coords(mesh, rank, own);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int axis = emu_mesh_find(mesh, names[i]);
        if (axis >= 0)
            coords[axis] = own[axis];
    }
    return emu_mesh_rank(mesh, coords);
}

bool emu_evidence_holds(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor)
{
    uint32_t stage = emu_mesh_coord(emu_evidence_mesh(evidence), rank, "pp");
    return emu_tensor_held(evidence->plan, tensor, stage);
}

uint32_t emu_evidence_holder(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor)
{
    const struct emu_mesh *mesh = emu_evidence_mesh(evidence);
    uint32_t coords[EMU_MESH_MAX_AXES] = {0};
    int tp = emu_mesh_find(mesh, "tp");
    int pp = emu_mesh_find(mesh, "pp");
    if (tp >= 0 && emu_evidence_axis(evidence, tensor))
        coords[tp] = emu_evidence_tp(evidence, rank);
    if (pp >= 0)
        coords[pp] = evidence->plan->tensors[tensor].stage;
    return emu_mesh_rank(mesh, coords);
}
