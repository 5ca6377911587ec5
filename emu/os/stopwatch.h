/* Where does the time of a process go?
 *
 * A stopwatch that runs is always in exactly one lap, a small number to which its user gives a
 * meaning. Entering a lap charges what has passed to the lap before, so the laps add up to the time
 * since the start, whatever nests in whatever:
 *
 *     uint32_t before = emu_stopwatch_enter(watch, WAIT);
 *     ...
 *     emu_stopwatch_enter(watch, before);
 *
 * One look at the clock for each change of lap; one that does not run costs a branch. Used by one
 * thread. A zeroed one does not run.
 */
#ifndef EMU_OS_STOPWATCH_H
#define EMU_OS_STOPWATCH_H

#include "os/clock.h"

#include <stdbool.h>
#include <stdint.h>

#define EMU_STOPWATCH_LAPS 8u

struct emu_stopwatch {
    bool running;
    uint32_t lap;
    uint64_t since_ns;                     /* when the lap was entered */
    uint64_t spent_ns[EMU_STOPWATCH_LAPS]; /* of the laps that were left */
};

/* All laps are 0 from now on, and `lap` has begun. */
static inline void emu_stopwatch_start(struct emu_stopwatch *watch, uint32_t lap)
{
    *watch = (struct emu_stopwatch){.running = true, .lap = lap, .since_ns = emu_clock_ns()};
}

/* Go over to a lap; returns the one before (0 where the watch does not run). */
static inline uint32_t emu_stopwatch_enter(struct emu_stopwatch *watch, uint32_t lap)
{
    if (!watch->running)
        return 0;
    uint32_t before = watch->lap;
    if (before == lap)
        return before;
    uint64_t now = emu_clock_ns();
    watch->spent_ns[before] += now - watch->since_ns;
    watch->since_ns = now;
    watch->lap = lap;
    return before;
}

#endif
