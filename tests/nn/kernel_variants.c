/* Do the kernels of all variants of the processor give the same bits? Every kernel of every dtype,
 * at sizes that fill registers and blocks, fall short of them and exceed them. */
#include "nn/kernel.h"
#include "nn_random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(nn_variants, .timeout = 120);

static const enum emu_dtype dtypes[] = {EMU_F64, EMU_F32, EMU_BOUND64, EMU_BOUND32};

/* Inputs of one trial and room for a result, each of `most` elements. */
struct trial {
    const struct emu_kernels *k;
    uint64_t seed, most;
    void *x, *y, *z;      /* numbers around 0 */
    void *positive;       /* above 0 */
    uint8_t *ids, *valid; /* bytes and a mask */
    void *out, *out2, *out3;
};

static void *fill(const struct trial *t, uint64_t seed, bool positive)
{
    void *x = calloc(t->most + 1, t->k->bytes);
    cr_assert_not_null(x);
    for (uint64_t i = 0; i < t->most; i++) {
        double drawn = draw_real(&seed);
        t->k->set(x, i, positive ? 0.5 + drawn * drawn : drawn);
    }
    return x;
}

static void open_trial(struct trial *t, const struct emu_kernels *k, uint64_t most)
{
    *t = (struct trial){.k = k, .seed = 11, .most = most};
    t->x = fill(t, 1, false);
    t->y = fill(t, 2, false);
    t->z = fill(t, 3, false);
    t->positive = fill(t, 4, true);
    t->out = fill(t, 5, false);
    t->out2 = fill(t, 6, true);
    t->out3 = fill(t, 7, true);
    t->ids = malloc(most + 1);
    t->valid = malloc(most + 1);
    cr_assert(t->ids && t->valid);
    uint64_t seed = 8;
    for (uint64_t i = 0; i < most; i++) {
        t->ids[i] = (uint8_t)draw_below(&seed, 256);
        t->valid[i] = draw_real(&seed) > -0.5;
    }
}

