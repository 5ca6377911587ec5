/* Do ranks that share a model compute what one rank computes? Forked ranks over a shared segment;
 * tp = 1, 2, 3, 5 and more ranks than hidden units, against a mesh of one with derived bounds. */
#include "comm/rank.h"
#include "nn_random.h"
#include "tiny_models.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct mesh_case {
    int model;
    uint32_t tp;
    bool single;
};

/* The shared page: weights in, gradients and losses out; one place for each rank. */
struct shared {
    struct tiny_values weights;
    struct tiny_values out[9];
};

struct mesh_run {
    struct tiny model;
    const struct mesh_case *c;
    struct shared *shared;
    struct emu_segment segment;
};

static int rank_body(const struct mesh_run *run, uint32_t index)
{
    struct emu_rank *rank = NULL;
    uint32_t group = 0;
    if (emu_rank_create(&run->segment, index, &rank) != EMU_OK)
        return 2;
    if (emu_rank_group(rank, "tp", &group) != EMU_OK)
        return 3;
    const struct tiny_rank at = {.kernels = emu_kernels_of(run->c->single ? EMU_F32 : EMU_F64),
                                 .rank = rank,
                                 .group = group,
                                 .index = index,
                                 .size = run->c->tp};
    const enum emu_status status =
        tiny_run(&run->model, &at, &run->shared->weights, &run->shared->out[index]);
    emu_rank_destroy(rank);
    return status == EMU_OK ? 0 : 10 + (int)status;
}

static void run_ranks(const struct mesh_run *run)
{
    pid_t pids[9];
    const pid_t parent = getpid();
    fflush(NULL);
    for (uint32_t i = 0; i < run->c->tp; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            _exit(getppid() == parent ? rank_body(run, i) : 1);
        }
        cr_assert(pids[i] > 0);
    }
    for (uint32_t i = 0; i < run->c->tp; i++) {
        int status = 0;
        cr_assert(waitpid(pids[i], &status, 0) == pids[i]);
        cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "rank %u: wait status %d", i,
                  status);
    }
}

static void *shared_room(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(memory != MAP_FAILED);
    return memory;
}

/* Elements of the tensor that this rank holds. */
static bool held_by(const struct tiny_shape *shape, uint64_t element, uint32_t tp, uint32_t index)
{
    if (shape->split < 0)
        return true;
    const uint64_t whole = shape->split == 0 ? shape->rows : shape->columns;
    const uint64_t place = shape->split == 0 ? element / shape->columns : element % shape->columns;
    const struct emu_slice part = emu_slice_chunk(whole, tp, index);
    return place >= part.start && place - part.start < part.count;
}

static void expect_near(double got, struct emu_bounded want, const char *what, uint64_t i)
{
    cr_assert(isfinite(want.bound) && fabs(got - want.value) <= 2.0 * want.bound,
              "%s element %lu: %.17g, alone %.17g, bound %g", what, i, got, want.value, want.bound);
}

static void expect_same_model(const struct mesh_run *run, const struct tiny_values *alone)
{
    for (uint32_t r = 0; r < run->c->tp; r++) {
        const struct tiny_values *got = &run->shared->out[r], *first = &run->shared->out[0];
        for (int t = 0; t < TENSORS; t++) {
            const struct tiny_shape shape = tiny_shape_of(&run->model, (enum tensor)t);
            for (uint64_t i = 0; i < shape.rows * shape.columns; i++) {
                if (held_by(&shape, i, run->c->tp, r))
                    expect_near(got->element[t][i].value, alone->element[t][i], "gradient", i);
                if (shape.split < 0)
                    cr_assert(got->element[t][i].value == first->element[t][i].value,
                              "replicas differ in tensor %d", t);
            }
        }
        for (uint64_t i = 0; i < run->model.rows; i++) {
            expect_near(got->loss[i].value, alone->loss[i], "loss", i);
            cr_assert(got->loss[i].value == first->loss[i].value);
        }
    }
}

ParameterizedTestParameters(layers, tensor_parallel_ranks_agree_with_one)
{
    static struct mesh_case cases[TINY_MODELS * 5];
    static const uint32_t sizes[] = {1, 2, 3, 5, 9};
    for (int i = 0; i < TINY_MODELS * 5; i++)
        cases[i] = (struct mesh_case){i / 5, sizes[i % 5], i % 2 == 1};
    return cr_make_param_array(struct mesh_case, cases, TINY_MODELS * 5);
}

ParameterizedTest(struct mesh_case *c, layers, tensor_parallel_ranks_agree_with_one, .timeout = 60)
{
    struct mesh_run run = {.model = tiny_model_number(c->model), .c = c};
    struct emu_mesh mesh = {0};
    struct emu_roster *roster = calloc(1, sizeof(*roster));
    struct tiny_values *alone = calloc(1, sizeof(*alone));
    char axes[16];
    uint64_t random = (uint64_t)c->model;
    cr_assert(roster && alone);
    (void)snprintf(axes, sizeof(axes), "tp=%u", c->tp);
    cr_assert(emu_mesh_parse(axes, &mesh, NULL) == EMU_OK);
    emu_roster_init(roster, &mesh);
    const struct emu_segment_params params = {.roster = roster, .arena_bytes = 1 << 16};
    cr_assert(emu_segment_plan(&params, &run.segment) == EMU_OK);
    void *base = shared_room(run.segment.bytes);
    emu_segment_init(&run.segment, base);
    run.shared = shared_room(sizeof(*run.shared));
    tiny_draw(&run.model, &run.shared->weights, &random);
    tiny_run_alone(&run.model, emu_kernels_of(c->single ? EMU_BOUND32 : EMU_BOUND64),
                   &run.shared->weights, alone);
    run_ranks(&run);
    expect_same_model(&run, alone);
    munmap(base, run.segment.bytes);
    munmap(run.shared, sizeof(*run.shared));
    emu_roster_finish(roster);
    emu_mesh_finish(&mesh);
    free(roster);
    free(alone);
}
