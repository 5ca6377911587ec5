/* The protocols of the segment with ranks as threads, for ThreadSanitizer: it cannot see across
 * processes. Each thread has its own handle over one segment on the heap; the main thread is the
 * launcher. Exit code 0 is a pass. */
#include "comm/rank.h"
#include "os/clock.h"
#include "seg/board.h"
#include "seg/gate.h"
#include "seg/incident.h"
#include "seg/needs.h"
#include "seg/outbox.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLD 4

struct stage {
    struct emu_mesh mesh;
    struct emu_roster roster;
    struct emu_segment segment;
    void *base;
};

struct actor {
    struct stage *stage;
    uint32_t id;
    int (*act)(struct emu_rank *rank);
    int code;
    atomic_bool over;
};

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            return __LINE__;                                                                       \
        }                                                                                          \
    } while (0)

static bool stage_open(struct stage *stage)
{
    struct emu_mesh_error error;
    memset(stage, 0, sizeof *stage);
    if (emu_mesh_parse("dp=2,tp=2", &stage->mesh, &error))
        return false;
    emu_roster_init(&stage->roster, &stage->mesh);
    struct emu_segment_params params = {.roster = &stage->roster, .arena_bytes = 4096};
    if (emu_segment_plan(&params, &stage->segment))
        return false;
    size_t bytes = stage->segment.bytes;
    stage->base = aligned_alloc(4096, bytes);
    if (!stage->base)
        return false;
    memset(stage->base, 0, bytes);
    emu_segment_init(&stage->segment, stage->base);
    return true;
}

static void stage_close(struct stage *stage)
{
    free(stage->base);
    emu_roster_finish(&stage->roster);
    emu_mesh_finish(&stage->mesh);
}

static void *run_actor(void *argument)
{
    struct actor *actor = argument;
    struct emu_rank *rank = NULL;
    actor->code = -1;
    if (emu_rank_create(&actor->stage->segment, actor->id, &rank) == EMU_OK) {
        emu_board_set_state(&actor->stage->segment, actor->id, EMU_BOARD_RUNNING);
        actor->code = actor->act(rank);
        emu_rank_destroy(rank);
        emu_board_set_state(&actor->stage->segment, actor->id, EMU_BOARD_ENDED);
    }
    atomic_store(&actor->over, true);
    return NULL;
}

/* Look at everything a launcher looks at, while the ranks write it. */
static uint64_t spy(const struct stage *stage)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < WORLD; i++) {
        struct emu_board_view board;
        static struct emu_recorded_call calls[16];
        struct emu_member_view members[WORLD];
        struct emu_message_view message;
        struct emu_incident incident;
        emu_board_look(&stage->segment, i, &board);
        sum += board.calls + emu_recorder_read(&stage->segment, i, calls, 16);
        emu_slot_members(&stage->segment, 0, board.call.index, members);
        for (uint32_t m = 0; m < 8; m++)
            sum += emu_outbox_read(&stage->segment, i, m, &message);
        sum += emu_incident_read(&stage->segment, i, &incident);
    }
    return sum;
}

/* Could all who wait still be helped by those who act? In the programs here they always can, unless
 * they wait for the abort. */
static bool all_can_go_on(const struct emu_needs *needs)
{
    bool acts[WORLD], more = true;
    for (uint32_t i = 0; i < WORLD; i++)
        acts[i] = needs->ranks[i].stand != EMU_STAND_WAITS;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < WORLD; i++) {
            const struct emu_need *need = &needs->ranks[i];
            uint32_t acting = 0;
            for (uint32_t t = 0; t < need->count; t++)
                acting += acts[needs->targets[need->first + t]];
            if (!acts[i] && (need->any ? acting > 0 : acting == need->count))
                acts[i] = more = true;
        }
    }
    return acts[0] && acts[1] && acts[2] && acts[3];
}

static bool needs_are_right(const struct stage *stage, const uint32_t *done,
                            struct emu_needs *needs)
{
    unsigned char presence[WORLD];
    for (uint32_t i = 0; i < WORLD; i++)
        presence[i] = done[i] ? EMU_ABSENT : EMU_PRESENT;
    return emu_needs_read(&stage->segment, presence, needs) == EMU_OK &&
           (!needs->steady || all_can_go_on(needs));
}

