/* Do collectives stay right while ranks are late, stopped and continued, and while many of them are
 * open together?
 *
 * 16 ranks make the same calls, drawn from a seed: kinds, lengths, groups (world, both axes, both
 * in the other order), in the arena or outside, up to 6 open at a time, waited for in an order of
 * each rank's own, some with coefficients. Ranks sleep now and then; the launcher's auditor stops
 * and continues them at random. Every element of every result is compared with a formula. Every way
 * takes its turn, with checksums and without; the launcher's detector of deadlocks is on and must
 * find nothing.
 *
 *   collective_torture [--collectives N] [--seed S]
 */
#include "os/clock.h"
#include "run/job.h"
#include "seg/gate.h"
#include "torture_ledger.h"

#include <meshemu/comm.h>

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MESH "dp=4,tp=4"
#define WORLD 16
#define OPEN 6
#define GROUPS 4
#define LONGEST 9000 /* elements */
#define NOBODY WORLD

static const char *const group_names[GROUPS] = {"world", "dp", "tp", "tp,dp"};
static const uint32_t group_sizes[GROUPS] = {16, 4, 4, 16};

static const struct {
    const char *ways; /* as MESHEMU_WAYS has them; NULL: those of this machine */
    bool checksums;
} turns[] = {
    {NULL, false},
    {NULL, true},
    {"cores=64,few=18446744073709551615", false},
    {"cores=1,many=18446744073709551615", true},
    {"cores=2,few=0,many=0,unit=64,stream=0", false},
    {"cores=2,few=512,many=512,unit=2048", false},
    {"cores=4,few=0,many=0", false},
    {"cores=2,few=0,many=0,unit=64", true},
};
#define TURNS (sizeof turns / sizeof turns[0])

/* What the ranks and the auditor share. */
struct shared {
    uint64_t seed;
    uint64_t wanted;             /* collectives */
    _Atomic uint64_t made;       /* by the last rank of each group */
    _Atomic int32_t pids[WORLD]; /* 0: not there yet, or ending */
    _Atomic uint32_t tormented;  /* whom the auditor signals; NOBODY: nobody */
    _Atomic uint32_t left;       /* ranks that have not finished */
    _Atomic uint64_t stops;
};

