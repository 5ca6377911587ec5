/* Ranks for tests: fork n of them over one anonymous mapping, act as their launcher, reap all
 * before a deadline. Only the parent asserts; a rank reports by its exit code (0: all is well).
 */
#ifndef TESTS_COMM_RANKS_H
#define TESTS_COMM_RANKS_H

#include "comm/rank.h"
#include "os/clock.h"
#include "seg/board.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef RANKS_MAX
#define RANKS_MAX 64
#endif
#define RANKS_LATE 1000   /* code of a rank that was still there at the deadline */
#define RANKS_SIGNAL 2000 /* plus the number of the signal that ended it */

struct ranks {
    struct emu_mesh mesh;
    struct emu_roster roster;
    struct emu_segment segment;
    pid_t pids[RANKS_MAX];
    int codes[RANKS_MAX];
};

/* groups: further axis lists, NULL-terminated ("dp,tp"); NULL: none. params: of the segment, but
 * for the roster. false: the plan failed. */
static inline bool ranks_plan_as(struct ranks *ranks, const char *axes, const char *const *groups,
                                 struct emu_segment_params params)
{
    struct emu_mesh_error error;
    memset(ranks, 0, sizeof *ranks);
    if (emu_mesh_parse(axes, &ranks->mesh, &error) || ranks->mesh.world > RANKS_MAX)
        return false;
    emu_roster_init(&ranks->roster, &ranks->mesh);
    for (; groups && *groups; groups++) {
        struct emu_axes over;
        uint32_t family;
        if (emu_axes_parse(&ranks->mesh, *groups, &over, &error) ||
            emu_roster_add_axes(&ranks->roster, &over, &family))
            return false;
    }
    params.roster = &ranks->roster;
    return emu_segment_plan(&params, &ranks->segment) == EMU_OK;
}

static inline bool ranks_plan(struct ranks *ranks, const char *axes, const char *const *groups)
{
    return ranks_plan_as(ranks, axes, groups, (struct emu_segment_params){.arena_bytes = 1 << 20});
}

static inline bool ranks_map(struct ranks *ranks)
{
    void *base = mmap(NULL, ranks->segment.bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    emu_segment_init(&ranks->segment, base);
    return true;
}

static inline bool ranks_open(struct ranks *ranks, const char *axes, const char *const *groups)
{
    return ranks_plan(ranks, axes, groups) && ranks_map(ranks);
}

static inline bool ranks_open_as(struct ranks *ranks, const char *axes, const char *const *groups,
                                 struct emu_segment_params params)
{
    return ranks_plan_as(ranks, axes, groups, params) && ranks_map(ranks);
}

static inline void ranks_close(struct ranks *ranks)
{
    if (ranks->segment.base)
        munmap(ranks->segment.base, ranks->segment.bytes);
    emu_roster_finish(&ranks->roster);
    emu_mesh_finish(&ranks->mesh);
}

typedef int ranks_body(struct emu_rank *rank, void *user);

static inline void ranks_child(struct ranks *ranks, uint32_t id, pid_t parent, ranks_body *body,
                               void *user)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(99);
    struct emu_rank *rank = NULL;
    if (emu_rank_create(&ranks->segment, id, &rank))
        _exit(98);
    emu_board_set_state(&ranks->segment, id, EMU_BOARD_RUNNING);
    int code = body(rank, user);
    emu_rank_destroy(rank);
    emu_board_set_state(&ranks->segment, id, EMU_BOARD_ENDED);
    _exit(code);
}

static inline void ranks_fork(struct ranks *ranks, ranks_body *body, void *user)
{
    fflush(NULL);
    pid_t parent = getpid();
    for (uint32_t id = 0; id < ranks->mesh.world; id++) {
        pid_t pid = fork();
        if (pid == 0)
            ranks_child(ranks, id, parent, body, user);
        ranks->pids[id] = pid;
        ranks->codes[id] = -1;
    }
}

/* One look at a rank: has it ended? Then tell the segment, as the launcher does. */
static inline bool ranks_reap_one(struct ranks *ranks, uint32_t id, bool block)
{
    int status;
    if (ranks->pids[id] <= 0 || waitpid(ranks->pids[id], &status, block ? 0 : WNOHANG) <= 0)
        return false;
    ranks->pids[id] = 0;
    if (ranks->codes[id] != RANKS_LATE)
        ranks->codes[id] =
            WIFEXITED(status) ? WEXITSTATUS(status) : RANKS_SIGNAL + WTERMSIG(status);
    emu_segment_fail_rank(&ranks->segment, id);
    return true;
}

/* Reap all; after seconds the rest is killed and gets RANKS_LATE. */
static inline void ranks_reap(struct ranks *ranks, unsigned seconds)
{
    uint64_t deadline = emu_clock_ns() + seconds * UINT64_C(1000000000);
    uint32_t left = ranks->mesh.world;
    for (uint32_t id = 0; id < ranks->mesh.world; id++)
        left -= ranks->pids[id] <= 0;
    while (left > 0 && emu_clock_ns() < deadline) {
        uint32_t seen = emu_news_look(&ranks->segment);
        uint32_t before = left;
        for (uint32_t id = 0; id < ranks->mesh.world; id++)
            left -= ranks_reap_one(ranks, id, false);
        if (left == before)
            emu_news_wait(&ranks->segment, seen, 1000000);
    }
    for (uint32_t id = 0; id < ranks->mesh.world; id++)
        if (ranks->pids[id] > 0) {
            ranks->codes[id] = RANKS_LATE;
            kill(ranks->pids[id], SIGKILL);
            ranks_reap_one(ranks, id, true);
        }
}

/* Fork, run, reap. Returns the first code that is not 0. */
static inline int ranks_run(struct ranks *ranks, ranks_body *body, void *user, unsigned seconds)
{
    ranks_fork(ranks, body, user);
    ranks_reap(ranks, seconds);
    for (uint32_t id = 0; id < ranks->mesh.world; id++)
        if (ranks->codes[id] != 0)
            return ranks->codes[id];
    return 0;
}

/* The whole of it over a fresh mapping. -2: no mapping. */
static inline int ranks_once(const char *axes, const char *const *groups, ranks_body *body,
                             void *user, unsigned seconds)
{
    struct ranks ranks;
    if (!ranks_open(&ranks, axes, groups))
        return -2;
    int code = ranks_run(&ranks, body, user, seconds);
    ranks_close(&ranks);
    return code;
}

/* In a body: leave with the line number where something is not as it should be. */
#define RANKS_EXPECT(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: rank %u: %s\n", __FILE__, __LINE__, emu_rank_id(rank),         \
                    #condition);                                                                   \
            return __LINE__ % 90 + 1;                                                              \
        }                                                                                          \
    } while (0)

#endif
