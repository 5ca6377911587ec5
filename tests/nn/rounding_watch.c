/* Do the exact kernels notice every rounding, no other thing, and the first place alone? */
#include "nn/kernel_exact.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

enum { SIDE = 2, N = SIDE * SIDE, BUFFERS = 6 };

struct data {
    double x[BUFFERS][N];
    bool exact; /* integers; else nothing but fractions that no sum or product of holds */
};

struct watch_case {
    const char *kernel;
    void (*run)(const struct emu_kernels *k, struct data *d);
    bool rounds_always; /* also integers: a root, an exponential */
};

#define RUN(name) static void run_##name(const struct emu_kernels *k, struct data *d)
#define PRODUCT(name)                                                                              \
    RUN(name)                                                                                      \
    {                                                                                              \
        k->name(&(struct emu_matmul){                                                              \
            .a = d->x[0], .b = d->x[1], .c = d->x[2], .m = SIDE, .n = SIDE, .k = SIDE});           \
    }
PRODUCT(matmul_nt)
PRODUCT(matmul_nn)
PRODUCT(matmul_tn)

static const uint8_t bytes[SIDE] = {0, 1}, valid[SIDE] = {1, 1};
static const struct emu_targets targets = {bytes, valid, SIDE, 0, SIDE};

RUN(add)
{
    k->add(d->x[0], d->x[1], N);
}
RUN(add_term)
{
    k->add_term(d->x[0], d->x[1], N, 3);
}
RUN(add_row)
{
    k->add_row(d->x[0], d->x[1], SIDE, SIDE);
}
RUN(sum_rows)
{
    k->sum_rows(d->x[0], d->x[1], SIDE, SIDE);
}
RUN(scale)
{
    k->scale(d->x[0], N, 3.0, 2.0);
}
RUN(scale_by)
{
    k->scale_by(d->x[0], N, d->x[1]);
}
RUN(sum)
{
    k->sum(d->x[0], d->x[1], N);
}
RUN(sum_squares)
{
    k->sum_squares(d->x[0], d->x[1], N);
}
RUN(clip) /* norm 8, factor 1/4; or the root of a third */
{
    if (d->exact)
        d->x[2][0] = 64.0;
    k->clip(d->x[0], d->x[1], d->x[2], 2.0);
}
RUN(activate) /* relu only selects */
{
    k->activate(d->exact ? EMU_RELU : EMU_GELU, d->x[0], d->x[1], N);
}
RUN(activate_back)
{
    k->activate_back(d->exact ? EMU_RELU : EMU_GELU, d->x[0], d->x[1], d->x[2], N);
}
RUN(rms)
{
    k->rms(d->x[0], d->x[1], d->x[2], d->x[3], SIDE, SIDE);
}
RUN(rms_back)
{
    k->rms_back(d->x[0], d->x[1], d->x[2], d->x[3], d->x[4], d->x[5], SIDE, SIDE);
}
RUN(scatter_add)
{
    const uint8_t twice[SIDE] = {1, 1};
    k->scatter_add(d->x[0], d->x[1], twice, SIDE, SIDE, 0, SIDE);
}
RUN(exp_sum)
{
    k->exp_sum(d->x[0], d->x[1], d->x[2], SIDE, SIDE);
}
RUN(nll)
{
    k->nll(d->x[0], d->x[1], d->x[2], d->x[3], &targets);
}
RUN(softmax_back)
{
    k->softmax_back(d->x[0], d->x[1], d->x[2], d->x[3], &targets);
}
RUN(squared)
{
    k->squared(d->x[0], d->x[1], d->x[2], &targets);
}

#define CASE(name, always)                                                                         \
    {                                                                                              \
#name, run_##name, always                                                                  \
    }
