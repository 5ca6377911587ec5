/* A halted thread returns from the long kernels of pairs; any other computes to the end. */
#include "nn/halt.h"
#include "nn/kernel.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define ROWS 5000
#define COLUMNS 3

/* Says yes from the asked-th look on; counts the looks. */
struct patience {
    int looks, halted_from;
};

static bool impatient(const void *context)
{
    struct patience *patience = *(struct patience *const *)context;
    return ++patience->looks >= patience->halted_from;
}

/* y = x w over many rows; the number of looks that it took. */
static int multiply(struct emu_bounded *y, int halted_from)
{
    struct emu_bounded *x = calloc(ROWS, sizeof *x);
    struct emu_bounded w[COLUMNS] = {{1.0, 0.0}, {2.0, 0.0}, {3.0, 0.0}};
    struct patience patience = {0, halted_from};
    const struct patience *context = &patience;
    for (int i = 0; i < ROWS; i++)
        x[i].value = i + 1;
    struct emu_matmul args = {.a = x, .b = w, .c = y, .m = ROWS, .k = 1, .n = COLUMNS, .terms = 1};
    emu_halt_watch(impatient, &context);
    emu_kernels_of(EMU_BOUND64)->matmul_nn(&args);
    emu_halt_watch(NULL, NULL);
    free(x);
    return patience.looks;
}

Test(nn_halt, nothing_is_halted_without_a_watch)
{
    cr_assert_not(emu_halt_asked());
}

Test(nn_halt, a_product_that_nobody_halts_is_whole)
{
    struct emu_bounded *y = calloc(ROWS * COLUMNS, sizeof *y);
    cr_assert_gt(multiply(y, 1 << 30), 1);
    for (int i = 0; i < ROWS; i++)
        cr_assert_eq(y[i * COLUMNS + 2].value, 3.0 * (i + 1));
    free(y);
}

Test(nn_halt, a_halted_product_returns_at_its_next_look)
{
    struct emu_bounded *y = calloc(ROWS * COLUMNS, sizeof *y);
    cr_assert_eq(multiply(y, 2), 2);
    cr_assert_eq(y[0].value, 1.0);
    cr_assert_eq(y[(ROWS - 1) * COLUMNS].value, 0.0);
    free(y);
}
