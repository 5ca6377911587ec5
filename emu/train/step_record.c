#include "train/trainer.h"

#include <string.h>

static struct emu_hash hash_of(const struct emu_trainer *trainer, const void *x, uint64_t elements)
{
    return emu_hash_of(x, elements * trainer->nn.kernels->bytes);
}

static uint64_t offset_of(const unsigned char *base, const void *x)
{
    return x ? (uint64_t)((const unsigned char *)x - base) : UINT64_MAX;
}

static void record_tensor(const struct emu_trainer *trainer, const unsigned char *base,
                          const struct emu_parameter *parameter, struct emu_tensor_record *out)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    uint64_t n = parameter->elements;
    if (!parameter->held) { /* on another stage: no block */
        *out = (struct emu_tensor_record){.ledger = UINT64_MAX, .finite = true};
        return;
    }
    bool scattered = emu_plan_shards_gradients(trainer->plan);
    struct emu_slice whole = {0, n};
    struct emu_slice moment = emu_plan_shards_moments(trainer->plan) ? parameter->chunk : whole;
    struct emu_slice part = scattered ? parameter->chunk : whole;
    const void *gradient = scattered ? parameter->gradient_chunk : parameter->gradient;
    *out = (struct emu_tensor_record){
        .weight = offset_of(base, parameter->weight),
        .gradient = offset_of(base, gradient),
        .gradient_part = part,
        .moment_part = moment,
        .moment = {offset_of(base, parameter->moment[0]), offset_of(base, parameter->moment[1])},
        .first_row = parameter->block.first_row,
        .rows = parameter->block.rows,
        .first_column = parameter->block.first_column,
        .columns = parameter->block.columns,
        .weight_hash = hash_of(trainer, parameter->weight, n),
        .gradient_hash = hash_of(trainer, gradient, part.count),
        .ledger = offset_of(base, parameter->value.coefficients),
        .finite = kernels->finite(parameter->weight, n) && kernels->finite(gradient, part.count)};
    for (uint32_t m = 0; m < trainer->plan->moments; m++)
        out->moment_hash[m] = hash_of(trainer, parameter->moment[m], moment.count);
}

void emu_trainer_record(const struct emu_trainer *trainer, const unsigned char *arena_base,
                        struct emu_step_record *record)
{
    const struct emu_plan *plan = trainer->plan;
    struct emu_slice share = emu_slice_chunk(plan->batch, plan->dp, trainer->dp_read);
    record->step = trainer->step;
    record->loss_sum = trainer->local_loss;
    record->tokens = trainer->tokens;
    record->step_tokens = trainer->step_tokens;
    record->step_loss = emu_trainer_loss(trainer).value;
    record->grad_norm = emu_trainer_norm(trainer).value;
    record->first_sequence = (trainer->step ? trainer->step - 1 : 0) * plan->batch + share.start;
    record->sequences = share.count;
    record->text_sequences = trainer->corpus ? trainer->corpus->count : plan->batch;
    record->batch_hash = trainer->batch_hash;
    memcpy(record->requested, trainer->arena.requested, sizeof record->requested);
    memcpy(record->rounded, trainer->arena.rounded, sizeof record->rounded);
    record->inexact = trainer->rounding.rounded;
    memcpy(record->inexact_kernel, trainer->rounding.kernel, sizeof record->inexact_kernel);
    memcpy(record->inexact_where, trainer->rounding.where, sizeof record->inexact_where);
    const struct emu_traffic *sent = emu_rank_wired(trainer->rank);
    for (uint32_t i = 0; i < EMU_ROSTER_MAX_FAMILIES; i++)
        record->family_bytes[i] = sent->family_bytes[i] - trainer->before.family_bytes[i];
    for (uint32_t i = 0; i < EMU_MESH_MAX_AXES; i++)
        record->message_bytes[i] = sent->message_bytes[i] - trainer->before.message_bytes[i];
    record->trouble = trainer->trouble;
    record->event_count = trainer->event_count;
    memcpy(record->events, trainer->events, sizeof record->events);
    record->source_tokens = offset_of(arena_base, trainer->source_tokens);
    record->squares = offset_of(arena_base, trainer->tensor_squares);
    record->tensor_count = plan->tensor_count;
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        record_tensor(trainer, arena_base, &trainer->parameters[i], &record->tensors[i]);
}