static uint64_t draw(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* One call, the same on all members of its group. */
struct plan {
    enum emu_kind kind;
    enum emu_op op;
    enum emu_dtype dtype; /* i64 or f64: every number here is exact in both */
    uint32_t family, size;
    uint64_t count;
    uint32_t root;
    int64_t slope;
    uint32_t coefficients;
};

static struct plan plan_of(uint64_t seed, uint64_t step)
{
    uint64_t state = seed * UINT64_C(1000003) + step;
    struct plan plan = {.kind = (enum emu_kind)(EMU_BARRIER + draw(&state) % 9),
                        .op = (enum emu_op)(draw(&state) % 4), /* no product */
                        .dtype = draw(&state) % 2 ? EMU_I64 : EMU_F64,
                        .family = (uint32_t)(draw(&state) % 8)};
    plan.family = plan.family < 6 ? plan.family % 2 + 1 : plan.family == 6 ? 0 : 3;
    plan.size = group_sizes[plan.family];
    plan.root = (uint32_t)(draw(&state) % plan.size);
    plan.slope = (int64_t)(draw(&state) % 5);
    uint64_t length = draw(&state) % 1000;
    plan.count = length < 3     ? LONGEST - draw(&state) % 7
                 : length < 20  ? 500 + draw(&state) % 1500
                 : length < 300 ? 5 + draw(&state) % 100
                                : draw(&state) % 12;
    plan.coefficients = draw(&state) % 4 ? 0 : (uint32_t)(draw(&state) % TORTURE_COEFFICIENTS);
    return plan;
}

/* Element i of a member's input. */
static int64_t input_at(const struct plan *plan, uint64_t member, uint64_t i)
{
    return (int64_t)(member * member * 3 + 1) + plan->slope * (int64_t)(i % 251);
}

/* Element i over all members; sums of members are those of the formula. */
static int64_t folded_at(const struct plan *plan, uint64_t i)
{
    int64_t n = plan->size, line = plan->slope * (int64_t)(i % 251);
    int64_t sum = (n - 1) * n * (2 * n - 1) / 2 + n + n * line;
    switch (plan->op) {
    case EMU_MIN:
        return 1 + line;
    case EMU_MAX:
        return (n - 1) * (n - 1) * 3 + 1 + line;
    default:
        return sum;
    }
}

/* Element i of the result of member me, and their number. */
static int64_t result_at(const struct plan *plan, uint32_t me, uint64_t i)
{
    struct emu_slice own = emu_slice_chunk(plan->count, plan->size, me);
    switch (plan->kind) {
    case EMU_BROADCAST:
        return input_at(plan, plan->root, i);
    case EMU_SCATTER:
        return input_at(plan, plan->root, own.start + i);
    case EMU_ALL_GATHER:
    case EMU_GATHER:
        return input_at(plan, i / plan->count, i % plan->count);
    case EMU_ALL_TO_ALL:
        return input_at(plan, i / own.count, own.start + i % own.count);
    case EMU_REDUCE_SCATTER:
        return folded_at(plan, own.start + i);
    default:
        return folded_at(plan, i);
    }
}

static uint64_t result_count(const struct plan *plan, uint32_t me)
{
    uint64_t own = emu_slice_chunk(plan->count, plan->size, me).count;
    switch (plan->kind) {
    case EMU_BARRIER:
        return 0;
    case EMU_BROADCAST:
        return me == plan->root ? 0 : plan->count;
    case EMU_REDUCE:
        return me == plan->root ? plan->count : 0;
    case EMU_GATHER:
        return me == plan->root ? plan->count * plan->size : 0;
    case EMU_ALL_GATHER:
        return plan->count * plan->size;
    case EMU_ALL_TO_ALL:
        return own * plan->size;
    case EMU_SCATTER:
    case EMU_REDUCE_SCATTER:
        return own;
    default:
        return plan->count;
    }
}

struct place {
    void *input, *output;
    uint64_t *ledger;
};

/* What a rank has of its own. */
struct worker {
    struct emu_rank *rank;
    struct shared *shared;
    uint64_t state;
    uint32_t groups[GROUPS];
    struct place arena[OPEN], heap[OPEN];
    struct plan plans[OPEN];
    struct emu_call calls[OPEN];
    struct emu_request *requests[OPEN];
};

static void put(enum emu_dtype dtype, void *to, uint64_t i, int64_t value)
{
    if (dtype == EMU_I64)
        ((int64_t *)to)[i] = value;
    else
        ((double *)to)[i] = (double)value;
}

/* An average of whole numbers is truncated. */
static bool is_right(const struct plan *plan, const void *from, uint64_t i, int64_t value)
{
    bool reduces = plan->kind == EMU_REDUCE || plan->kind == EMU_ALL_REDUCE ||
                   plan->kind == EMU_REDUCE_SCATTER;
    int64_t parts = reduces && plan->op == EMU_AVG ? plan->size : 1;
    if (plan->dtype == EMU_I64)
        return ((const int64_t *)from)[i] == value / parts;
    return ((const double *)from)[i] == (double)value / (double)parts;
}

static bool start(struct worker *worker, uint32_t which, uint64_t step)
{
    struct plan plan = plan_of(worker->shared->seed, step);
    uint32_t group = worker->groups[plan.family];
    uint32_t me = (uint32_t)emu_rank_group_index(worker->rank, group);
    const struct place *place =
        draw(&worker->state) % 8 ? &worker->arena[which] : &worker->heap[which];
    for (uint64_t i = 0; i < plan.count; i++)
        put(plan.dtype, place->input, i, input_at(&plan, me, i));
    memset(place->output, 0xee, result_count(&plan, me) * 8);
    worker->plans[which] = plan;
    worker->calls[which] = (struct emu_call){.kind = plan.kind,
                                             .group = group,
                                             .count = plan.count,
                                             .dtype = plan.dtype,
                                             .op = plan.op,
                                             .root = plan.root,
                                             .input = place->input,
                                             .output = place->output,
                                             .label = "torture",
                                             .ledger = place->ledger,
                                             .ledger_count = plan.coefficients};
    torture_ledger_fill(&worker->calls[which], me);
    return emu_start(worker->rank, &worker->calls[which], &worker->requests[which]) == EMU_OK;
}

static bool finish(struct worker *worker, uint32_t which)
{
    const struct plan *plan = &worker->plans[which];
    uint32_t me = (uint32_t)emu_rank_group_index(worker->rank, worker->calls[which].group);
    enum emu_status status = emu_wait(worker->rank, worker->requests[which]);
    uint64_t wrong = 0, count = result_count(plan, me);
    while (!status && wrong < count &&
           is_right(plan, worker->calls[which].output, wrong, result_at(plan, me, wrong)))
        wrong++;
    if (me == plan->size - 1)
        atomic_fetch_add(&worker->shared->made, 1);
    if (!status && wrong == count && torture_ledger_is_right(&worker->calls[which], me, plan->size))
        return true;
    fprintf(stderr,
            "%s %s %s of %" PRIu64 " over %s: status %d, element %" PRIu64 " of %" PRIu64 "\n",
            emu_kind_name(plan->kind), emu_dtype_name(plan->dtype), emu_op_name(plan->op),
            plan->count, group_names[plan->family], status, wrong, count);
    return false;
}

/* Now and then a rank is busy elsewhere. */
static void dawdle(struct worker *worker)
{
    uint64_t chance = draw(&worker->state) % 3000;
    if (chance < 2)
        emu_clock_sleep(chance == 0 ? 2000000 : draw(&worker->state) % 300000);
}

/* Calls from step `step` on, some of them open together; false: something is wrong. */
static bool make_some(struct worker *worker, uint64_t step, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        dawdle(worker);
        if (!start(worker, i, step + i))
            return false;
    }
    uint32_t first = (uint32_t)(draw(&worker->state) % count);
    bool backwards = draw(&worker->state) % 2;
    for (uint32_t i = 0; i < count; i++) {
        dawdle(worker);
        if (!finish(worker, (backwards ? first + count - i : first + i) % count))
            return false;
    }
    return true;
}

