#include "train/deviate.h"

static struct emu_deviation_place place_of(const struct emu_trainer *trainer)
{
    uint32_t rank = emu_rank_id(trainer->rank);
    return (struct emu_deviation_place){
        .rank = rank, .step = trainer->rank_step, .local_tokens = trainer->tokens, .about = rank};
}

bool emu_deviates(const struct emu_trainer *trainer, enum emu_deviation kind, uint32_t tensor,
                  uint32_t micro, uint64_t *number)
{
    const struct emu_step_hooks *hooks = trainer->hooks;
    if (!hooks)
        return false;
    struct emu_deviation_place place = place_of(trainer);
    place.tensor = tensor;
    place.micro = micro;
    uint64_t ignored;
    return hooks->deviates(hooks->user, kind, &place, number ? number : &ignored);
}

static bool holds_axis(const struct emu_axes *axes, int axis)
{
    for (uint32_t i = 0; i < axes->count; i++)
        if (axes->index[i] == axis)
            return true;
    return false;
}

/* One axis of several: what a reduction over the others too may be mistaken for. */
static bool narrows(const struct emu_axes *axes, const struct emu_axes *part)
{
    return axes->count > 1 && part->count == 1 && holds_axis(axes, part->index[0]);
}

const struct emu_axes *emu_trainer_axes(const struct emu_trainer *trainer, uint32_t tensor,
                                        uint32_t index, uint32_t *family)
{
    const struct emu_plan *plan = trainer->plan;
    const struct emu_axes *axes =
        emu_reduction_axes(plan, &plan->recipe.reductions[index], tensor, family);
    uint64_t part;
    if (emu_deviates(trainer, EMU_DEVIATE_REDUCE_WORLD, tensor, 0, NULL)) {
        *family = 0; /* world */
        return &trainer->all_axes;
    }
    if (axes->count > 1 && emu_deviates(trainer, EMU_DEVIATE_REDUCE_PART, tensor, 0, &part) &&
        narrows(axes, &plan->roster.families[part].axes)) {
        *family = (uint32_t)part;
        return &plan->roster.families[part].axes;
    }
    return axes;
}

/* Does the reduction add what two stages hold of one table? */
static bool sums_ends(const struct emu_trainer *trainer, uint32_t tensor, uint32_t index)
{
    return emu_tensor_tied(trainer->plan, tensor) &&
           trainer->plan->recipe.reductions[index].tied_axes.ends != 0;
}

/* Does it add what the ranks of tp have of their own rows each? */
static bool sums_slices(const struct emu_trainer *trainer, uint32_t tensor, uint32_t index)
{
    int tp = emu_mesh_find(trainer->plan->roster.mesh, "tp");
    return emu_tensor_sliced(trainer->plan, tensor) &&
           holds_axis(&trainer->plan->recipe.reductions[index].axes, tp);
}

bool emu_trainer_leaves_out(const struct emu_trainer *trainer, uint32_t tensor, uint32_t index,
                            uint32_t micro)
{
    return emu_deviates(trainer, EMU_DEVIATE_SKIP_REDUCE, tensor, micro, NULL) ||
           (sums_ends(trainer, tensor, index) &&
            emu_deviates(trainer, EMU_DEVIATE_SKIP_TIED, tensor, micro, NULL)) ||
           (sums_slices(trainer, tensor, index) &&
            emu_deviates(trainer, EMU_DEVIATE_SKIP_SLICED, tensor, micro, NULL));
}

bool emu_trainer_repeats(const struct emu_trainer *trainer, uint32_t tensor, uint32_t index,
                         uint32_t micro)
{
    return emu_deviates(trainer, EMU_DEVIATE_DOUBLE_REDUCE, tensor, micro, NULL) ||
           (sums_ends(trainer, tensor, index) &&
            emu_deviates(trainer, EMU_DEVIATE_DOUBLE_TIED, tensor, micro, NULL));
}

uint32_t emu_trainer_turn(const struct emu_trainer *trainer, uint32_t micro)
{
    bool first_two = micro < 2 && trainer->plan->microbatches > 1;
    bool swapped = first_two && emu_deviates(trainer, EMU_DEVIATE_SWAP_MICROBATCHES, 0, 0, NULL);
    return swapped ? 1 - micro : micro;
}

struct emu_action emu_trainer_action(const struct emu_trainer *trainer, uint32_t i)
{
    struct emu_action action = emu_schedule_action(trainer->plan, trainer->stage, i);
    action.micro = emu_trainer_turn(trainer, action.micro); /* its own inverse */
    return action;
}

bool emu_trainer_halo_strays(const struct emu_trainer *trainer, uint32_t rank)
{
    if (!trainer->hooks)
        return false;
    struct emu_deviation_place place = place_of(trainer);
    place.about = rank;
    uint64_t ignored;
    return trainer->hooks->deviates(trainer->hooks->user, EMU_DEVIATE_HALO, &place, &ignored);
}

uint32_t emu_trainer_source(const struct emu_trainer *trainer, uint32_t micro)
{
    uint64_t other;
    if (emu_deviates(trainer, EMU_DEVIATE_READ, 0, micro, &other))
        return (uint32_t)other;
    return trainer->source_offset + micro;
}
