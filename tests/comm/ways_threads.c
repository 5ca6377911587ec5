/* Every way of the bytes with ranks as threads, for ThreadSanitizer: it cannot see across
 * processes. Each thread has its own handle over one segment; the main thread is the launcher. Exit
 * code 0 is a pass.
 *
 *   whole     every kind, right bits, lengths around the borders; also many calls open at a time
 *   torn      members that do not agree, on lengths, kinds and places, deposit at the same time
 *   left      members that end while others work on what they lent: survivors write over their
 *             buffers as soon as they have the answer
 *   spoiled   bytes that change between a signature and the fold
 */
#include "exact_trial.h"
#include "ways_table.h"

#include <pthread.h>
#include <stdatomic.h>

#define WORLD 4
#define OPEN 6
#define BYTES UINT64_C(70000) /* more than a round */

struct actor {
    const struct emu_segment *segment;
    uint32_t id;
    uint64_t seed;
    int (*act)(struct emu_rank *rank, uint64_t seed);
    int code;
    pthread_t thread;
    atomic_bool over;
};

static uint64_t length_of(uint64_t *random)
{
    static const uint64_t lengths[] = {0, 8, 64, 72, 136, 2056, 4096, 16392, 65528, BYTES};
    return lengths[exact_random(random) % (sizeof lengths / sizeof lengths[0])];
}

static struct exact_trial trial_of(uint64_t *random, uint32_t size)
{
    struct exact_trial t = {.kind = EMU_BROADCAST + exact_random(random) % 8,
                            .dtype = (enum emu_dtype)(exact_random(random) % (EMU_U8 + 1)),
                            .op = (enum emu_op)(exact_random(random) % EMU_OP_COUNT),
                            .layout = (enum emu_layout)(exact_random(random) % 2),
                            .in = (enum exact_in)(exact_random(random) % 2),
                            .place = (enum exact_place)(exact_random(random) % EXACT_PLACES),
                            .root = (uint32_t)(exact_random(random) % size),
                            .number = (uint32_t)exact_random(random) % 100};
    t.count = length_of(random) / emu_dtype_bytes(t.dtype);
    t.coefficients = exact_random(random) % 3 ? 0 : EXACT_COEFFICIENTS >> exact_random(random) % 7;
    return t;
}

/* The trial of place i in a turn, alike on all members of a group. */
static struct exact_trial trial_at(const struct emu_rank *rank, uint64_t seed, uint64_t i,
                                   uint32_t group)
{
    uint64_t random = seed * 1000 + i;
    return trial_of(&random, emu_rank_group_size(rank, group));
}

static int whole(struct emu_rank *rank, uint64_t seed)
{
    struct exact_buffers b[OPEN];
    struct exact_run runs[OPEN];
    struct emu_request *requests[OPEN];
    uint32_t groups[3] = {0}, me = emu_rank_id(rank);
    RANKS_EXPECT(emu_rank_group(rank, "tp", &groups[1]) == EMU_OK);
    RANKS_EXPECT(emu_rank_group(rank, "dp", &groups[2]) == EMU_OK);
    for (int i = 0; i < OPEN; i++)
        RANKS_EXPECT(exact_buffers_make(rank, BYTES, &b[i]));
    for (uint64_t turn = 0; turn < 12; turn++) {
        for (uint32_t i = 0; i < OPEN; i++) {
            struct exact_trial t = trial_at(rank, seed + turn, i, groups[i % 3]);
            runs[i] = exact_prepare(rank, groups[i % 3], &t, &b[i]);
            RANKS_EXPECT(emu_start(rank, &runs[i].call, &requests[i]) == EMU_OK);
        }
        for (uint32_t k = 0; k < OPEN; k++) {
            uint32_t i = (uint32_t)(me + turn + k * 5) % OPEN;
            struct exact_trial t = trial_at(rank, seed + turn, i, groups[i % 3]);
            RANKS_EXPECT(emu_wait(rank, requests[i]) == EMU_OK);
            int code = exact_verify(rank, groups[i % 3], &t, &runs[i], b[i].wanted);
            if (code)
                return code;
        }
    }
    for (int i = 0; i < OPEN; i++)
        exact_buffers_free(&b[i]);
    return 0;
}

