#include "plan/memory.h"

#include "plan/positions.h"
#include "plan/schedule.h"

/* Where a rank stands, and the sizes that follow from it. */
struct place {
    const struct emu_plan *plan;
    const struct emu_model_config *model;
    uint32_t tp, cp, stage;
    uint64_t element; /* bytes */
    uint64_t rows;    /* most rows of a microbatch */
    uint64_t held;    /* rows of the stream held here */
    uint64_t whole;   /* rows of all slices, rounded up to a multiple of tp; 0 without slices */
    uint64_t slots;   /* microbatches in flight */
};

static uint64_t round_up(uint64_t n, uint64_t parts)
{
    return (n + parts - 1) / parts;
}

static struct place place_of(const struct emu_plan *plan, uint32_t rank)
{
    const struct emu_mesh *mesh = plan->roster.mesh;
    struct place p = {.plan = plan,
                      .model = &plan->config->model,
                      .tp = emu_mesh_coord(mesh, rank, "tp"),
                      .cp = emu_mesh_coord(mesh, rank, "cp"),
                      .stage = emu_mesh_coord(mesh, rank, "pp"),
                      .element = emu_dtype_bytes(plan->dtype),
                      .rows = emu_plan_rows_most(plan)};
    bool sliced = p.model->kind == EMU_MODEL_MLP_LM && p.model->sequence_parallel;
    p.held = sliced ? round_up(p.rows, plan->tp) : p.rows;
    p.whole = sliced ? p.held * plan->tp : 0;
    p.slots = emu_schedule_in_flight(plan, p.stage);
    return p;
}

static void add_tensor(const struct place *p, uint32_t tensor, struct emu_memory_plan *out)
{
    const struct emu_plan *plan = p->plan;
    uint64_t room = emu_tensor_room(plan, tensor, p->tp);
    uint64_t chunk = round_up(room, plan->shard_parts);
    uint64_t lanes = emu_tensor_lanes(plan, tensor);
    bool divides_gradient = emu_plan_shards_gradients(plan);
    bool divides_weight = emu_plan_shards_weights(plan);
    out->bytes[EMU_WEIGHT] += (divides_weight ? chunk : room) * p->element;
    out->bytes[EMU_GRADIENT] += (divides_gradient ? chunk : room) * p->element;
    out->bytes[EMU_MOMENTS] +=
        plan->moments * (emu_plan_shards_moments(plan) ? chunk : room) * p->element;
    uint64_t buffers = emu_plan_keeps_fresh(plan) ? room : 0;
    buffers += (divides_weight ? room : 0) + (divides_gradient ? room : 0);
    out->bytes[EMU_BUFFERS] += buffers * p->element;
    if (plan->keeps_ledger)
        out->bytes[EMU_BUFFERS] += lanes * sizeof(uint64_t) * (emu_plan_keeps_fresh(plan) ? 2 : 1);
}

/* What every model keeps: token counts, and five scalars beside one square a tensor. */
static void add_step(const struct place *p, struct emu_memory_plan *out)
{
    out->bytes[EMU_BUFFERS] += p->plan->microbatches * sizeof(uint64_t);
    out->bytes[EMU_BUFFERS] += (5 + p->plan->tensor_count) * p->element;
}

static void add_linear(const struct place *p, struct emu_memory_plan *out)
{
    out->bytes[EMU_ACTIVATIONS] += p->rows * (p->model->features + 1) * p->element;
}

static uint64_t width_of(const struct place *p, uint64_t layer)
{
    return layer == 0 ? p->model->context * p->model->embed : p->model->embed;
}

static uint64_t hidden_of(const struct place *p)
{
    return emu_slice_chunk(p->model->hidden, p->plan->tp, p->tp).count;
}

/* Elements that one microbatch keeps for a layer: input, normed input, 1/r, and both sides of the
 * activation. */
static uint64_t layer_elements(const struct place *p, uint64_t layer)
{
    bool rms = p->model->norm == EMU_NORM_RMS;
    uint64_t normed = p->whole ? p->whole : rms ? p->rows : 0;
    return p->held * width_of(p, layer) + normed * width_of(p, layer) + (rms ? p->held : 0) +
           2 * p->rows * hidden_of(p);
}

/* The extended positions of a cp rank, for all sequences of a microbatch. */
static uint64_t halo_positions(const struct place *p, uint64_t sequences)
{
    uint32_t runs[2];
    uint32_t count = emu_runs_of(p->plan, p->cp, runs);
    return sequences * (emu_positions_owned(p->plan, p->cp) + count * p->model->context);
}

static void add_slot(const struct place *p, struct emu_memory_plan *out)
{
    struct emu_slice own = emu_plan_layers(p->plan, p->stage);
    uint64_t elements = 2 * p->held * p->model->embed; /* the stream and its gradient */
    for (uint64_t layer = own.start; layer < own.start + own.count; layer++)
        elements += layer_elements(p, layer);
    uint64_t bytes = p->rows * (p->model->context + 2); /* ids, targets, masks */
    uint64_t buffers = 0;
    if (p->plan->cp > 1 && p->stage == 0) {
        uint64_t sequences = emu_plan_sequences(p->plan, 0).count;
        elements += 2 * halo_positions(p, sequences) * p->model->embed;
        bytes += halo_positions(p, sequences);
        buffers = sequences * p->model->context * p->model->embed;
    }
    out->bytes[EMU_ACTIVATIONS] += elements * p->element;
    out->bytes[EMU_BUFFERS] += bytes + buffers * p->element;
}

/* Scratch: d after, d before and d normed of the widest layer (and one row more with slices), or
 * three numbers a row for the head. */
static uint64_t scratch_elements(const struct place *p, struct emu_slice own)
{
    uint64_t most = 3 * p->rows;
    for (uint64_t layer = own.start; layer < own.start + own.count; layer++) {
        uint64_t rows = p->whole ? p->whole : p->rows;
        uint64_t here = rows * (2 * hidden_of(p) + width_of(p, layer));
        here += p->whole ? width_of(p, layer) : 0;
        most = here > most ? here : most;
    }
    return most;
}

static void add_stage(const struct place *p, struct emu_memory_plan *out)
{
    struct emu_slice own = emu_plan_layers(p->plan, p->stage);
    uint64_t widest = width_of(p, own.start);
    out->bytes[EMU_ACTIVATIONS] += p->held * widest * p->element;
    out->bytes[EMU_BUFFERS] += (scratch_elements(p, own) + p->whole * widest) * p->element;
    if (p->stage + 1 == p->plan->pp) {
        uint64_t columns = emu_slice_chunk(EMU_VOCAB, p->plan->tp, p->tp).count;
        out->bytes[EMU_ACTIVATIONS] += p->rows * (columns + 1) * p->element;
    }
}

struct emu_memory_plan emu_plan_memory(const struct emu_plan *plan, uint32_t rank)
{
    struct emu_memory_plan out = {{0}};
    struct place p = place_of(plan, rank);
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        if (emu_tensor_held(plan, i, p.stage))
            add_tensor(&p, i, &out);
    add_step(&p, &out);
    if (p.model->kind == EMU_MODEL_LINEAR) {
        add_linear(&p, &out);
        return out;
    }
    for (uint64_t slot = 0; slot < p.slots; slot++)
        add_slot(&p, &out);
    add_stage(&p, &out);
    return out;
}
