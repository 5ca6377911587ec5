#include "fault/campaign_schedule.h"

#include "base/philox.h"
#include "fault/axis_kinds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const rows[] = {
    "crash rank=$a",
    "crash rank=$b step=$s call=$c signal=SIGSEGV",
    "crash rank=$a step=1 group=$g phase=signature",
    "crash rank=$b step=$s label=$p phase=deposit",
    "crash rank=$a label=$p phase=copyout signal=SIGABRT",
    "exit rank=$a code=3",
    "exit rank=$b step=$s call=$c code=0",
    "stop rank=$a",
    "stop rank=$b step=$s cont_after=50ms",
    "stall rank=$b step=$s",
    "stall rank=$a label=$p phase=deposit",
    "delay rank=$a time=30ms",
    "delay rank=$b step=$s label=$p phase=copyout",
    "skip_call rank=$a",
    "skip_call rank=$b step=$s label=$p",
    "repeat_call rank=$a",
    "repeat_call rank=$b step=$s label=$p",
    "swap_calls rank=$a label=$p",
    "wrong_axis rank=$a",
    "wrong_axis rank=$b step=$s label=$p",
    "wrong_root rank=$a",
    "wrong_op rank=$a",
    "wrong_op rank=$b step=$s label=$p op=min",
    "wrong_dtype rank=$a",
    "wrong_dtype rank=$b step=$s label=$p dtype=i64",
    "wrong_count rank=$a",
    "wrong_count rank=$b step=$s label=$p",
    "reduce_for_all_reduce rank=$a",
    "reduce_for_all_reduce rank=$b step=$s label=tokens group=$g",
    "flip_deposit rank=$a",
    "flip_deposit rank=$b step=$s label=$p bit=0",
    "flip_result rank=$a label=$p",
    "flip_result rank=$b step=$s label=$p",
    "flip_input rank=$a label=$p",
    "flip_input rank=$b step=$s label=$p",
    "nan rank=$a",
    "nan rank=$b step=$s label=$p",
    "skip_reduce param=$p",
    "skip_reduce step=$s param=$r",
    "double_reduce param=$p",
    "double_reduce step=$s param=$r",
    "reduce_world param=$h",
    "reduce_world step=$s param=$r",
    "wrong_divisor by=world",
    "wrong_divisor by=dp step=$s",
    "wrong_divisor by=local_tokens",
    "mean_of_means",
    "mean_of_means step=$s",
    "drop_microbatch rank=$a",
    "drop_microbatch rank=$b step=$s micro=$m",
    "drop_microbatch micro=$m",
    "repeat_microbatch rank=$a",
    "repeat_microbatch rank=$b step=$s micro=$m",
    "reduce_parameter param=$p",
    "reduce_parameter step=$s param=$r",
    "reduce_part param=$p",
    "reduce_part step=$s param=$r over=$k",
    "skip_tied",
    "skip_tied step=$s",
    "double_tied",
    "double_tied step=$s",
    "skip_sliced param=$q",
    "skip_sliced step=$s",
    "slice_denominator",
    "slice_denominator step=$s",
    "skip_scale rank=$a",
    "skip_scale rank=$b step=$s",
    "skip_norm_sum",
    "skip_norm_sum step=$s over=$n",
    "skip_norm_sum over=$v",
    "skip_norm_sum over=$o",
    "average_norm",
    "average_norm step=$s over=$n",
    "average_norm over=$v",
    "average_norm over=$o",
    "count_padding",
    "count_padding step=$s param=$w",
    "seed_replica rank=$b",
    "seed_replica rank=$a param=$d",
    "same_seed_tp",
    "same_seed_tp param=$h",
    "skip_broadcast rank=$a",
    "wrong_shard rank=$a",
    "wrong_shard rank=$b param=$h",
    "replicate_shard rank=$a param=$h",
    "replicate_shard rank=$b param=$h",
    "same_data rank=$a",
    "same_data rank=$b step=$s",
    "other_data_tp rank=$a",
    "other_data_tp rank=$b step=$s",
    "transposed_mesh rank=$t",
    "skip_update rank=$a",
    "skip_update rank=$b step=$s",
    "wrong_halo",
    "wrong_halo rank=$b step=$s",
    "swap_microbatches rank=$a",
    "swap_microbatches rank=$b step=$s",
    "shift_shard rank=$a",
    "shift_shard rank=$b param=$p",
    "skip_gather rank=$a",
    "skip_gather param=$p",
    "skip_gather rank=$b step=$s param=$p",
};
#define ROWS (sizeof rows / sizeof rows[0])

size_t emu_fault_schedule_count(void)
{
    return ROWS;
}

struct emu_fault_dice emu_fault_dice_plain(const struct emu_plan *plan)
{
    uint32_t world = plan->roster.mesh->world;
    return (struct emu_fault_dice){
        .a = 1 % world,
        .b = world - 1,
        .step = plan->config->train.steps < 2 ? plan->config->train.steps : 2,
        .call = 0,
        .micro = plan->microbatches - 1,
    };
}

/* Number `which` of the random fault `number`, below `below`. */
static uint64_t roll(uint64_t seed, uint64_t number, uint32_t which, uint64_t below)
{
    return emu_random_bits(seed, which, number) % below;
}

