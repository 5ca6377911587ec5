/* Does a step after the first take memory from the heap? The linker puts the counters below in the
 * place of the functions that all of emu/ calls (--wrap, tests/CMakeLists.txt). */
#include "crew.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(train_allocations, .timeout = 120);

static uint64_t taken; /* of this process: a rank has one thread */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
char *__real_strdup(const char *text);
FILE *__real_fopen(const char *path, const char *mode);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
char *__wrap_strdup(const char *text);
FILE *__wrap_fopen(const char *path, const char *mode);

void *__wrap_malloc(size_t bytes)
{
    taken++;
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    taken++;
    return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    taken++;
    return __real_realloc(old, bytes);
}

char *__wrap_strdup(const char *text)
{
    taken++;
    return __real_strdup(text);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    taken++;
    return __real_fopen(path, mode);
}

static const char text[] = "A step that asks the heap for memory waits for it.\n"
                           "One that has carved all it needs does not.\n"
                           "Two\n";

/* One step to warm up, then four that must take nothing; the record belongs to the step. */
static int look(struct emu_rank *rank, struct emu_trainer *trainer, const void *user)
{
    (void)user;
    struct emu_step_record *record = calloc(1, emu_step_record_bytes(trainer->plan->tensor_count));
    RANKS_EXPECT(record && taken > 0); /* the counters are in place */
    const unsigned char *arena = emu_segment_arena(emu_rank_segment(rank), emu_rank_id(rank));
    for (int step = 0; step < 5; step++) {
        RANKS_EXPECT(emu_trainer_step(trainer) == EMU_OK);
        emu_trainer_record(trainer, arena, record);
        if (step == 0)
            taken = 0;
    }
    int code = taken == 0 ? 0 : 99;
    free(record);
    return code;
}

#define MODEL                                                                                      \
    "model: {kind: mlp_lm, context: 4, embed: 6, hidden: 10, layers: 2%s}\n"                       \
    "data: {text: t.txt, sequence: 12, batch: 8, microbatches: 2}\n"                               \
    "recipe: {clip: {max_norm: 1.0}}\n"                                                            \
    "train: {steps: 9, seed: 3}\n"                                                                 \
    "mesh: %s\n"                                                                                   \
    "optimizer: {kind: adamw, lr: 1e-2%s}\n"

static void expect_none(const char *mesh, const char *model, const char *optimizer)
{
    char config[1024];
    struct crew crew = {.look = look};
    snprintf(config, sizeof config, MODEL, model, mesh, optimizer);
    int code = run_crew(&crew, config, text);
    cr_assert_eq(code, 0, "%s%s%s: code %d (99: memory was taken)", mesh, model, optimizer, code);
}

Test(train_allocations, no_step_after_the_first_takes_memory)
{
    expect_none("dp=2,tp=2", "", "");
    expect_none("dp=2,tp=2", ", sequence_parallel: true", ", shard: zero1");
    expect_none("cp=2,tp=2", "", "");
    expect_none("pp=2,dp=2", "", ", shard: zero2");
    expect_none("pp=2,cp=2", ", tie_embeddings: false", ", shard: zero3, over: [cp]");
}
