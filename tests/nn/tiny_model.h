/* A small byte model made of the layers under test: embedding, two MLP blocks (the second adds to
 * the stream), head. Parameters are given whole; each rank takes its part, runs forward and
 * backward, and hands back its part of every gradient at its place in the whole. */
#ifndef TEST_NN_TINY_MODEL_H
#define TEST_NN_TINY_MODEL_H

#include "base/bounded.h"
#include "config/config.h"
#include "nn/layer.h"

enum { TENSORS = 12, ROWS_MAX = 32, TINY_ELEMENTS = 4096 };

enum tensor {
    EMBED,
    NORM0,
    UP0,
    UP_BIAS0,
    DOWN0,
    DOWN_BIAS0,
    NORM1,
    UP1,
    UP_BIAS1,
    DOWN1,
    DOWN_BIAS1,
    HEAD
};

struct tiny {
    uint64_t vocab, embed, context, hidden, rows;
    enum emu_activation activation;
    enum emu_norm_kind norm;
    enum emu_loss_kind loss;
    bool tied;
    uint8_t ids[ROWS_MAX * 4], target[ROWS_MAX], valid[ROWS_MAX];
};

struct tiny_shape {
    uint64_t rows, columns;
    int split; /* dimension that tp splits; -1: none */
};

/* Whole tensors, one after the other. Plain kinds leave the bounds 0. */
struct tiny_values {
    struct emu_bounded element[TENSORS][TINY_ELEMENTS];
    struct emu_bounded loss[ROWS_MAX];
};

struct tiny_rank {
    const struct emu_kernels *kernels;
    struct emu_rank *rank;
    uint32_t group, index, size; /* over tp */
    bool sequence_parallel;      /* gradients of norms and biases of down are then pending */
};

struct tiny_shape tiny_shape_of(const struct tiny *model, enum tensor tensor);
void tiny_draw(struct tiny *model, struct tiny_values *weights, uint64_t *random);
/* Gradients of the summed loss, and the loss of each token. */
enum emu_status tiny_run(const struct tiny *model, const struct tiny_rank *at,
                         const struct tiny_values *weights, struct tiny_values *out);
/* The same on a mesh of one, which must succeed. */
void tiny_run_alone(const struct tiny *model, const struct emu_kernels *kernels,
                    const struct tiny_values *weights, struct tiny_values *out);
/* As tiny_run_alone, with sequence parallelism. */
void tiny_run_alone_sliced(const struct tiny *model, const struct emu_kernels *kernels,
                           const struct tiny_values *weights, struct tiny_values *out);

#endif