static bool make_places(struct worker *worker)
{
    for (int i = 0; i < OPEN; i++) {
        struct place *arena = &worker->arena[i], *heap = &worker->heap[i];
        arena->input = emu_rank_alloc(worker->rank, LONGEST * 8);
        arena->output = emu_rank_alloc(worker->rank, LONGEST * 8 * WORLD);
        heap->input = malloc(LONGEST * 8);
        heap->output = malloc(LONGEST * 8 * WORLD);
        arena->ledger = emu_rank_alloc(worker->rank, TORTURE_COEFFICIENTS * 8);
        heap->ledger = malloc(TORTURE_COEFFICIENTS * 8);
        if (!arena->input || !arena->output || !arena->ledger || !heap->input || !heap->output ||
            !heap->ledger)
            return false;
    }
    return true;
}

/* How many collectives a step is: one in each group of its family. */
static uint64_t collectives_of(const struct plan *plan)
{
    return WORLD / plan->size;
}

static bool make_all(struct worker *worker)
{
    uint64_t made = 0, step = 0;
    while (made < worker->shared->wanted) {
        struct plan first = plan_of(worker->shared->seed, step);
        uint32_t count = (uint32_t)(first.count + first.family) % 4 ? 1 : OPEN;
        if (!make_some(worker, step, count))
            return false;
        for (uint32_t i = 0; i < count; i++, step++) {
            struct plan plan = plan_of(worker->shared->seed, step);
            made += collectives_of(&plan);
        }
    }
    return true;
}

static int body(struct emu_rank *rank, void *user)
{
    struct shared *shared = user;
    static struct worker worker;
    uint32_t me = emu_rank_id(rank);
    worker = (struct worker){.rank = rank, .shared = shared, .state = shared->seed * 31 + me};
    for (int i = 0; i < GROUPS; i++)
        if (emu_rank_group(rank, group_names[i], &worker.groups[i]) != EMU_OK)
            return 3;
    if (!make_places(&worker))
        return 4;
    atomic_store(&shared->pids[me], (int32_t)getpid());
    bool right = make_all(&worker);
    atomic_store(&shared->pids[me], 0);
    while (atomic_load(&shared->tormented) == me) /* it may have seen our pid */
        emu_clock_sleep(100000);
    atomic_fetch_sub(&shared->left, 1);
    for (int i = 0; i < OPEN; i++) {
        free(worker.heap[i].input);
        free(worker.heap[i].output);
        free(worker.heap[i].ledger);
    }
    return right ? 0 : 5;
}