struct emu_fault_dice emu_fault_dice_random(const struct emu_plan *plan, uint64_t seed,
                                            uint64_t number, uint64_t calls_in_step)
{
    uint32_t world = plan->roster.mesh->world;
    return (struct emu_fault_dice){
        .a = (uint32_t)roll(seed, number, 1, world),
        .b = (uint32_t)roll(seed, number, 2, world),
        .step = 1 + roll(seed, number, 3, plan->config->train.steps),
        .call = roll(seed, number, 4, calls_in_step),
        .micro = (uint32_t)roll(seed, number, 5, plan->microbatches),
    };
}

size_t emu_fault_schedule_random(uint64_t seed, uint64_t number)
{
    return roll(seed, number, 0, ROWS);
}

enum quality { COMBINED, WHOLE, SHARDED, DRAWN, SLICED, PADDED };

static bool has_quality(const struct emu_plan *plan, uint32_t tensor, enum quality quality)
{
    bool combined = plan->gradient_family != UINT32_MAX;
    switch (quality) {
    case COMBINED:
        return combined;
    case WHOLE:
        return combined && !emu_tensor_is_shard(plan, tensor);
    case SHARDED:
        return plan->tp > 1 && emu_tensor_is_shard(plan, tensor);
    case DRAWN:
        return plan->tensors[tensor].init == EMU_INIT_UNIFORM;
    case SLICED:
        return emu_tensor_sliced(plan, tensor);
    case PADDED:
        return emu_fault_is_padded(plan, tensor);
    }
    return false;
}

/* The first parameter of this kind on the stage of the rank. */
static bool parameter(const struct emu_plan *plan, uint32_t rank, enum quality quality,
                      char out[EMU_FAULT_TEXT_MAX])
{
    uint32_t stage = emu_mesh_coord(plan->roster.mesh, rank, "pp");
    for (uint32_t i = 0; i < plan->tensor_count; i++) {
        if (!emu_tensor_held(plan, i, stage) || !has_quality(plan, i, quality))
            continue;
        snprintf(out, EMU_FAULT_TEXT_MAX, "%s", plan->tensors[i].name);
        return true;
    }
    return false;
}

static bool strange_rank(const struct emu_plan *plan, char out[EMU_FAULT_TEXT_MAX])
{
    const struct emu_mesh *mesh = plan->roster.mesh;
    for (uint32_t rank = 0; rank < mesh->world; rank++) {
        if (emu_mesh_coord(mesh, rank, "dp") == emu_mesh_coord(mesh, rank, "tp"))
            continue;
        snprintf(out, EMU_FAULT_TEXT_MAX, "%" PRIu32, rank);
        return true;
    }
    return false;
}

/* A family as the SPEC names it. */
static bool family(const struct emu_plan *plan, uint32_t index, char out[EMU_FAULT_TEXT_MAX])
{
    if (index == UINT32_MAX)
        return false;
    snprintf(out, EMU_FAULT_TEXT_MAX, "%.*s", EMU_FAULT_TEXT_MAX - 1,
             plan->roster.families[index].name);
    return true;
}

static bool axis(const struct emu_plan *plan, const char *name, char out[EMU_FAULT_TEXT_MAX])
{
    uint32_t index;
    return emu_roster_find(&plan->roster, name, &index) == EMU_OK && family(plan, index, out);
}

static bool fill(const struct emu_plan *plan, const struct emu_fault_dice *dice, char gap,
                 uint32_t *rank, char out[EMU_FAULT_TEXT_MAX])
{
    uint64_t number = 0;
    switch (gap) {
    case 'g':
        return family(plan, plan->gradient_family, out);
    case 'n':
        return axis(plan, "tp", out);
    case 'v':
        return axis(plan, "pp", out);
    case 'o':
        return emu_plan_shards_gradients(plan) && family(plan, plan->shard_family, out);
    case 'k':
        return axis(plan, "cp", out);
    case 'q':
        return parameter(plan, *rank, SLICED, out);
    case 'w':
        return parameter(plan, *rank, PADDED, out);
    case 'p':
        return parameter(plan, *rank, COMBINED, out);
    case 'r':
        return parameter(plan, *rank, WHOLE, out);
    case 'h':
        return parameter(plan, *rank, SHARDED, out);
    case 'd':
        return parameter(plan, *rank, DRAWN, out);
    case 't':
        return strange_rank(plan, out);
    case 's':
        number = dice->step;
        break;
    case 'c':
        number = dice->call;
        break;
    case 'm':
        number = dice->micro;
        break;
    default:
        *rank = gap == 'a' ? dice->a : dice->b;
        number = *rank;
    }
    snprintf(out, EMU_FAULT_TEXT_MAX, "%" PRIu64, number);
    return true;
}

bool emu_fault_schedule_spec(const struct emu_plan *plan, size_t index,
                             const struct emu_fault_dice *dice, char spec[EMU_FAULT_SPEC_MAX])
{
    uint32_t rank = 0;
    size_t used = 0;
    for (const char *at = rows[index]; *at; at++) {
        char text[EMU_FAULT_TEXT_MAX] = {*at, '\0'};
        if (*at == '$' && !fill(plan, dice, *++at, &rank, text)) {
            snprintf(spec, EMU_FAULT_SPEC_MAX, "%.*s", (int)strcspn(rows[index], " "), rows[index]);
            return false;
        }
        used += (size_t)snprintf(spec + used, EMU_FAULT_SPEC_MAX - used, "%s", text);
    }
    return true;
}
