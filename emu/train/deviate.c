#include "train/deviate.h"

bool emu_deviates(const struct emu_trainer *trainer, enum emu_deviation kind, uint32_t tensor,
                  uint32_t micro, uint64_t *number)
{
    const struct emu_step_hooks *hooks = trainer->hooks;
    if (!hooks)
        return false;
    struct emu_deviation_place place = {.rank = emu_rank_id(trainer->rank),
                                        .step = trainer->rank_step,
                                        .tensor = tensor,
                                        .micro = micro,
                                        .local_tokens = trainer->tokens};
    uint64_t ignored;
    return hooks->deviates(hooks->user, kind, &place, number ? number : &ignored);
}

uint32_t emu_trainer_source(const struct emu_trainer *trainer, uint32_t micro)
{
    uint64_t other;
    if (emu_deviates(trainer, EMU_DEVIATE_READ, 0, micro, &other))
        return (uint32_t)other;
    return trainer->source_offset + micro;
}
