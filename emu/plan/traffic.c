#include "plan/traffic.h"

#include "mesh/cost.h"
#include "plan/initial.h"
#include "plan/positions.h"

/* Where a rank stands and what it counts into. */
struct ledger {
    const struct emu_plan *plan;
    const struct emu_model_config *model;
    uint32_t dp, cp, tp, stage;
    uint64_t element;
    bool sliced;
    struct emu_traffic_plan *out;
};

/* One collective over a family; UINT32_MAX: the rank alone. */
static void collect(struct ledger *l, uint32_t family, enum emu_kind kind, enum emu_layout layout,
                    uint64_t bytes)
{
    if (family == UINT32_MAX)
        return;
    uint32_t members = l->plan->roster.families[family].group_size;
    l->out->family[family] += emu_cost_bytes(kind, layout, bytes, members);
}

static void sum_over(struct ledger *l, uint32_t family, uint64_t elements)
{
    collect(l, family, EMU_ALL_REDUCE, EMU_LAYOUT_EQUAL, elements * l->element);
}

/* A pending sum of whole rows over tp: summed, or scattered to slices (rounded up to tp). */
static uint64_t held_most(const struct ledger *l, uint64_t rows)
{
    return (rows + l->plan->tp - 1) / l->plan->tp;
}

static void tp_sum(struct ledger *l, uint64_t rows, uint64_t width)
{
    if (!l->sliced)
        sum_over(l, l->plan->tp_family, rows * width);
    else
        collect(l, l->plan->tp_family, EMU_REDUCE_SCATTER, EMU_LAYOUT_EQUAL,
                held_most(l, rows) * l->plan->tp * width * l->element);
}

/* Slices become whole rows again; nothing to do without slices. */
static void tp_gather(struct ledger *l, uint64_t rows, uint64_t width)
{
    if (l->sliced)
        collect(l, l->plan->tp_family, EMU_ALL_GATHER, EMU_LAYOUT_EQUAL,
                held_most(l, rows) * width * l->element);
}

static void message(struct ledger *l, const char *axis, uint64_t elements)
{
    int index = emu_mesh_find(l->plan->roster.mesh, axis);
    if (index >= 0)
        l->out->messages[index] += elements * l->element;
}

/* Halo parts that this cp rank gives forward, and returns backward, for one sequence. */
static uint64_t halo_positions(const struct ledger *l)
{
    uint64_t positions = 0;
    for (uint32_t needed = 1; needed < emu_runs(l->plan); needed++)
        for (uint32_t from = 0; from < needed; from++) {
            uint32_t giver = emu_run_owner(l->plan, from);
            uint32_t needer = emu_run_owner(l->plan, needed);
            if (giver != needer && (giver == l->cp || needer == l->cp))
                positions += emu_run_halo(l->plan, needed, from).count;
        }
    return positions;
}

/* The first stage's embedding, there and back. */
static void add_embedding(struct ledger *l, uint64_t sequences, uint64_t rows)
{
    uint64_t window = l->model->context * l->model->embed;
    uint32_t runs[2];
    if (l->plan->cp == 1) {
        tp_sum(l, rows, window);
        tp_gather(l, rows, window);
        return;
    }
    uint64_t extended =
        emu_positions_owned(l->plan, l->cp) + emu_runs_of(l->plan, l->cp, runs) * l->model->context;
    sum_over(l, l->plan->tp_family, sequences * extended * l->model->embed);
    tp_gather(l, rows, window);
    message(l, "cp", sequences * halo_positions(l) * l->model->embed);
}

static void add_layers(struct ledger *l, uint64_t rows)
{
    struct emu_slice own = emu_plan_layers(l->plan, l->stage);
    for (uint64_t layer = own.start; layer < own.start + own.count; layer++) {
        uint64_t width = layer == 0 ? l->model->context * l->model->embed : l->model->embed;
        tp_gather(l, rows, width);           /* forward: the input of up */
        tp_sum(l, rows, l->model->embed);    /* forward: what down gives */
        tp_gather(l, rows, l->model->embed); /* backward: the gradient of that */
        tp_sum(l, rows, width);              /* backward: the gradient of up's input */
    }
}

static void add_head(struct ledger *l, uint64_t rows)
{
    uint64_t numbers = l->model->loss == EMU_CROSS_ENTROPY ? 3 : 1;
    tp_gather(l, rows, l->model->embed);
    for (uint64_t i = 0; i < numbers; i++) /* max, sum and target, or the loss */
        sum_over(l, l->plan->tp_family, rows);
    tp_sum(l, rows, l->model->embed);
}