/* Stop and continue ranks at random, until all have finished or the run ends. */
static void torment(const struct emu_segment *segment, void *user)
{
    struct shared *shared = user;
    uint64_t state = shared->seed;
    while (atomic_load(&shared->left) > 0 && !emu_abort_look(segment)) {
        uint32_t victim = (uint32_t)(draw(&state) % WORLD);
        emu_clock_sleep(draw(&state) % 3000000);
        atomic_store(&shared->tormented, victim);
        int32_t pid = atomic_load(&shared->pids[victim]);
        if (pid > 0 && kill(pid, SIGSTOP) == 0) {
            emu_clock_sleep(draw(&state) % 1500000);
            kill(pid, SIGCONT);
            atomic_fetch_add(&shared->stops, 1);
        }
        atomic_store(&shared->tormented, NOBODY);
    }
}

/* That a rank was stopped and continued is noted; there must be nothing else. */
static bool says_more_than_stops(const struct emu_job_result *result)
{
    bool more = false;
    for (size_t i = 0; i < result->findings.count; i++) {
        const struct emu_finding *finding = &result->findings.items[i];
        if (finding->note && finding->class_id == EMU_CLASS_STOPPED)
            continue;
        fprintf(stderr, "%s: %s\n", emu_class_name(finding->class_id), finding->message);
        more = true;
    }
    return more;
}

static bool run_turn(const struct emu_roster *roster, size_t turn, struct shared *shared)
{
    struct emu_job job = {.roster = roster,
                          .arena_bytes = (LONGEST * 8 * (WORLD + 1) + 8192) * OPEN,
                          .body = body,
                          .auditor = torment,
                          .user = shared,
                          .stop_grace_ns = UINT64_C(60000000000), /* a stop here is no fault */
                          .timeout_ns = UINT64_C(120000000000),   /* of a turn that hangs */
                          .only_output = -1,
                          .checksums = turns[turn].checksums,
                          .output_fd = 1};
    struct emu_job_result result;
    if (turns[turn].ways)
        setenv("MESHEMU_WAYS", turns[turn].ways, 1);
    else
        unsetenv("MESHEMU_WAYS");
    atomic_store(&shared->left, WORLD);
    atomic_store(&shared->tormented, NOBODY);
    if (emu_job_run(&job, &result) != EMU_OK)
        return false;
    bool right = !says_more_than_stops(&result) && atomic_load(&shared->left) == 0;
    for (uint32_t i = 0; i < WORLD; i++)
        right = right && !result.ranks[i].signalled && result.ranks[i].code == 0;
    emu_job_result_finish(&result);
    return right;
}

static bool read_options(int argc, char **argv, struct shared *shared)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        char *end;
        uint64_t value = strtoull(argv[i + 1], &end, 10);
        if (*end)
            return false;
        if (strcmp(argv[i], "--collectives") == 0)
            shared->wanted = value;
        else if (strcmp(argv[i], "--seed") == 0)
            shared->seed = value;
        else
            return false;
    }
    return argc % 2 == 1;
}

/* A process under AddressSanitizer is many times slower. */
#define COLLECTIVES 200000
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef COLLECTIVES
#define COLLECTIVES 30000
#endif
#endif

int main(int argc, char **argv)
{
    struct emu_mesh mesh;
    struct emu_mesh_error error;
    struct emu_roster roster;
    struct emu_axes both;
    uint32_t family;
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || emu_mesh_parse(MESH, &mesh, &error) != EMU_OK)
        return 3;
    *shared = (struct shared){.seed = 1, .wanted = COLLECTIVES};
    if (!read_options(argc, argv, shared)) {
        fprintf(stderr, "usage: collective_torture [--collectives N] [--seed S]\n");
        return 2;
    }
    emu_roster_init(&roster, &mesh);
    if (emu_axes_parse(&mesh, group_names[GROUPS - 1], &both, &error) != EMU_OK ||
        emu_roster_add_axes(&roster, &both, &family) != EMU_OK)
        return 3;
    uint64_t seed = shared->seed;
    bool right = true;
    shared->wanted = (shared->wanted + TURNS - 1) / TURNS;
    for (size_t turn = 0; turn < TURNS && right; turn++) {
        shared->seed = seed * TURNS + turn;
        right = run_turn(&roster, turn, shared);
        if (!right)
            fprintf(stderr, "ways %s\n", turns[turn].ways ? turns[turn].ways : "of this machine");
    }
    printf("%" PRIu64 " collectives of %d ranks, %" PRIu64 " stops, seed %" PRIu64 ": %s\n",
           atomic_load(&shared->made), WORLD, atomic_load(&shared->stops), seed,
           right ? "right" : "WRONG");
    emu_roster_finish(&roster);
    emu_mesh_finish(&mesh);
    munmap(shared, sizeof *shared);
    return right ? 0 : 1;
}