/* Run one act on all ranks; report each as gone when it ends. The first code that is not 0. */
static int play(int (*act)(struct emu_rank *rank), void (*launcher)(struct stage *stage))
{
    struct stage stage;
    struct actor actors[WORLD];
    pthread_t threads[WORLD];
    struct emu_needs needs;
    uint64_t seen = 0;
    int code = 0;
    CHECK(stage_open(&stage) && emu_needs_init(&needs, WORLD) == EMU_OK);
    for (uint32_t i = 0; i < WORLD; i++) {
        actors[i] = (struct actor){.stage = &stage, .id = i, .act = act};
        CHECK(pthread_create(&threads[i], NULL, run_actor, &actors[i]) == 0);
    }
    if (launcher)
        launcher(&stage);
    for (uint32_t left = WORLD, done[WORLD] = {0}; left > 0; emu_clock_sleep(200000)) {
        seen += spy(&stage);
        CHECK(needs_are_right(&stage, done, &needs) || emu_abort_look(&stage.segment));
        for (uint32_t i = 0; i < WORLD; i++)
            if (!done[i] && atomic_load(&actors[i].over)) {
                emu_segment_fail_rank(&stage.segment, i);
                done[i] = 1;
                left--;
            }
    }
    for (uint32_t i = 0; i < WORLD; i++) {
        pthread_join(threads[i], NULL);
        code = code ? code : actors[i].code;
    }
    CHECK(launcher || seen > 0);
    emu_needs_finish(&needs);
    stage_close(&stage);
    return code;
}

static int collectives(struct emu_rank *rank)
{
    enum { BIG = 30000 };
    uint32_t tp, dp, n = emu_rank_world(rank);
    CHECK(emu_rank_group(rank, "tp", &tp) == EMU_OK && emu_rank_group(rank, "dp", &dp) == EMU_OK);
    int64_t *in = calloc(BIG, sizeof *in), *out = calloc((size_t)BIG * n, sizeof *out);
    CHECK(in && out);
    for (int64_t turn = 0; turn < 60; turn++) {
        uint64_t count = turn % 10 == 0 ? BIG : turn % 3 == 0 ? 100 : 2;
        in[0] = in[count - 1] = turn;
        CHECK(emu_all_reduce(rank, 0, in, out, count, EMU_I64, EMU_SUM) == EMU_OK);
        CHECK(out[0] == turn * n && out[count - 1] == turn * n);
        CHECK(emu_all_gather(rank, tp, in, out, count, EMU_I64) == EMU_OK);
        CHECK(out[count] == turn);
        CHECK(emu_broadcast(rank, dp, in, count, EMU_I64, (uint32_t)turn % 2) == EMU_OK);
        CHECK(emu_barrier(rank, 0) == EMU_OK);
    }
    free(in);
    free(out);
    return 0;
}

static int open_calls(struct emu_rank *rank)
{
    enum { OPEN = 24, BIG = 20000 };
    struct emu_request *requests[OPEN];
    int64_t *in = calloc(BIG, sizeof *in), *out = calloc((size_t)BIG * OPEN, sizeof *out);
    CHECK(in && out);
    in[0] = 3;
    for (uint32_t i = 0; i < OPEN; i++) {
        struct emu_call call = {.kind = EMU_ALL_REDUCE,
                                .count = i % 4 ? 1 : BIG,
                                .dtype = EMU_I64,
                                .input = in,
                                .output = out + (size_t)i * BIG};
        CHECK(emu_start(rank, &call, &requests[i]) == EMU_OK);
    }
    for (uint32_t k = 0; k < OPEN; k++) {
        uint32_t i = (k * 5 + emu_rank_id(rank) * 7) % OPEN;
        CHECK(emu_wait(rank, requests[i]) == EMU_OK && out[(size_t)i * BIG] == 12);
    }
    free(in);
    free(out);
    return 0;
}