static void add_microbatch(struct ledger *l, uint32_t micro)
{
    uint32_t source = emu_plan_source(l->plan, l->dp, l->cp, micro);
    uint64_t sequences = emu_plan_sequences(l->plan, source).count;
    uint64_t rows = sequences * emu_positions_owned(l->plan, l->cp);
    uint64_t held = l->sliced ? emu_slice_chunk(rows, l->plan->tp, l->tp).count : rows;
    if (l->stage == 0)
        add_embedding(l, sequences, rows);
    add_layers(l, rows);
    if (l->stage + 1 == l->plan->pp)
        add_head(l, rows);
    else
        message(l, "pp", held * l->model->embed);
    if (l->stage > 0)
        message(l, "pp", held * l->model->embed);
}

/* How often a reduction acts on a tensor in a step. */
static uint64_t times(const struct ledger *l, enum emu_when when)
{
    return when == EMU_WHEN_MICROBATCH ? l->plan->microbatches : 1;
}

/* All reductions of one tensor, in order: one that scatters leaves a chunk for the later ones. */
static void add_tensor(struct ledger *l, uint32_t tensor, uint32_t shard_index)
{
    const struct emu_plan *plan = l->plan;
    struct emu_block block = emu_tensor_block(plan, tensor, l->tp);
    uint64_t elements = block.rows * block.columns;
    bool scattered = false;
    for (uint32_t r = 0; r < plan->recipe.reduction_count; r++) {
        const struct emu_reduction_plan *reduction = &plan->recipe.reductions[r];
        uint32_t family;
        emu_reduction_axes(plan, reduction, tensor, &family);
        if (!emu_reduction_covers(reduction, plan->tensors[tensor].name))
            continue;
        bool step = reduction->when == EMU_WHEN_STEP;
        bool scatters =
            step && !scattered && emu_plan_shards_gradients(plan) && family == plan->shard_family;
        uint64_t n =
            step && scattered ? emu_plan_chunk(plan, elements, shard_index).count : elements;
        for (uint64_t i = 0; i < times(l, reduction->when); i++)
            collect(l, family, scatters ? EMU_REDUCE_SCATTER : EMU_ALL_REDUCE, EMU_LAYOUT_EQUAL,
                    n * l->element);
        scattered = scattered || scatters;
    }
    if (emu_plan_shards_moments(plan))
        collect(l, plan->shard_family, EMU_ALL_GATHER, EMU_LAYOUT_CHUNKS, elements * l->element);
}

static void add_scalars(struct ledger *l)
{
    const struct emu_plan *plan = l->plan;
    collect(l, plan->gradient_family, EMU_ALL_REDUCE, EMU_LAYOUT_EQUAL, sizeof(int64_t));
    sum_over(l, plan->loss_family, 1);
    if (emu_plan_shards_gradients(plan) && plan->recipe.norm == EMU_COUNT_UNIQUE)
        sum_over(l, plan->shard_family, plan->tensor_count);
    if (plan->recipe.norm == EMU_COUNT_UNIQUE)
        sum_over(l, plan->norm_family, 1);
    else if (plan->recipe.norm == EMU_COUNT_REPLICAS)
        sum_over(l, 0, 1); /* world */
}

struct emu_traffic_plan emu_plan_traffic(const struct emu_plan *plan, uint32_t rank)
{
    struct emu_traffic_plan out = {{0}, {0}};
    const struct emu_mesh *mesh = plan->roster.mesh;
    struct ledger l = {.plan = plan,
                       .model = &plan->config->model,
                       .dp = emu_mesh_coord(mesh, rank, "dp"),
                       .cp = emu_mesh_coord(mesh, rank, "cp"),
                       .tp = emu_mesh_coord(mesh, rank, "tp"),
                       .stage = emu_mesh_coord(mesh, rank, "pp"),
                       .element = emu_dtype_bytes(plan->dtype),
                       .out = &out};
    l.sliced = l.model->kind == EMU_MODEL_MLP_LM && l.model->sequence_parallel;
    for (uint32_t micro = 0; l.model->kind == EMU_MODEL_MLP_LM && micro < plan->microbatches;
         micro++)
        add_microbatch(&l, micro);
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        if (emu_tensor_held(plan, i, l.stage))
            add_tensor(&l, i, emu_plan_shard_index(plan, rank));
    add_scalars(&l);
    return out;
}

struct emu_traffic_plan emu_initial_traffic(const struct emu_plan *plan, uint32_t rank)
{
    struct emu_traffic_plan out = {{0}, {0}};
    uint32_t tp = emu_mesh_coord(plan->roster.mesh, rank, "tp");
    for (uint32_t i = 0; i < plan->tensor_count; i++) {
        uint32_t family = emu_initial_family(plan, i);
        if (family == UINT32_MAX ||
            !emu_tensor_held(plan, i, emu_mesh_coord(plan->roster.mesh, rank, "pp")))
            continue;
        struct emu_block block = emu_tensor_block(plan, i, tp);
        uint64_t bytes = block.rows * block.columns * emu_dtype_bytes(plan->dtype);
        out.family[family] += emu_cost_bytes(EMU_BROADCAST, EMU_LAYOUT_EQUAL, bytes,
                                             plan->roster.families[family].group_size);
    }
    return out;
}