static void close_trial(struct trial *t)
{
    void *all[] = {t->x, t->y, t->z, t->positive, t->ids, t->valid, t->out, t->out2, t->out3};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

static struct emu_matmul product_of(const struct trial *t, uint64_t n, bool accumulate)
{
    /* all dimensions odd where n is, and different */
    uint64_t m = n % 13 + 1, k = n % 71 + 1;
    return (struct emu_matmul){
        .a = t->x, .b = t->y, .c = t->out, .m = m, .n = n, .k = k, .accumulate = accumulate};
}

static void nt(struct trial *t, uint64_t n)
{
    struct emu_matmul args = product_of(t, n, false);
    t->k->matmul_nt(&args);
}
static void nn(struct trial *t, uint64_t n)
{
    struct emu_matmul args = product_of(t, n, true);
    t->k->matmul_nn(&args);
}
static void tn(struct trial *t, uint64_t n)
{
    struct emu_matmul args = product_of(t, n, true);
    t->k->matmul_tn(&args);
}
static void add(struct trial *t, uint64_t n)
{
    t->k->add(t->out, t->x, n);
}
static void add_term(struct trial *t, uint64_t n)
{
    t->k->add_term(t->out, t->x, n, 9);
}
static void add_row(struct trial *t, uint64_t n)
{
    t->k->add_row(t->out, t->x, 3, n);
}
static void sum_rows(struct trial *t, uint64_t n)
{
    t->k->sum_rows(t->out, t->x, 3, n);
}
static void scale(struct trial *t, uint64_t n)
{
    t->k->scale(t->out, n, 3.0, 7.0);
}
static void scale_by(struct trial *t, uint64_t n)
{
    t->k->scale_by(t->out, n, t->x);
}
static void sums(struct trial *t, uint64_t n)
{
    t->k->sum(t->out, t->x, n);
    t->k->sum_squares(t->out2, t->x, n);
    t->k->clip(t->out3, t->out, t->out2, 1.0);
}
static void gelu(struct trial *t, uint64_t n)
{
    t->k->activate(EMU_GELU, t->out, t->x, n);
    t->k->activate_back(EMU_GELU, t->out2, t->x, t->y, n);
}
static void silu(struct trial *t, uint64_t n)
{
    t->k->activate(EMU_SILU, t->out, t->x, n);
    t->k->activate_back(EMU_SILU, t->out2, t->x, t->y, n);
}
static void relu(struct trial *t, uint64_t n)
{
    t->k->activate(EMU_RELU, t->out, t->x, n);
    t->k->activate_back(EMU_RELU, t->out2, t->x, t->y, n);
}
static void rms(struct trial *t, uint64_t n)
{
    t->k->rms(t->out, t->out2, t->x, t->y, 3, n);
    t->k->rms_back(t->out3, t->out, t->x, t->y, t->out2, t->z, 3, n);
}
static void table(struct trial *t, uint64_t n)
{
    t->k->gather(t->out, t->x, t->ids, 4, n, 100, 3);
    t->k->scatter_add(t->out2, t->y, t->ids, 4, n, 0, 5);
}
static void losses(struct trial *t, uint64_t n)
{
    struct emu_targets targets = {t->ids, t->valid, 3, 1, n};
    t->k->row_max(t->out, t->x, 3, n);
    t->k->exp_sum(t->out2, t->x, t->out, 3, n);
    t->k->pick(t->out3, t->x, &targets);
    t->k->nll(t->out3, t->out2, t->out, t->out3, &targets);
    t->k->softmax_back(t->out3, t->x, t->out, t->out2, &targets);
}
static void squared(struct trial *t, uint64_t n)
{
    struct emu_targets targets = {t->ids, t->valid, 3, 1, n};
    t->k->squared(t->out, t->out2, t->x, &targets);
}
static void updates(struct trial *t, uint64_t n)
{
    struct emu_adamw adamw = {1e-3, 0.9, 0.999, 1e-8, 0.01, 4};
    t->k->sgd(t->out, t->x, n, 0.1);
    t->k->momentum(t->out, t->out2, t->y, n, 0.1, 0.9);
    t->k->adamw(t->out, t->out2, t->out3, t->x, n, &adamw);
}

static const struct {
    const char *name;
    void (*run)(struct trial *t, uint64_t n);
} kernels[] = {
    {"matmul_nt", nt},      {"matmul_nn", nn},    {"matmul_tn", tn},      {"add", add},
    {"add_term", add_term}, {"add_row", add_row}, {"sum_rows", sum_rows}, {"scale", scale},
    {"scale_by", scale_by}, {"sums", sums},       {"gelu", gelu},         {"silu", silu},
    {"relu", relu},         {"rms", rms},         {"tables", table},      {"cross-entropy", losses},
    {"squared", squared},   {"updates", updates}};

static void compare(enum emu_dtype dtype, enum emu_cpu_variant variant, size_t kernel, uint64_t n)
{
    struct trial want, got;
    uint64_t most = 80 * n + 80;
    open_trial(&want, emu_kernels_for(dtype, EMU_CPU_BASELINE), most);
    open_trial(&got, emu_kernels_for(dtype, variant), most);
    kernels[kernel].run(&want, n);
    kernels[kernel].run(&got, n);
    size_t bytes = most * want.k->bytes;
    bool same = !memcmp(want.out, got.out, bytes) && !memcmp(want.out2, got.out2, bytes) &&
                !memcmp(want.out3, got.out3, bytes);
    cr_assert(same, "%s %s: %s differs from the baseline at size %lu", want.k->name,
              emu_cpu_variant_name(variant), kernels[kernel].name, (unsigned long)n);
    close_trial(&want);
    close_trial(&got);
}

Test(nn_variants, all_give_the_bits_of_the_baseline)
{
    static const uint64_t sizes[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 65, 127, 200, 257};
    for (int v = EMU_CPU_BASELINE + 1; v < EMU_CPU_VARIANT_COUNT; v++)
        for (size_t d = 0; emu_cpu_variant_runs((enum emu_cpu_variant)v) && d < 4; d++)
            for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
                for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
                    compare(dtypes[d], (enum emu_cpu_variant)v, k, sizes[s]);
}

Test(nn_variants, the_one_in_use_is_the_one_of_the_process)
{
    for (size_t d = 0; d < 4; d++)
        cr_assert_eq(emu_kernels_of(dtypes[d]), emu_kernels_for(dtypes[d], emu_cpu_variant()));
}

/* A slip in a variant's flags would show here: each table is one of its own. */
Test(nn_variants, every_variant_that_runs_has_tables_of_its_own)
{
    for (int v = EMU_CPU_BASELINE + 1; v < EMU_CPU_VARIANT_COUNT; v++)
        if (emu_cpu_variant_runs((enum emu_cpu_variant)v))
            for (size_t d = 0; d < 4; d++)
                cr_assert_neq(emu_kernels_for(dtypes[d], (enum emu_cpu_variant)v),
                              emu_kernels_for(dtypes[d], (enum emu_cpu_variant)(v - 1)));
}