/* Each of them asks for something else, at once, of another length. */
static int torn(struct emu_rank *rank, uint64_t seed)
{
    struct exact_buffers b;
    RANKS_EXPECT(exact_buffers_make(rank, BYTES, &b));
    uint64_t random = seed;
    struct exact_trial t = trial_of(&random, WORLD);
    random = seed * WORLD + emu_rank_id(rank);
    t.count = length_of(&random) / emu_dtype_bytes(t.dtype) + emu_rank_id(rank);
    if (t.count * emu_dtype_bytes(t.dtype) > BYTES)
        t.count -= emu_rank_id(rank) * 8;
    if (seed % 4 == 0)
        t.kind = EMU_BROADCAST + exact_random(&random) % 8;
    t.root = seed % 3 ? t.root : (uint32_t)(exact_random(&random) % WORLD);
    RANKS_EXPECT(emu_barrier(rank, 0) == EMU_OK);
    struct exact_run run = exact_prepare(rank, 0, &t, &b);
    enum emu_status status = emu_run_call(rank, &run.call);
    RANKS_EXPECT(status == EMU_EMISMATCH);
    exact_buffers_free(&b);
    return 0;
}

/* Ends with calls open, or goes on until the group is broken, and writes over its buffers then. */
static int left(struct emu_rank *rank, uint64_t seed)
{
    struct exact_buffers b[2];
    struct emu_request *requests[2];
    uint32_t me = emu_rank_id(rank);
    uint64_t random = seed;
    uint32_t leaver = (uint32_t)(exact_random(&random) % WORLD);
    uint64_t last = exact_random(&random) % 6;
    enum emu_status status = EMU_OK;
    for (int i = 0; i < 2; i++)
        RANKS_EXPECT(exact_buffers_make(rank, BYTES, &b[i]));
    for (uint64_t turn = 0; !status; turn++) {
        for (uint32_t i = 0; i < 2; i++) {
            struct exact_trial t = trial_at(rank, seed + turn, i, 0);
            t.place = seed % 4 ? EXACT_ARENA : EXACT_MIXED;
            t.count = BYTES / emu_dtype_bytes(t.dtype) / (1 + i);
            struct exact_run run = exact_prepare(rank, 0, &t, &b[i]);
            RANKS_EXPECT(emu_start(rank, &run.call, &requests[i]) == EMU_OK);
        }
        if (me == leaver && turn == last)
            break;
        for (uint32_t i = 0; i < 2; i++) {
            enum emu_status ended = emu_wait(rank, requests[i]);
            status = ended ? ended : status;
        }
    }
    RANKS_EXPECT(status == (me == leaver ? EMU_OK : EMU_EPEER));
    for (int i = 0; i < 4 && me != leaver; i++) {
        memset(b[i / 2].arena[i % 2], (int)(0x40 + me), b[i / 2].bytes);
        b[i / 2].coefficients[0][i % 2] = 0x40 + me;
    }
    emu_clock_sleep(1000000); /* a late writer would come now */
    for (int i = 0; i < 4 && me != leaver; i++) {
        for (uint64_t at = 0; at < b[i / 2].bytes; at++)
            RANKS_EXPECT(b[i / 2].arena[i % 2][at] == 0x40 + me);
        RANKS_EXPECT(b[i / 2].coefficients[0][i % 2] == 0x40 + me);
    }
    for (int i = 0; i < 2; i++)
        exact_buffers_free(&b[i]); /* nobody else reaches those outside the arena */
    return 0;
}

/* A member that has signed what it lends is overwritten in one byte, of its data or of its
 * coefficients, before the others come: with checksums all are told, and the next call is whole. */