static int messages(struct emu_rank *rank)
{
    uint32_t n = emu_rank_world(rank), me = emu_rank_id(rank);
    uint32_t to = (me + 1) % n, from = (me + n - 1) % n;
    enum { BIG = 30000 };
    int64_t *in = calloc(BIG, sizeof *in), *out = calloc(BIG, sizeof *out);
    CHECK(in && out);
    for (int64_t turn = 0; turn < 100; turn++) {
        uint64_t count = turn % 10 == 0 ? BIG : turn % 3 == 0 ? 100 : 2;
        emu_rank_set_strict(rank, turn % 2);
        in[count - 1] = turn;
        CHECK(emu_sendrecv(rank, to, in, count, from, out, count, EMU_I64, 1) == EMU_OK);
        CHECK(out[count - 1] == turn);
    }
    free(in);
    free(out);
    return 0;
}

static int mismatch(struct emu_rank *rank)
{
    double x = 1, y = 0;
    enum emu_op op = emu_rank_id(rank) == 2 ? EMU_MAX : EMU_SUM;
    CHECK(emu_barrier(rank, 0) == EMU_OK);
    CHECK(emu_all_reduce(rank, 0, &x, &y, 1, EMU_F64, op) == EMU_EMISMATCH);
    CHECK(emu_barrier(rank, 0) == EMU_EMISMATCH);
    return 0;
}

static int leaver(struct emu_rank *rank)
{
    double x = 1, y;
    for (int i = 0; i < 20; i++)
        CHECK(emu_all_reduce(rank, 0, &x, &y, 1, EMU_F64, EMU_SUM) == EMU_OK);
    if (emu_rank_id(rank) == 1)
        return 0;
    CHECK(emu_barrier(rank, 0) == EMU_EPEER);
    if (emu_rank_id(rank) == 0)
        CHECK(emu_recv(rank, 1, &x, 1, EMU_F64, 0) == EMU_EPEER);
    return 0;
}

static int steps(struct emu_rank *rank)
{
    enum emu_gate_verdict verdict = EMU_GATE_GO_ON;
    for (uint64_t step = 1; verdict == EMU_GATE_GO_ON; step++) {
        *emu_segment_arena(emu_rank_segment(rank), emu_rank_id(rank)) = (unsigned char)step;
        CHECK(emu_gate_pass(emu_rank_segment(rank), emu_rank_id(rank), step, &verdict) == EMU_OK);
        CHECK(verdict == (step == 50 ? EMU_GATE_STOP : EMU_GATE_GO_ON));
    }
    return 0;
}

static void audit(struct stage *stage)
{
    for (uint64_t step = 1; step <= 50; step++) {
        if (emu_gate_all_arrived(&stage->segment, step) != EMU_OK)
            abort();
        for (uint32_t i = 0; i < WORLD; i++)
            if (*emu_segment_arena(&stage->segment, i) != step)
                abort();
        emu_gate_answer(&stage->segment, step, step == 50 ? EMU_GATE_STOP : EMU_GATE_GO_ON);
    }
}

static int sleeper(struct emu_rank *rank)
{
    enum emu_gate_verdict verdict;
    double x;
    switch (emu_rank_id(rank)) {
    case 0:
        CHECK(emu_barrier(rank, 0) == EMU_EABORTED);
        return 0;
    case 1:
        CHECK(emu_recv(rank, 2, &x, 1, EMU_F64, 0) == EMU_EABORTED);
        return 0;
    default:
        CHECK(emu_gate_pass(emu_rank_segment(rank), emu_rank_id(rank), 1, &verdict) ==
              EMU_EABORTED);
        return 0;
    }
}

static void abort_soon(struct stage *stage)
{
    emu_clock_sleep(3000000);
    emu_abort_post(&stage->segment, 1);
}

int main(void)
{
    static const struct {
        const char *name;
        int (*act)(struct emu_rank *rank);
        void (*launcher)(struct stage *stage);
    } acts[] = {
        {"collectives", collectives, NULL}, {"open calls", open_calls, NULL},
        {"messages", messages, NULL},       {"mismatch", mismatch, NULL},
        {"early leaver", leaver, NULL},     {"gate", steps, audit},
        {"abort", sleeper, abort_soon},
    };
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
        for (int turn = 0; turn < 3; turn++) {
            int code = play(acts[i].act, acts[i].launcher);
            if (code) {
                fprintf(stderr, "%s: line %d\n", acts[i].name, code);
                return 1;
            }
        }
    return 0;
}
