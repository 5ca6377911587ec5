/* A segment on the heap of one process, for tests of its parts without ranks. */
#ifndef TESTS_SEG_SMALL_SEGMENT_H
#define TESTS_SEG_SMALL_SEGMENT_H

#include "seg/segment.h"

#include <stdlib.h>
#include <sys/mman.h>

struct small_segment {
    struct emu_mesh mesh;
    struct emu_roster roster;
    struct emu_segment segment;
};

/* cores: that the ranks share; 0: those at hand */
static inline enum emu_status small_plan_on(struct small_segment *small, const char *axes,
                                            uint64_t arena_bytes, uint32_t cores)
{
    struct emu_mesh_error error;
    enum emu_status status = emu_mesh_parse(axes, &small->mesh, &error);
    if (status)
        return status;
    emu_roster_init(&small->roster, &small->mesh);
    struct emu_ways ways = emu_ways_of(cores);
    struct emu_segment_params params = {.roster = &small->roster,
                                        .arena_bytes = arena_bytes,
                                        .record_bytes = 100,
                                        .ways = cores ? &ways : NULL};
    return emu_segment_plan(&params, &small->segment);
}

static inline enum emu_status small_plan(struct small_segment *small, const char *axes,
                                         uint64_t arena_bytes)
{
    return small_plan_on(small, axes, arena_bytes, 0);
}

static inline bool small_open_on(struct small_segment *small, const char *axes, uint32_t cores)
{
    *small = (struct small_segment){0};
    if (small_plan_on(small, axes, 5000, cores))
        return false;
    void *base = mmap(NULL, small->segment.bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    emu_segment_init(&small->segment, base);
    return true;
}

static inline bool small_open(struct small_segment *small, const char *axes)
{
    return small_open_on(small, axes, 0);
}

static inline void small_close(struct small_segment *small)
{
    if (small->segment.base)
        munmap(small->segment.base, small->segment.bytes);
    emu_roster_finish(&small->roster);
    emu_mesh_finish(&small->mesh);
}

#endif