static const struct watch_case cases[] = {
    CASE(matmul_nt, false), CASE(matmul_nn, false),     CASE(matmul_tn, false),
    CASE(add, false),       CASE(add_term, false),      CASE(add_row, false),
    CASE(sum_rows, false),  CASE(scale, false),         CASE(scale_by, false),
    CASE(sum, false),       CASE(sum_squares, false),   CASE(clip, false),
    CASE(activate, false),  CASE(activate_back, false), CASE(rms, true),
    CASE(rms_back, false),  CASE(scatter_add, false),   CASE(exp_sum, true),
    CASE(nll, true),        CASE(softmax_back, true),   CASE(squared, false),
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static struct data fractions(void)
{
    struct data d = {.exact = false};
    for (int i = 0; i < BUFFERS * N; i++)
        d.x[i / N][i % N] = (1.0 + i) / 3.0;
    return d;
}

static struct data integers(void)
{
    struct data d = {.exact = true};
    for (int i = 0; i < BUFFERS * N; i++)
        d.x[i / N][i % N] = 2.0 * (i % 5) + 2.0;
    return d;
}

ParameterizedTestParameters(rounding_watch, every_kernel_is_named_where_it_rounds)
{
    static size_t numbers[CASES];
    for (size_t i = 0; i < CASES; i++)
        numbers[i] = i;
    return cr_make_param_array(size_t, numbers, CASES);
}

ParameterizedTest(size_t *number, rounding_watch, every_kernel_is_named_where_it_rounds)
{
    const struct watch_case *c = &cases[*number];
    struct data d = fractions(), plain = d;
    emu_rounding_begin();
    emu_rounding_at("here");
    c->run(emu_kernels_exact(), &d);
    const struct emu_rounding seen = emu_rounding_end();
    cr_assert(seen.rounded, "%s rounded unseen", c->kernel);
    cr_assert_str_eq(seen.kernel, c->kernel);
    cr_assert_str_eq(seen.where, "here");
    c->run(emu_kernels_of(EMU_F64), &plain);
    cr_assert(memcmp(d.x, plain.x, sizeof(d.x)) == 0, "%s: other bits than f64", c->kernel);
}

Test(rounding_watch, integers_raise_nothing)
{
    for (size_t i = 0; i < CASES; i++) {
        if (cases[i].rounds_always)
            continue;
        struct data d = integers();
        emu_rounding_begin();
        cases[i].run(emu_kernels_exact(), &d);
        const struct emu_rounding seen = emu_rounding_end();
        cr_assert(!seen.rounded, "%s with integers: %s", cases[i].kernel, seen.kernel);
    }
}

/* A new kernel is to be watched, or to be counted here as one that compares, copies or updates. */
Test(rounding_watch, only_known_kernels_go_unwatched)
{
    const struct emu_kernels *exact = emu_kernels_exact(), *plain = emu_kernels_of(EMU_F64);
    void (*watched[sizeof(*exact) / sizeof(void (*)(void))])(void);
    void (*known[sizeof(*exact) / sizeof(void (*)(void))])(void);
    size_t same = 0, other = 0;
    memcpy(watched, exact, sizeof(watched));
    memcpy(known, plain, sizeof(known));
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        *(watched[i] == known[i] ? &same : &other) += 1;
    cr_assert(other == CASES + 1, "%zu words differ: the name and the kernels", other);
    /* dtype, bytes; get, bound, set, zero, gather, row_max, pick, sgd, momentum, adamw, finite */
    cr_assert(same == 2 + 11, "%zu words are those of f64", same);
}

Test(rounding_watch, keeps_the_first_place)
{
    struct data d = fractions(), clean = integers();
    emu_rounding_begin();
    emu_rounding_at("source dp=0");
    run_sum(emu_kernels_exact(), &clean);
    emu_rounding_at("source dp=1");
    run_add(emu_kernels_exact(), &d);
    emu_rounding_at("source dp=2");
    run_matmul_nn(emu_kernels_exact(), &d);
    emu_rounding_look("all_reduce");
    const struct emu_rounding seen = emu_rounding_end();
    cr_assert(seen.rounded);
    cr_assert_str_eq(seen.kernel, "add");
    cr_assert_str_eq(seen.where, "source dp=1");
}

Test(rounding_watch, forgets_what_was_before)
{
    struct data d = fractions(), clean = integers();
    emu_rounding_begin();
    run_add(emu_kernels_exact(), &d);
    cr_assert(emu_rounding_end().rounded && fetestexcept(FE_INEXACT));
    emu_rounding_begin();
    run_add(emu_kernels_exact(), &clean);
    const struct emu_rounding seen = emu_rounding_end();
    cr_assert(!seen.rounded && seen.kernel[0] == '\0' && seen.where[0] == '\0');
}

Test(rounding_watch, looks_at_what_is_no_kernel)
{
    struct data d = fractions();
    emu_rounding_begin();
    run_add(emu_kernels_of(EMU_F64), &d);
    emu_rounding_look("all_reduce of a name that is too long for its room");
    const struct emu_rounding seen = emu_rounding_end();
    cr_assert(seen.rounded);
    cr_assert_str_eq(seen.kernel, "all_reduce of a name th");
}

Test(rounding_watch, is_off_before_it_begins_and_after_it_ends)
{
    struct data d = fractions();
    run_add(emu_kernels_exact(), &d);
    cr_assert(!emu_rounding_end().rounded);
    emu_rounding_begin();
    cr_assert(!emu_rounding_end().rounded);
    emu_rounding_at("too late");
    run_add(emu_kernels_exact(), &d);
    cr_assert(!emu_rounding_end().rounded && emu_rounding_end().where[0] == '\0');
}

/* What another thread did: rounded without a watch, then with one. */
static void *round_elsewhere(void *answer)
{
    struct data d = fractions();
    run_add(emu_kernels_exact(), &d);
    const bool unwatched = emu_rounding_end().rounded;
    emu_rounding_begin();
    run_squared(emu_kernels_exact(), &d);
    const struct emu_rounding seen = emu_rounding_end();
    *(bool *)answer = !unwatched && seen.rounded && strcmp(seen.kernel, "squared") == 0;
    return NULL;
}

Test(rounding_watch, belongs_to_its_thread)
{
    struct data d = integers();
    bool saw_its_own = false;
    pthread_t thread;
    emu_rounding_begin();
    cr_assert(pthread_create(&thread, NULL, round_elsewhere, &saw_its_own) == 0);
    cr_assert(pthread_join(thread, NULL) == 0);
    run_add(emu_kernels_exact(), &d);
    cr_assert(!emu_rounding_end().rounded, "another thread's rounding was seen");
    cr_assert(saw_its_own);
}
