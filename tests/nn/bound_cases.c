#include "bound_cases.h"

#include "mixed_order.h"

#include <math.h>

uint64_t extent_of(enum extent extent, const struct dims *d)
{
    switch (extent) {
    case MN:
        return d->m * d->n;
    case MK:
        return d->m * d->k;
    case NK:
        return d->n * d->k;
    case M:
        return d->m;
    case N:
        return d->n;
    case K:
        return d->k;
    case ONE:
        return 1;
    default:
        return 0;
    }
}

struct emu_targets targets_of(const struct dims *d)
{
    return (struct emu_targets){d->ids, d->valid, d->m, 1, d->n};
}

#define CASE(name)                                                                                 \
    static void run_##name(const struct emu_kernels *k, void *const x[], const struct dims *d)

#define PRODUCT(name, kernel, adds)                                                                \
    CASE(name)                                                                                     \
    {                                                                                              \
        k->kernel(&(struct emu_matmul){.a = x[0],                                                  \
                                       .b = x[1],                                                  \
                                       .c = x[2],                                                  \
                                       .m = d->m,                                                  \
                                       .n = d->n,                                                  \
                                       .k = d->k,                                                  \
                                       .accumulate = adds});                                       \
    }
PRODUCT(nt, matmul_nt, false)
PRODUCT(nn, matmul_nn, false)
PRODUCT(tn, matmul_tn, false)
PRODUCT(nt_more, matmul_nt, true)
PRODUCT(nn_more, matmul_nn, true)
PRODUCT(tn_more, matmul_tn, true)

CASE(add)
{
    k->add(x[0], x[1], d->m * d->n);
}
/* Each row of x[1] is one of m terms. */
CASE(add_term)
{
    const unsigned char *row = x[1];
    k->zero(x[0], d->n);
    for (uint64_t i = 0; i < d->m; i++)
        k->add_term(x[0], row + i * d->n * k->bytes, d->n, d->m);
}
CASE(add_row)
{
    k->add_row(x[0], x[1], d->m, d->n);
}
CASE(sum_rows)
{
    k->sum_rows(x[0], x[1], d->m, d->n);
}
CASE(scale)
{
    k->scale(x[0], d->m * d->n, 3.0, 7.0);
}
CASE(scale_by)
{
    k->scale_by(x[0], d->m * d->n, x[1]);
}
CASE(sum)
{
    k->sum(x[0], x[1], d->m * d->n);
}
CASE(sum_squares)
{
    k->sum_squares(x[0], x[1], d->m * d->n);
}
CASE(clip)
{
    (void)d;
    k->clip(x[0], x[1], x[2], 0.75);
}
CASE(clip_never)
{
    (void)d;
    k->clip(x[0], x[1], x[2], INFINITY);
}

