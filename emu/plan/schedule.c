#include "plan/schedule.h"

/* Forwards before the first backward. */
static uint32_t warm_up(const struct emu_plan *plan, uint32_t stage)
{
    uint32_t most = plan->microbatches;
    if (plan->config->train.schedule == EMU_GPIPE)
        return most;
    uint32_t fill = plan->pp - 1 - stage;
    return fill < most ? fill : most;
}

struct emu_action emu_schedule_action(const struct emu_plan *plan, uint32_t stage, uint32_t i)
{
    uint32_t filled = warm_up(plan, stage);
    uint32_t steady = 2 * (plan->microbatches - filled);
    if (i < filled)
        return (struct emu_action){false, i};
    i -= filled;
    if (i >= steady) /* backwards that are left */
        return (struct emu_action){true, steady / 2 + i - steady};
    return (struct emu_action){i % 2 == 1, i % 2 == 1 ? i / 2 : filled + i / 2};
}

uint32_t emu_schedule_in_flight(const struct emu_plan *plan, uint32_t stage)
{
    uint32_t filled = warm_up(plan, stage);
    return filled < plan->microbatches ? filled + 1 : filled;
}
