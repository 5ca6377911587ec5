/* Does sequence parallelism compute what it replaces? Forked ranks with the stream in slices,
 * against the same ranks with the whole stream (equal bits) and against a mesh of one (equal bits
 * in exact arithmetic, derived bounds otherwise). Rows that tp does not divide, fewer rows than
 * ranks, more ranks than hidden units. */
#include "nn/kernel_exact.h"
#include "nn_random.h"
#include "tiny_models.h"
#include "tp_ranks.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct slice_case {
    int model;
    uint32_t tp;
    uint64_t rows;
};

/* Gradients of what every rank applies to its own rows alone: pending over tp. */
static bool pending(enum tensor t)
{
    return t == NORM0 || t == NORM1 || t == DOWN_BIAS0 || t == DOWN_BIAS1;
}

static struct tiny_values *values_create(void)
{
    struct tiny_values *values = calloc(1, sizeof(*values));
    cr_assert(values);
    return values;
}

static double summed(const struct tp_model *run, uint32_t tp, enum tensor t, uint64_t i)
{
    double total = 0.0;
    for (uint32_t r = 0; r < tp; r++)
        total += run->values->out[r].element[t][i].value;
    return total;
}

static void expect_bits(double got, double want, const char *what, int t, uint64_t i)
{
    cr_assert(memcmp(&got, &want, sizeof(got)) == 0, "%s %d element %lu: %a, wanted %a", what, t, i,
              got, want);
}

static const struct {
    uint32_t tp;
    uint64_t rows;
} shapes[] = {{1, 9}, {2, 9}, {3, 9}, {3, 7}, {3, 4}, {5, 9}, {5, 11}, {5, 3}, {9, 2}, {9, 10}};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static struct criterion_test_params cases_of(int models)
{
    static struct slice_case cases[TINY_MODELS * SHAPES];
    for (int i = 0; i < models * SHAPES; i++)
        cases[i] = (struct slice_case){i / SHAPES, shapes[i % SHAPES].tp, shapes[i % SHAPES].rows};
    return cr_make_param_array(struct slice_case, cases, (size_t)models * SHAPES);
}

/* Sliced against whole, one tensor: bits where it is not pending, else within the bounds. */
static void expect_tensor(const struct tp_model *sliced, const struct tp_values *whole, uint32_t tp,
                          enum tensor t, const struct tiny_values *alone)
{
    const struct tiny_shape shape = tiny_shape_of(&sliced->model, t);
    for (uint64_t i = 0; i < shape.rows * shape.columns; i++) {
        for (uint32_t r = 0; r < tp && !pending(t); r++)
            if (tp_holds(&shape, i, tp, r))
                expect_bits(sliced->values->out[r].element[t][i].value,
                            whole->out[r].element[t][i].value, "tensor", (int)t, i);
        if (!pending(t))
            continue;
        const double got = summed(sliced, tp, t, i);
        const struct emu_bounded want = alone->element[t][i];
        cr_assert(isfinite(want.bound) && fabs(got - want.value) <= 2.0 * want.bound,
                  "tensor %d element %lu: sum over tp %.17g, alone %.17g, bound %g", t, i, got,
                  want.value, want.bound);
    }
}

ParameterizedTestParameters(layers, slices_have_the_bits_of_the_whole_stream)
{
    return cases_of(TINY_MODELS);
}

ParameterizedTest(struct slice_case *c, layers, slices_have_the_bits_of_the_whole_stream,
                  .timeout = 60)
{
    struct tp_values *sliced = tp_memory_create(sizeof(*sliced));
    struct tp_values *whole = tp_memory_create(sizeof(*whole));
    struct tiny_values *alone = values_create();
    const bool single = c->model % 2 == 1;
    struct tp_model run = {.model = tiny_model_number(c->model),
                           .kernels = emu_kernels_of(single ? EMU_F32 : EMU_F64)};
    uint64_t random = (uint64_t)c->model;
    run.model.rows = c->rows;
    tiny_draw(&run.model, &sliced->weights, &random);
    whole->weights = sliced->weights;
    tiny_run_alone_sliced(&run.model, emu_kernels_of(single ? EMU_BOUND32 : EMU_BOUND64),
                          &sliced->weights, alone);
    run.values = whole;
    tp_ranks_run(c->tp, tp_model_run, &run);
    run.values = sliced;
    run.sequence_parallel = true;
    tp_ranks_run(c->tp, tp_model_run, &run);
    for (int t = 0; t < TENSORS; t++)
        expect_tensor(&run, whole, c->tp, (enum tensor)t, alone);
    for (uint32_t r = 0; r < c->tp; r++)
        for (uint64_t i = 0; i < c->rows; i++)
            expect_bits(sliced->out[r].loss[i].value, whole->out[r].loss[i].value, "loss", 0, i);
    tp_memory_destroy(sliced, sizeof(*sliced));
    tp_memory_destroy(whole, sizeof(*whole));
    free(alone);
}

/* Small integers, no norm, no token masked: nothing rounds. */
static struct tiny exact_model(uint64_t rows, struct tiny_values *weights)
{
    struct tiny model = tiny_model_number(2); /* relu, no norm, squared loss */
    uint64_t random = rows;
    model.rows = rows;
    tiny_draw(&model, weights, &random);
    for (int t = 0; t < TENSORS; t++)
        for (int i = 0; i < TINY_ELEMENTS; i++)
            weights->element[t][i].value = (double)draw_below(&random, 5) - 2.0;
    memset(model.valid, 1, sizeof(model.valid));
    return model;
}

