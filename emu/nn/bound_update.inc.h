/* Optimizer steps on pairs. Template: see kernel_tables.h. */
#include "nn/bound_ops.inc.h"

static void sgd(void *w, const void *g, uint64_t n, double lr)
{
    struct emu_bounded *weight = w;
    const struct emu_bounded *grad = g, rate = constant(lr);
    for (uint64_t i = 0; i < n; i++)
        weight[i] = minus(weight[i], times(rate, grad[i]));
}

static void momentum(void *w, void *m, const void *g, uint64_t n, double lr, double mu)
{
    struct emu_bounded *weight = w, *mean = m;
    const struct emu_bounded *grad = g, rate = constant(lr), keep = constant(mu);
    for (uint64_t i = 0; i < n; i++) {
        mean[i] = plus(times(keep, mean[i]), grad[i]);
        weight[i] = minus(weight[i], times(rate, mean[i]));
    }
}

/* mhat/(sqrt(vhat) + epsilon). The divisor is at least epsilon in every computation, since a root
 * is not negative and rounding is monotone; that keeps the bound finite where vhat may be 0. */
static struct emu_bounded adamw_ratio(struct emu_bounded mean, struct emu_bounded square,
                                      const struct emu_adamw_constants *c)
{
    const struct emu_bounded epsilon = constant(c->epsilon);
    const struct emu_bounded mean_hat = over(mean, constant(c->correct1));
    const struct emu_bounded square_hat = over(square, constant(c->correct2));
    return over_least(mean_hat, plus(root_of(square_hat), epsilon), epsilon.value);
}

static void adamw(void *w, void *m, void *v, const void *g, uint64_t n,
                  const struct emu_adamw *params)
{
    const struct emu_adamw_constants c = emu_adamw_constants_of(params);
    struct emu_bounded *weight = w, *mean = m, *square = v;
    const struct emu_bounded *grad = g;
    for (uint64_t i = 0; i < n; i++) {
        mean[i] = plus(times(constant(c.beta1), mean[i]), times(constant(c.rest1), grad[i]));
        square[i] = plus(times(constant(c.beta2), square[i]),
                         times(constant(c.rest2), times(grad[i], grad[i])));
        const struct emu_bounded step =
            plus(adamw_ratio(mean[i], square[i], &c), times(constant(c.decay), weight[i]));
        weight[i] = minus(weight[i], times(constant(c.lr), step));
    }
}