static int spoiled(struct emu_rank *rank, uint64_t seed)
{
    struct exact_buffers b;
    struct emu_request *request;
    uint32_t me = emu_rank_id(rank), odd = (uint32_t)(seed % WORLD);
    uint64_t random = seed;
    bool told = emu_rank_segment(rank)->checksums;
    RANKS_EXPECT(exact_buffers_make(rank, BYTES, &b));
    struct exact_trial t = {.kind = EMU_ALL_REDUCE,
                            .dtype = (enum emu_dtype)(seed % (EMU_U8 + 1)),
                            .root = odd,
                            .coefficients = EXACT_COEFFICIENTS};
    t.count = BYTES / emu_dtype_bytes(t.dtype);
    struct exact_run run = exact_prepare(rank, 0, &t, &b);
    RANKS_EXPECT(me == odd || emu_recv(rank, odd, NULL, 0, EMU_U8, 0) == EMU_OK);
    RANKS_EXPECT(emu_start(rank, &run.call, &request) == EMU_OK);
    if (me == odd && seed % 2)
        run.buffers[0][run.input_at + exact_random(&random) % BYTES] ^= 0x10;
    else if (me == odd)
        run.call.ledger[exact_random(&random) % EXACT_COEFFICIENTS] ^= 1;
    for (uint32_t to = 0; me == odd && to < WORLD; to++)
        RANKS_EXPECT(to == odd || emu_send(rank, to, NULL, 0, EMU_U8, 0) == EMU_OK);
    RANKS_EXPECT(emu_wait(rank, request) == (told ? EMU_ECORRUPT : EMU_OK));
    t.number++;
    run = exact_prepare(rank, 0, &t, &b);
    RANKS_EXPECT(emu_run_call(rank, &run.call) == EMU_OK);
    int code = exact_verify(rank, 0, &t, &run, b.wanted);
    exact_buffers_free(&b);
    return code;
}

static void *run_actor(void *argument)
{
    struct actor *actor = argument;
    struct emu_rank *rank = NULL;
    actor->code = -1;
    if (emu_rank_create(actor->segment, actor->id, &rank) == EMU_OK) {
        emu_board_set_state(actor->segment, actor->id, EMU_BOARD_RUNNING);
        actor->code = actor->act(rank, actor->seed);
        emu_rank_destroy(rank);
        emu_board_set_state(actor->segment, actor->id, EMU_BOARD_ENDED);
    }
    atomic_store(&actor->over, true);
    return NULL;
}

/* One act by all; each is reported as gone when it has ended. The first code that is not 0. */
static int play(struct ranks *ranks, int (*act)(struct emu_rank *, uint64_t), uint64_t seed)
{
    static struct actor actors[WORLD];
    int code = 0;
    bool done[WORLD] = {false};
    for (uint32_t i = 0; i < WORLD; i++) {
        actors[i].segment = &ranks->segment;
        actors[i].id = i;
        actors[i].seed = seed;
        actors[i].act = act;
        atomic_store(&actors[i].over, false);
        if (pthread_create(&actors[i].thread, NULL, run_actor, &actors[i]) != 0)
            return -1;
    }
    for (uint32_t left_over = WORLD; left_over > 0; emu_clock_sleep(100000))
        for (uint32_t i = 0; i < WORLD; i++)
            if (!done[i] && atomic_load(&actors[i].over)) {
                emu_segment_fail_rank(&ranks->segment, i);
                done[i] = true;
                left_over--;
            }
    for (uint32_t i = 0; i < WORLD; i++) {
        pthread_join(actors[i].thread, NULL);
        code = code ? code : actors[i].code;
    }
    return code;
}

int main(void)
{
    static const struct {
        const char *name;
        int (*act)(struct emu_rank *rank, uint64_t seed);
        int turns;
        bool lent; /* where bytes are lent alone */
    } acts[] = {{"whole", whole, 2, false},
                {"torn", torn, 12, false},
                {"left", left, 12, false},
                {"spoiled", spoiled, 10, true}};
    exact_fill();
    for (size_t w = 0; w < WAYS; w++)
        for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
            for (int turn = 0; turn < acts[i].turns && (ways[w].lends || !acts[i].lent); turn++) {
                struct ranks ranks;
                struct emu_segment_params params = {.arena_bytes = UINT64_C(1) << 22,
                                                    .checksums = ways[w].checksums,
                                                    .ways = &ways[w].table};
                if (!ranks_open_as(&ranks, "dp=2,tp=2", NULL, params))
                    return 1;
                int code = play(&ranks, acts[i].act, (uint64_t)turn + w * 100);
                ranks_close(&ranks);
                if (code) {
                    fprintf(stderr, "%s, %s, turn %d: line %d\n", ways[w].name, acts[i].name, turn,
                            code);
                    return 1;
                }
            }
    return 0;
}
