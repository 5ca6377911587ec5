/* Do ranks that share a model compute what one rank computes? Forked ranks over a shared segment;
 * tp = 1, 2, 3, 5 and more ranks than hidden units, against a mesh of one with derived bounds. */
#include "tiny_models.h"
#include "tp_ranks.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdlib.h>

struct mesh_case {
    int model;
    uint32_t tp;
    bool single;
};

static void expect_near(double got, struct emu_bounded want, const char *what, uint64_t i)
{
    cr_assert(isfinite(want.bound) && fabs(got - want.value) <= 2.0 * want.bound,
              "%s element %lu: %.17g, alone %.17g, bound %g", what, i, got, want.value, want.bound);
}

static void expect_same_tensor(const struct tp_model *run, uint32_t tp, int t,
                               const struct tiny_values *alone)
{
    const struct tiny_shape shape = tiny_shape_of(&run->model, (enum tensor)t);
    const struct tiny_values *first = &run->values->out[0];
    for (uint32_t r = 0; r < tp; r++)
        for (uint64_t i = 0; i < shape.rows * shape.columns; i++) {
            const double got = run->values->out[r].element[t][i].value;
            if (tp_holds(&shape, i, tp, r))
                expect_near(got, alone->element[t][i], "gradient", i);
            if (shape.split < 0)
                cr_assert(got == first->element[t][i].value, "replicas differ in tensor %d", t);
        }
}

static void expect_same_losses(const struct tp_model *run, uint32_t tp,
                               const struct tiny_values *alone)
{
    for (uint32_t r = 0; r < tp; r++)
        for (uint64_t i = 0; i < run->model.rows; i++) {
            const double got = run->values->out[r].loss[i].value;
            expect_near(got, alone->loss[i], "loss", i);
            cr_assert(got == run->values->out[0].loss[i].value);
        }
}

ParameterizedTestParameters(layers, tensor_parallel_ranks_agree_with_one)
{
    static struct mesh_case cases[TINY_MODELS * 5];
    static const uint32_t sizes[] = {1, 2, 3, 5, 9};
    for (int i = 0; i < TINY_MODELS * 5; i++)
        cases[i] = (struct mesh_case){i / 5, sizes[i % 5], i % 2 == 1};
    return cr_make_param_array(struct mesh_case, cases, TINY_MODELS * 5);
}

ParameterizedTest(struct mesh_case *c, layers, tensor_parallel_ranks_agree_with_one, .timeout = 60)
{
    struct tp_values *values = tp_memory_create(sizeof(*values));
    struct tp_model run = {.model = tiny_model_number(c->model),
                           .kernels = emu_kernels_of(c->single ? EMU_F32 : EMU_F64),
                           .values = values};
    struct tiny_values *alone = calloc(1, sizeof(*alone));
    uint64_t random = (uint64_t)c->model;
    cr_assert(alone);
    tiny_draw(&run.model, &values->weights, &random);
    tiny_run_alone(&run.model, emu_kernels_of(c->single ? EMU_BOUND32 : EMU_BOUND64),
                   &values->weights, alone);
    tp_ranks_run(c->tp, tp_model_run, &run);
    for (int t = 0; t < TENSORS; t++)
        expect_same_tensor(&run, c->tp, t, alone);
    expect_same_losses(&run, c->tp, alone);
    tp_memory_destroy(values, sizeof(*values));
    free(alone);
}
