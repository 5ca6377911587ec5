/* Is the bound a bound? Every kernel, in double and float, against quadruple precision: exact
 * inputs, inputs that are off by up to their bounds, and sums in other orders and trees. */
#include "bound_cases.h"
#include "nn_random.h"
#include "quad_kernels.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One set of inputs in four kinds: pairs, their plain values, the exact inputs, and the inputs as
 * another computation may have them. */
struct inputs {
    struct emu_bounded *pair[BUFFERS_MAX];
    void *plain[BUFFERS_MAX], *other[BUFFERS_MAX];
    QUAD *exact[BUFFERS_MAX];
    uint64_t count[BUFFERS_MAX];
    bool wide; /* bounds so large that results may be unbounded */
};

struct kind {
    const struct emu_kernels *plain, *bounded, *quad;
    double unit;
};

static struct kind kind_of(bool single)
{
    return single ? (struct kind){emu_kernels_of(EMU_F32), emu_kernels_of(EMU_BOUND32),
                                  &quad_of_f32, 0x1p-24}
                  : (struct kind){emu_kernels_of(EMU_F64), emu_kernels_of(EMU_BOUND64),
                                  &quad_of_f64, 0x1p-53};
}

static void *room(uint64_t count, uint64_t bytes)
{
    void *memory = calloc(count + 1, bytes);
    cr_assert(memory);
    return memory;
}

static double draw_value(enum sign sign, uint64_t *random)
{
    static const double sizes[] = {1.0, 1.0, 1.0, 0.0, 1e-7, 12.0};
    const double x = draw_real(random) * sizes[draw_below(random, 6)];
    if (sign == APART)
        return 1.0 + fabs(x);
    return sign == NOT_NEGATIVE ? fabs(x) : x;
}

/* spread: bounds up to that part of |value| + 1; 0: all inputs exact. */
static void draw_element(struct inputs *in, const struct kind *kind, int b, uint64_t i,
                         const double spread_and_sign[2], uint64_t *random)
{
    const double spread = spread_and_sign[0];
    const enum sign sign = (enum sign)(int)spread_and_sign[1];
    kind->plain->set(in->plain[b], i, draw_value(sign, random));
    const double value = kind->plain->get(in->plain[b], i);
    const double width = draw_below(random, 4) == 0 ? 0.0 : spread * (fabs(value) + 1.0);
    QUAD exact = (QUAD)value + (QUAD)width * draw_real(random);
    const double least = sign == ANY ? -INFINITY : sign == APART ? 1.0 : 0.0;
    if (exact < least)
        exact = least;
    /* another computation: as far away from exact as may be, on either side */
    const double toward = draw_below(random, 2) ? 1.0 : -1.0;
    kind->plain->set(in->other[b], i, (double)(exact + (QUAD)width * toward));
    double other = kind->plain->get(in->other[b], i);
    QUAD off = other - exact;
    if (off > width || -off > width || other < least)
        kind->plain->set(in->other[b], i, value);
    in->pair[b][i] = (struct emu_bounded){value, width};
    in->exact[b][i] = exact;
}

static void draw_inputs(struct inputs *in, const struct kind *kind, const struct bound_case *c,
                        const struct dims *d, const double spread, uint64_t *random)
{
    for (int b = 0; b < BUFFERS_MAX; b++) {
        in->count[b] = extent_of(c->buffers[b].extent, d);
        in->pair[b] = room(in->count[b], sizeof(struct emu_bounded));
        in->plain[b] = room(in->count[b], kind->plain->bytes);
        in->other[b] = room(in->count[b], kind->plain->bytes);
        in->exact[b] = room(in->count[b], sizeof(QUAD));
        for (uint64_t i = 0; i < in->count[b]; i++)
            draw_element(in, kind, b, i, (const double[2]){spread, c->buffers[b].sign}, random);
    }
}

static void free_inputs(struct inputs *in)
{
    for (int b = 0; b < BUFFERS_MAX; b++) {
        free(in->pair[b]);
        free(in->plain[b]);
        free(in->other[b]);
        free(in->exact[b]);
    }
}

static void expect_element(const struct inputs *in, const struct kind *kind,
                           const struct bound_case *c, int b, uint64_t i)
{
    const struct emu_bounded pair = in->pair[b][i];
    const double plain = kind->plain->get(in->plain[b], i);
    const double other = kind->plain->get(in->other[b], i);
    QUAD near = pair.value - in->exact[b][i], far = other - in->exact[b][i];
    near = near < 0 ? -near : near;
    far = far < 0 ? -far : far;
    cr_assert(memcmp(&pair.value, &plain, sizeof(double)) == 0,
              "%s %s buffer %d element %lu: value %a, the plain kernel has %a", kind->plain->name,
              c->name, b, i, pair.value, plain);
    cr_assert((isfinite(pair.bound) || in->wide) && pair.bound >= 0.0,
              "%s %s buffer %d: bound %g of %g", kind->plain->name, c->name, b, pair.bound,
              pair.value);
    cr_assert(near <= pair.bound, "%s %s buffer %d element %lu: off by %g, bound %g",
              kind->plain->name, c->name, b, i, (double)near, pair.bound);
    cr_assert(far <= pair.bound, "%s %s buffer %d element %lu: another is off by %g, bound %g",
              kind->plain->name, c->name, b, i, (double)far, pair.bound);
}

static void draw_dims(struct dims *d, uint64_t *random)
{
    d->m = 1 + draw_below(random, 40);
    d->n = 1 + draw_below(random, 40);
    d->k = 1 + draw_below(random, 60);
    for (uint64_t i = 0; i < d->m; i++) {
        d->ids[i] = (uint8_t)draw_below(random, d->k + 2);
        d->valid[i] = draw_below(random, 5) > 0;
    }
}

static void try_case(const struct bound_case *c, const struct kind *kind, double spread,
                     uint64_t *random)
{
    struct dims d = {0};
    struct inputs in;
    in.wide = spread > 0.1;
    draw_dims(&d, random);
    draw_inputs(&in, kind, c, &d, spread, random);
    c->run(kind->bounded, (void *const *)in.pair, &d);
    c->run(kind->plain, in.plain, &d);
    c->run(kind->quad, (void *const *)in.exact, &d);
    if (c->run_mixed)
        c->run_mixed(kind->plain, in.other, &d, random);
    else
        c->run(kind->plain, in.other, &d);
    for (int b = 0; b < BUFFERS_MAX; b++)
        for (uint64_t i = 0; i < in.count[b]; i++)
            expect_element(&in, kind, c, b, i);
    free_inputs(&in);
}

struct parameter {
    size_t number;
    bool single;
};

ParameterizedTestParameters(bounded_kernels, any_computation_stays_within_the_bound)
{
    static struct parameter all[256];
    size_t count = 0;
    for (size_t i = 0; i < bound_case_count; i++)
        for (int single = 0; single < 2; single++)
            all[count++] = (struct parameter){i, single == 1};
    return cr_make_param_array(struct parameter, all, count);
}

ParameterizedTest(struct parameter *p, bounded_kernels, any_computation_stays_within_the_bound,
                  .timeout = 60)
{
    const struct kind kind = kind_of(p->single);
    uint64_t random = p->number * 2 + p->single;
    const double spreads[] = {0.0, kind.unit, 64.0 * kind.unit, 4096.0 * kind.unit, 1e-3,
                              0.3, 40.0};
    for (int round = 0; round < 24; round++)
        for (size_t s = 0; s < sizeof(spreads) / sizeof(spreads[0]); s++)
            try_case(&bound_cases[p->number], &kind, spreads[s], &random);
}