#define ACTIVATION(kind, name)                                                                     \
    CASE(name)                                                                                     \
    {                                                                                              \
        k->activate(kind, x[0], x[1], d->m * d->n);                                                \
    }                                                                                              \
    CASE(name##_back)                                                                              \
    {                                                                                              \
        k->activate_back(kind, x[0], x[1], x[2], d->m * d->n);                                     \
    }
ACTIVATION(EMU_GELU, gelu)
ACTIVATION(EMU_SILU, silu)
ACTIVATION(EMU_RELU, relu)

CASE(rms)
{
    k->rms(x[0], x[1], x[2], x[3], d->m, d->n);
}
CASE(rms_back) /* wants the inverse of its own rows */
{
    k->rms(x[0], x[4], x[2], x[3], d->m, d->n);
    k->rms_back(x[0], x[1], x[2], x[3], x[4], x[5], d->m, d->n);
}
CASE(gather)
{
    k->gather(x[0], x[1], d->ids, d->m, d->n, 1, d->k);
}
CASE(scatter_add)
{
    k->scatter_add(x[1], x[0], d->ids, d->m, d->n, 1, d->k);
}
CASE(row_max)
{
    k->row_max(x[0], x[1], d->m, d->n);
}
CASE(exp_sum)
{
    k->row_max(x[2], x[1], d->m, d->n);
    k->exp_sum(x[0], x[1], x[2], d->m, d->n);
}
CASE(pick)
{
    const struct emu_targets targets = targets_of(d);
    k->pick(x[0], x[1], &targets);
}
CASE(nll)
{
    const struct emu_targets targets = targets_of(d);
    k->nll(x[0], x[1], x[2], x[3], &targets);
}
/* softmax_back wants the max and the sum of its own row. */
CASE(softmax_back)
{
    const struct emu_targets targets = targets_of(d);
    run_exp_sum(k, (void *[]){x[3], x[1], x[2]}, d);
    k->softmax_back(x[0], x[1], x[2], x[3], &targets);
}
CASE(softmax_back_in_place)
{
    const struct emu_targets targets = targets_of(d);
    run_exp_sum(k, (void *[]){x[2], x[0], x[1]}, d);
    k->softmax_back(x[0], x[0], x[1], x[2], &targets);
}
CASE(squared)
{
    const struct emu_targets targets = targets_of(d);
    k->squared(x[0], x[1], x[2], &targets);
}
CASE(sgd)
{
    k->sgd(x[0], x[1], d->m * d->n, 0.125);
}
CASE(momentum)
{
    k->momentum(x[0], x[1], x[2], d->m * d->n, 0.125, 0.875);
}
CASE(adamw)
{
    const struct emu_adamw params = {1e-3, 0.9, 0.999, 1e-8, 0.01, 3};
    k->adamw(x[0], x[1], x[2], x[3], d->m * d->n, &params);
}

const struct bound_case bound_cases[] = {
    {"matmul_nt", {{MK, ANY}, {NK, ANY}, {MN, ANY}}, run_nt, mixed_nt},
    {"matmul_nn", {{MK, ANY}, {NK, ANY}, {MN, ANY}}, run_nn, mixed_nn},
    {"matmul_tn", {{MK, ANY}, {NK, ANY}, {MN, ANY}}, run_tn, mixed_tn},
    {"matmul_nt accumulating", {{MK, ANY}, {NK, ANY}, {MN, ANY}}, run_nt_more, mixed_nt_more},
    {"matmul_nn accumulating", {{MK, ANY}, {NK, ANY}, {MN, ANY}}, run_nn_more, mixed_nn_more},
    {"matmul_tn accumulating", {{MK, ANY}, {NK, ANY}, {MN, ANY}}, run_tn_more, mixed_tn_more},
    {"add", {{MN, ANY}, {MN, ANY}}, run_add, NULL},
    {"add_term", {{N, ANY}, {MN, ANY}}, run_add_term, mixed_add_term},
    {"add_row", {{MN, ANY}, {N, ANY}}, run_add_row, NULL},
    {"sum_rows", {{N, ANY}, {MN, ANY}}, run_sum_rows, mixed_sum_rows},
    {"scale", {{MN, ANY}}, run_scale, NULL},
    {"scale_by", {{MN, ANY}, {ONE, ANY}}, run_scale_by, NULL},
    {"sum", {{ONE, ANY}, {MN, ANY}}, run_sum, mixed_sum},
    {"sum_squares", {{ONE, NOT_NEGATIVE}, {MN, ANY}}, run_sum_squares, mixed_sum_squares},
    {"clip", {{ONE, ANY}, {ONE, ANY}, {ONE, NOT_NEGATIVE}}, run_clip, NULL},
    {"clip without limit", {{ONE, ANY}, {ONE, ANY}, {ONE, NOT_NEGATIVE}}, run_clip_never, NULL},
    {"gelu", {{MN, ANY}, {MN, ANY}}, run_gelu, NULL},
    {"gelu_back", {{MN, ANY}, {MN, ANY}, {MN, ANY}}, run_gelu_back, NULL},
    {"silu", {{MN, ANY}, {MN, ANY}}, run_silu, NULL},
    {"silu_back", {{MN, ANY}, {MN, ANY}, {MN, ANY}}, run_silu_back, NULL},
    {"relu", {{MN, ANY}, {MN, ANY}}, run_relu, NULL},
    {"relu_back", {{MN, ANY}, {MN, ANY}, {MN, ANY}}, run_relu_back, NULL},
    {"rms", {{MN, ANY}, {M, ANY}, {MN, ANY}, {N, ANY}}, run_rms, NULL},
    {"rms_back",
     {{MN, ANY}, {N, ANY}, {MN, ANY}, {N, ANY}, {M, ANY}, {MN, ANY}},
     run_rms_back,
     mixed_rms_back},
    {"gather", {{MN, ANY}, {NK, ANY}}, run_gather, NULL},
    {"scatter_add", {{MN, ANY}, {NK, ANY}}, run_scatter_add, mixed_scatter_add},
    {"row_max", {{M, ANY}, {MN, ANY}}, run_row_max, NULL},
    {"exp_sum", {{M, ANY}, {MN, ANY}, {M, ANY}}, run_exp_sum, mixed_exp_sum},
    {"pick", {{M, ANY}, {MN, ANY}}, run_pick, NULL},
    {"nll", {{M, ANY}, {M, APART}, {M, ANY}, {M, ANY}}, run_nll, NULL},
    {"softmax_back",
     {{MN, ANY}, {MN, ANY}, {M, ANY}, {M, ANY}},
     run_softmax_back,
     mixed_softmax_back},
    {"softmax_back in place", {{MN, ANY}, {M, ANY}, {M, ANY}}, run_softmax_back_in_place, NULL},
    {"squared", {{M, ANY}, {MN, ANY}, {MN, ANY}}, run_squared, mixed_squared},
    {"sgd", {{MN, ANY}, {MN, ANY}}, run_sgd, NULL},
    {"momentum", {{MN, ANY}, {MN, ANY}, {MN, ANY}}, run_momentum, NULL},
    {"adamw", {{MN, ANY}, {MN, ANY}, {MN, NOT_NEGATIVE}, {MN, ANY}}, run_adamw, NULL},
};
const size_t bound_case_count = sizeof(bound_cases) / sizeof(bound_cases[0]);
