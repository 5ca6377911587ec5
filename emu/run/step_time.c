#include "run/step_time.h"

#include <stdlib.h>
#include <string.h>

uint64_t emu_rank_laps_begin(struct emu_rank *rank)
{
    emu_stopwatch_start(emu_rank_stopwatch(rank), EMU_LAP_COMPUTE);
    return emu_clock_cpu_ns();
}

void emu_rank_laps_write(struct emu_rank *rank, uint64_t cpu_ns, struct emu_rank_laps *laps)
{
    struct emu_stopwatch *watch = emu_rank_stopwatch(rank);
    uint64_t used = emu_clock_cpu_ns() - cpu_ns;
    emu_stopwatch_enter(watch, EMU_LAP_GATE);
    memcpy(laps->spent_ns, watch->spent_ns, sizeof laps->spent_ns);
    laps->arrived_ns = watch->since_ns;
    laps->cpu_ns = used;
}

enum emu_status emu_step_time_begin(struct emu_step_time *time, uint32_t world)
{
    *time = (struct emu_step_time){.on = true, .cpu_since_ns = emu_clock_cpu_ns()};
    time->breakdown = calloc(1, sizeof *time->breakdown + world * sizeof time->breakdown->ranks[0]);
    if (!time->breakdown)
        return EMU_ENOMEM;
    time->breakdown->world = world;
    emu_stopwatch_start(&time->watch, EMU_AUDIT_IDLE);
    return EMU_OK;
}

void emu_step_time_finish(struct emu_step_time *time)
{
    free(time->breakdown);
    *time = (struct emu_step_time){0};
}

void emu_step_time_enter(struct emu_step_time *time, enum emu_audit_lap lap)
{
    if (!time->on)
        return;
    uint64_t cpu = emu_clock_cpu_ns();
    uint32_t before = emu_stopwatch_enter(&time->watch, lap);
    time->cpu_ns[before] += cpu - time->cpu_since_ns;
    time->cpu_since_ns = cpu;
    if (before == EMU_AUDIT_ORACLE)
        time->oracle_done_ns = time->watch.since_ns;
}

void emu_step_time_open(struct emu_step_time *time, uint64_t last_ns)
{
    if (!time->on)
        return;
    if (time->oracle_done_ns > last_ns)
        time->held_ns[EMU_AUDIT_ORACLE] += time->oracle_done_ns - last_ns;
    time->oracle_done_ns = 0;
    emu_step_time_enter(time, EMU_AUDIT_CHECKS);
    memcpy(time->opened_ns, time->watch.spent_ns, sizeof time->opened_ns);
}

void emu_step_time_close(struct emu_step_time *time, uint64_t step)
{
    if (!time->on)
        return;
    emu_step_time_enter(time, EMU_AUDIT_IDLE);
    for (int lap = EMU_AUDIT_CHECKS; lap < EMU_AUDIT_LAP_COUNT; lap++)
        time->held_ns[lap] += time->watch.spent_ns[lap] - time->opened_ns[lap];
    time->breakdown->steps = step;
    time->breakdown->audit_cpu_ns = time->cpu_ns[EMU_AUDIT_CHECKS];
    time->breakdown->oracle_cpu_ns = time->cpu_ns[EMU_AUDIT_ORACLE];
}

void emu_step_time_take(struct emu_step_time *time, uint32_t rank, const struct emu_rank_laps *laps)
{
    struct emu_rank_time *to = &time->breakdown->ranks[rank];
    const uint64_t *spent = laps->spent_ns;
    uint64_t checks = time->held_ns[EMU_AUDIT_CHECKS], oracle = time->held_ns[EMU_AUDIT_ORACLE];
    /* It holds both: each was counted from the last arrival on. */
    uint64_t at_gates = spent[EMU_LAP_GATE] + (time->watch.since_ns - laps->arrived_ns);
    to->ns[EMU_SPENT_COMPUTE] = spent[EMU_LAP_COMPUTE];
    to->ns[EMU_SPENT_WAITING] = spent[EMU_LAP_WAIT] + (at_gates - checks - oracle);
    to->ns[EMU_SPENT_FOLDING] = spent[EMU_LAP_FOLD];
    to->ns[EMU_SPENT_CALLS] = spent[EMU_LAP_CALL];
    to->ns[EMU_SPENT_CHECKS] = spent[EMU_LAP_CHECK] + checks;
    to->ns[EMU_SPENT_ORACLE] = oracle;
    to->cpu_ns = laps->cpu_ns;
}
