#include "tp_ranks.h"

#include "comm/rank.h"
#include "nn/kernel_exact.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct job {
    int (*body)(const struct tp_place *at, void *context);
    void *context;
    struct emu_segment segment;
    uint32_t size;
};

static int rank_body(const struct job *job, uint32_t index)
{
    struct tp_place at = {.index = index, .size = job->size};
    if (emu_rank_create(&job->segment, index, &at.rank) != EMU_OK)
        return 2;
    if (emu_rank_group(at.rank, "tp", &at.group) != EMU_OK)
        return 3;
    const int code = job->body(&at, job->context);
    emu_rank_destroy(at.rank);
    return code;
}

static void fork_ranks(const struct job *job)
{
    pid_t pids[TP_MAX];
    const pid_t parent = getpid();
    fflush(NULL);
    for (uint32_t i = 0; i < job->size; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            _exit(getppid() == parent ? rank_body(job, i) : 1);
        }
        cr_assert(pids[i] > 0);
    }
    for (uint32_t i = 0; i < job->size; i++) {
        int status = 0;
        cr_assert(waitpid(pids[i], &status, 0) == pids[i]);
        cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "rank %u: wait status %d", i,
                  status);
    }
}

void *tp_memory_create(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(memory != MAP_FAILED);
    return memory;
}

void tp_memory_destroy(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}

void tp_ranks_run(uint32_t size, int (*body)(const struct tp_place *at, void *context),
                  void *context)
{
    struct job job = {.body = body, .context = context, .size = size};
    struct emu_mesh mesh = {0};
    struct emu_roster *roster = calloc(1, sizeof(*roster));
    char axes[16];
    cr_assert(roster && size <= TP_MAX);
    (void)snprintf(axes, sizeof(axes), "tp=%u", size);
    cr_assert(emu_mesh_parse(axes, &mesh, NULL) == EMU_OK);
    emu_roster_init(roster, &mesh);
    const struct emu_segment_params params = {.roster = roster, .arena_bytes = 1 << 16};
    cr_assert(emu_segment_plan(&params, &job.segment) == EMU_OK);
    void *base = tp_memory_create(job.segment.bytes);
    emu_segment_init(&job.segment, base);
    fork_ranks(&job);
    tp_memory_destroy(base, job.segment.bytes);
    emu_roster_finish(roster);
    emu_mesh_finish(&mesh);
    free(roster);
}

int tp_model_run(const struct tp_place *at, void *context)
{
    const struct tp_model *run = context;
    const struct tiny_rank rank = {.kernels = run->kernels,
                                   .rank = at->rank,
                                   .group = at->group,
                                   .index = at->index,
                                   .size = at->size,
                                   .sequence_parallel = run->sequence_parallel};
    if (run->watched)
        emu_rounding_begin();
    const enum emu_status status =
        tiny_run(&run->model, &rank, &run->values->weights, &run->values->out[at->index]);
    if (status != EMU_OK)
        return 10 + (int)status;
    if (!run->watched)
        return 0;
    emu_rounding_look("a collective");
    return emu_rounding_end().rounded ? TP_ROUNDED : 0;
}

bool tp_holds(const struct tiny_shape *shape, uint64_t element, uint32_t size, uint32_t index)
{
    if (shape->split < 0)
        return true;
    const uint64_t whole = shape->split == 0 ? shape->rows : shape->columns;
    const uint64_t place = shape->split == 0 ? element / shape->columns : element % shape->columns;
    const struct emu_slice part = emu_slice_chunk(whole, size, index);
    return place >= part.start && place - part.start < part.count;
}
