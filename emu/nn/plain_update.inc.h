/* Optimizer steps. Template: see kernel_tables.h. */

static void sgd(void *w, const void *g, uint64_t n, double lr)
{
    REAL *weight = w;
    const REAL *grad = g, rate = (REAL)lr;
    for (uint64_t i = 0; i < n; i++)
        weight[i] -= rate * grad[i];
}

static void momentum(void *w, void *m, const void *g, uint64_t n, double lr, double mu)
{
    REAL *weight = w, *mean = m;
    const REAL *grad = g, rate = (REAL)lr, keep = (REAL)mu;
    for (uint64_t i = 0; i < n; i++) {
        mean[i] = keep * mean[i] + grad[i];
        weight[i] -= rate * mean[i];
    }
}

static void adamw(void *w, void *m, void *v, const void *g, uint64_t n,
                  const struct emu_adamw *params)
{
    const struct emu_adamw_constants c = emu_adamw_constants_of(params);
    REAL *weight = w, *mean = m, *square = v;
    const REAL *grad = g;
    for (uint64_t i = 0; i < n; i++) {
        mean[i] = (REAL)c.beta1 * mean[i] + (REAL)c.rest1 * grad[i];
        square[i] = (REAL)c.beta2 * square[i] + (REAL)c.rest2 * (grad[i] * grad[i]);
        const REAL mean_hat = mean[i] / (REAL)c.correct1;
        const REAL root = sqrt(square[i] / (REAL)c.correct2) + (REAL)c.epsilon;
        const REAL step = mean_hat / root + (REAL)c.decay * weight[i];
        weight[i] -= (REAL)c.lr * step;
    }
}