ParameterizedTestParameters(layers, slices_are_exact_where_arithmetic_is)
{
    return cases_of(1);
}

ParameterizedTest(struct slice_case *c, layers, slices_are_exact_where_arithmetic_is, .timeout = 60)
{
    struct tp_values *values = tp_memory_create(sizeof(*values));
    struct tiny_values *alone = values_create();
    struct tp_model run = {.model = exact_model(c->rows, &values->weights),
                           .kernels = emu_kernels_exact(),
                           .sequence_parallel = true,
                           .watched = true,
                           .values = values};
    tiny_run_alone(&run.model, emu_kernels_of(EMU_F64), &values->weights, alone);
    tp_ranks_run(c->tp, tp_model_run, &run);
    for (int t = 0; t < TENSORS; t++) {
        const struct tiny_shape shape = tiny_shape_of(&run.model, (enum tensor)t);
        for (uint64_t i = 0; i < shape.rows * shape.columns; i++)
            if (pending((enum tensor)t))
                expect_bits(summed(&run, c->tp, (enum tensor)t, i), alone->element[t][i].value,
                            "sum over tp of tensor", t, i);
            else
                for (uint32_t r = 0; r < c->tp; r++)
                    if (tp_holds(&shape, i, c->tp, r))
                        expect_bits(values->out[r].element[t][i].value, alone->element[t][i].value,
                                    "tensor", t, i);
    }
    tp_memory_destroy(values, sizeof(*values));
    free(alone);
}

/* How far rank r's own gradient is from that of a mesh of one, at most. */
static double missing(const struct tp_model *run, uint32_t r, enum tensor t,
                      const struct tiny_values *alone)
{
    const struct tiny_shape shape = tiny_shape_of(&run->model, t);
    double most = 0.0;
    for (uint64_t i = 0; i < shape.rows * shape.columns; i++)
        most =
            fmax(most, fabs(run->values->out[r].element[t][i].value - alone->element[t][i].value));
    return most;
}

Test(layers, no_rank_alone_has_the_gradients_of_norms_and_biases, .timeout = 60)
{
    enum { TP = 3 };
    struct tp_values *values = tp_memory_create(sizeof(*values));
    struct tiny_values *alone = values_create();
    const enum tensor tensors[] = {NORM0, NORM1, DOWN_BIAS0, DOWN_BIAS1};
    struct tp_model run = {.model = tiny_model_number(3), /* gelu, rms, squared loss */
                           .kernels = emu_kernels_of(EMU_F64),
                           .sequence_parallel = true,
                           .values = values};
    uint64_t random = 5;
    tiny_draw(&run.model, &values->weights, &random);
    memset(run.model.valid, 1, sizeof(run.model.valid));
    tiny_run_alone(&run.model, run.kernels, &values->weights, alone);
    tp_ranks_run(TP, tp_model_run, &run);
    for (int n = 0; n < 4; n++)
        for (uint32_t r = 0; r < TP; r++)
            cr_assert(missing(&run, r, tensors[n], alone) > 1e-3, "rank %u tensor %d", r,
                      tensors[n]);
    tp_memory_destroy(values, sizeof(*values));
    free(alone);
}

static void expect_same_bits_alone(const struct tiny *model, enum emu_dtype dtype,
                                   const struct tiny_values *weights)
{
    const bool bounded = dtype == EMU_BOUND64 || dtype == EMU_BOUND32;
    struct tiny_values *plain = values_create(), *sliced = values_create();
    tiny_run_alone(model, emu_kernels_of(dtype), weights, plain);
    tiny_run_alone_sliced(model, emu_kernels_of(dtype), weights, sliced);
    for (int t = 0; t < TENSORS; t++)
        for (uint64_t i = 0; i < TINY_ELEMENTS; i++) {
            const struct emu_bounded got = sliced->element[t][i], want = plain->element[t][i];
            expect_bits(got.value, want.value, "tensor", t, i);
            if (bounded && !pending((enum tensor)t))
                expect_bits(got.bound, want.bound, "bound of tensor", t, i);
        }
    for (uint64_t i = 0; i < model->rows; i++) {
        expect_bits(sliced->loss[i].value, plain->loss[i].value, "loss", 0, i);
        expect_bits(sliced->loss[i].bound, plain->loss[i].bound, "bound of loss", 0, i);
    }
    free(plain);
    free(sliced);
}

Test(layers, one_slice_has_the_bits_of_the_plain_path, .timeout = 60)
{
    const enum emu_dtype dtypes[] = {EMU_F64, EMU_F32, EMU_BOUND64, EMU_BOUND32};
    struct tiny_values *weights = values_create();
    for (int number = 0; number < TINY_MODELS; number++) {
        struct tiny model = tiny_model_number(number);
        uint64_t random = (uint64_t)number;
        tiny_draw(&model, weights, &random);
        for (int d = 0; d < 4; d++)
            expect_same_bits_alone(&model, dtypes[d], weights);
    }
    free(weights);
}
