/* Forked ranks of a mesh `tp=N` over a shared segment, and the tiny model on them. */
#ifndef TEST_NN_TP_RANKS_H
#define TEST_NN_TP_RANKS_H

#include "tiny_model.h"

#include <stddef.h>

enum { TP_MAX = 9, TP_ROUNDED = 9 };

struct tp_place {
    struct emu_rank *rank;
    uint32_t group, index, size;
};

/* Run `body` on every rank of tp=`size` (at most TP_MAX). Its answer is 0 or a code that the parent
 * shows; the test fails unless all answer 0. */
void tp_ranks_run(uint32_t size, int (*body)(const struct tp_place *at, void *context),
                  void *context);

/* Zeroed memory that forked ranks share with their parent. */
void *tp_memory_create(size_t bytes);
void tp_memory_destroy(void *memory, size_t bytes);

/* Weights in, gradients and losses out; one place for each rank. In shared memory. */
struct tp_values {
    struct tiny_values weights;
    struct tiny_values out[TP_MAX];
};

struct tp_model {
    struct tiny model;
    const struct emu_kernels *kernels;
    bool sequence_parallel;
    bool watched; /* kernels are the exact ones: answer TP_ROUNDED where anything was rounded */
    struct tp_values *values;
};

/* Body of a rank that runs the model; context: a struct tp_model. */
int tp_model_run(const struct tp_place *at, void *context);

/* Does rank `index` hold that element of the tensor? */
bool tp_holds(const struct tiny_shape *shape, uint64_t element, uint32_t size, uint32_t index);

#endif
