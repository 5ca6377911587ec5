/* A data-parallel step by hand: the gradient is the mean over all tokens, not a mean of means.
 *
 * Model w.x with loss 1/2 (w.x - y)^2, so one token's gradient is (w.x - y) x. Rank 0 owns three
 * tokens, rank 1 only one, rank 2 two. Each sums over its own; sums and counts are combined once
 * and divided once. All numbers are small integers: the sums must be exact, not close.
 */
#include <meshemu/meshemu.h>

#include <stdio.h>

#define FEATURES 2
#define RANKS 3

static const struct token {
    double x[FEATURES], y;
} tokens[] = {{{1, 0}, 3}, {{0, 1}, 4}, {{1, 1}, -2}, {{2, 4}, 6}, {{3, 1}, 1}, {{1, 2}, 4}};
/* rank r owns tokens first[r] .. first[r+1]-1 */
static const size_t first[RANKS + 1] = {0, 3, 4, 6};
static const double w[FEATURES] = {1, 2};

/* Add the gradients of tokens from..to-1; returns how many these are. */
static int64_t add_gradients(size_t from, size_t to, double sum[FEATURES])
{
    for (size_t t = from; t < to; t++) {
        double error = w[0] * tokens[t].x[0] + w[1] * tokens[t].x[1] - tokens[t].y;
        for (size_t i = 0; i < FEATURES; i++)
            sum[i] += error * tokens[t].x[i];
    }
    return (int64_t)(to - from);
}

static int step(struct emu_rank *rank, void *user)
{
    size_t id = emu_rank_id(rank);
    double whole[FEATURES] = {0}, sum[FEATURES] = {0}, means[FEATURES];
    int64_t all = add_gradients(first[0], first[RANKS], whole); /* what one process would get */
    int64_t count = add_gradients(first[id], first[id + 1], sum);
    uint32_t dp;
    enum emu_status status = emu_rank_group(rank, "dp", &dp);

    (void)user;
    for (size_t i = 0; i < FEATURES; i++)
        means[i] = sum[i] / (double)count;
    if (status == EMU_OK)
        status = emu_all_reduce(rank, dp, sum, sum, FEATURES, EMU_F64, EMU_SUM);
    if (status == EMU_OK)
        status = emu_all_reduce(rank, dp, &count, &count, 1, EMU_I64, EMU_SUM);
    if (status == EMU_OK) /* the usual mistake, for comparison */
        status = emu_all_reduce(rank, dp, means, means, FEATURES, EMU_F64, EMU_AVG);
    if (status != EMU_OK) {
        fprintf(stderr, "%s\n", emu_status_text(status));
        return 1;
    }
    printf("%lld tokens: gradient (%g, %g), a mean of means would say (%g, %g)\n", (long long)count,
           sum[0] / (double)count, sum[1] / (double)count, means[0], means[1]);
    return count == all && sum[0] == whole[0] && sum[1] == whole[1] ? 0 : 1;
}

int main(void)
{
    struct emu_launch_options options = {.mesh = "dp=3"};
    struct emu_outcome *outcome = NULL;

    if (emu_launch(&options, step, NULL, &outcome) != EMU_OK)
        return 3; /* the reason is on standard error */

    bool passed = emu_outcome_passed(outcome);
    if (!passed)
        emu_outcome_print(outcome, stderr);
    emu_outcome_destroy(outcome);
    return passed ? 0 : 1;
}
