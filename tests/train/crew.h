/* Real ranks with a trainer each, over the groups of a plan: what the tests of a step have in
 * common.
 */
#ifndef TESTS_TRAIN_CREW_H
#define TESTS_TRAIN_CREW_H

#include "../comm/ranks.h"
#include "../plan/plan_fixture.h"
#include "train/trainer.h"

#include <criterion/criterion.h>

/* Ranks over the groups of a plan; `look` runs on each and answers as ranks do. */
struct crew {
    struct plan_fixture plan;
    struct emu_corpus corpus;
    int (*look)(struct emu_rank *rank, struct emu_trainer *trainer, const void *user);
    const void *user;
};

static inline int crew_body(struct emu_rank *rank, void *user)
{
    const struct crew *crew = user;
    struct emu_trainer *trainer;
    RANKS_EXPECT(emu_trainer_create(crew->plan.plan, &crew->corpus, rank, &trainer) == EMU_OK);
    int code = crew->look(rank, trainer, crew->user);
    emu_trainer_destroy(trainer);
    return code;
}

/* Plan, fork, run, reap: the code of the ranks. */
static inline int run_crew(struct crew *crew, const char *config, const char *text)
{
    struct ranks ranks = {0};
    cr_assert_eq(plan_open(&crew->plan, config), EMU_OK, "%s",
                 emu_text_get(&crew->plan.diagnostics));
    const struct emu_plan *plan = crew->plan.plan;
    cr_assert_eq(emu_corpus_init(&crew->corpus, text, strlen(text), 4), EMU_OK);
    ranks.mesh.world = plan->roster.mesh->world;
    struct emu_segment_params params = {.roster = &plan->roster, .arena_bytes = 1 << 20};
    cr_assert_eq(emu_segment_plan(&params, &ranks.segment), EMU_OK);
    void *base = mmap(NULL, ranks.segment.bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cr_assert_neq(base, MAP_FAILED);
    emu_segment_init(&ranks.segment, base);
    int code = ranks_run(&ranks, crew_body, crew, 20);
    munmap(base, ranks.segment.bytes);
    emu_corpus_finish(&crew->corpus);
    plan_close(&crew->plan);
    return code;
}

/* A coefficient, worked out by hand. */
struct part {
    int top, bottom;
};
/* top/bottom modulo the prime: the number that gives top when it is multiplied by bottom. */
static inline bool stands_for(uint64_t got, struct part want)
{
    const uint64_t prime = (UINT64_C(1) << 61) - 1;
    uint64_t product = 0;
    for (int i = 0; i < want.bottom; i++)
        product = (product + got) % prime;
    uint64_t top = want.top < 0 ? prime - (uint64_t)-want.top : (uint64_t)want.top;
    return got < prime && product == top;
}

#endif
