/* Are the layers' hand-written gradients those of their loss? Central finite differences on every
 * parameter of a small model, in double precision. */
#include "nn_random.h"
#include "tiny_models.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdlib.h>

static double total_loss(const struct tiny *model, const struct tiny_values *weights,
                         struct tiny_values *scratch)
{
    double total = 0.0;
    tiny_run_alone(model, emu_kernels_of(EMU_F64), weights, scratch);
    for (uint64_t i = 0; i < model->rows; i++)
        total += scratch->loss[i].value;
    return total;
}

static void expect_slope(const struct tiny *model, struct tiny_values *weights,
                         struct tiny_values *scratch, double got, const uint64_t place[2])
{
    /* truncation about h^2 = 1e-9, cancellation about 1e-15/h: well below the tolerance, which no
     * wrong formula would meet */
    const double h = 3e-5;
    double *element = &weights->element[place[0]][place[1]].value;
    const double kept = *element;
    *element = kept + h;
    const double above = total_loss(model, weights, scratch);
    *element = kept - h;
    const double below = total_loss(model, weights, scratch);
    *element = kept;
    const double slope = (above - below) / (2.0 * h);
    cr_assert(fabs(slope - got) <= 2e-6 * (1.0 + fabs(slope)),
              "tensor %lu element %lu: gradient %.12g, slope %.12g", place[0], place[1], got,
              slope);
}

ParameterizedTestParameters(layers, gradients_are_the_slopes_of_the_loss)
{
    static int numbers[TINY_MODELS];
    for (int i = 0; i < TINY_MODELS; i++)
        numbers[i] = i;
    return cr_make_param_array(int, numbers, TINY_MODELS);
}

ParameterizedTest(int *number, layers, gradients_are_the_slopes_of_the_loss, .timeout = 60)
{
    struct tiny model = tiny_model_number(*number);
    struct tiny_values *weights = calloc(1, sizeof(*weights)), *got = calloc(1, sizeof(*got));
    struct tiny_values *scratch = calloc(1, sizeof(*scratch));
    uint64_t random = 40 + (uint64_t)*number;
    cr_assert(weights && got && scratch);
    tiny_draw(&model, weights, &random);
    tiny_run_alone(&model, emu_kernels_of(EMU_F64), weights, got);
    for (uint64_t t = 0; t < TENSORS; t++) {
        const struct tiny_shape shape = tiny_shape_of(&model, (enum tensor)t);
        for (uint64_t i = 0; i < shape.rows * shape.columns; i++)
            expect_slope(&model, weights, scratch, got->element[t][i].value,
                         (const uint64_t[2]){t, i});
    }
    free(weights);
    free(got);
    free(scratch);
}

Test(layers, bounded_values_are_the_plain_values)
{
    const enum emu_dtype pairs[2][2] = {{EMU_F64, EMU_BOUND64}, {EMU_F32, EMU_BOUND32}};
    struct tiny_values *weights = calloc(1, sizeof(*weights));
    struct tiny_values *plain = calloc(1, sizeof(*plain)), *bounded = calloc(1, sizeof(*bounded));
    cr_assert(weights && plain && bounded);
    for (int number = 0; number < TINY_MODELS * 2; number++) {
        struct tiny model = tiny_model_number(number / 2);
        uint64_t random = (uint64_t)number;
        tiny_draw(&model, weights, &random);
        tiny_run_alone(&model, emu_kernels_of(pairs[number % 2][0]), weights, plain);
        tiny_run_alone(&model, emu_kernels_of(pairs[number % 2][1]), weights, bounded);
        for (int t = 0; t < TENSORS; t++)
            for (int i = 0; i < TINY_ELEMENTS; i++)
                cr_assert(plain->element[t][i].value == bounded->element[t][i].value,
                          "model %d tensor %d element %d", number, t, i);
    }
    free(weights);
    free(plain);
    free(bounded);
}
