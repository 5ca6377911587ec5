/* Which bit of which element changes? */
#include "fault/bit_flip.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(fault_flip, .timeout = 20);

static struct emu_elements view(double *x, uint64_t first, uint64_t count)
{
    return (struct emu_elements){(unsigned char *)x, first, count, EMU_F64};
}

Test(fault_flip, without_an_element_the_largest_changes_by_half)
{
    double x[4] = {0.25, -2.0, 1.0, 0.0};
    struct emu_elements elements = view(x, 0, 4);
    struct emu_fault fault = {.kind = EMU_FAULT_FLIP_INPUT};
    emu_flip_apply(&fault, &elements);
    cr_expect_eq(x[1], -3.0);
    cr_expect(x[0] == 0.25 && x[2] == 1.0 && x[3] == 0.0);
}

Test(fault_flip, a_given_bit_of_a_given_element_flips_and_flips_back)
{
    double x[3] = {1.0, 1.0, 1.0};
    struct emu_elements elements = view(x, 10, 3);
    struct emu_fault fault = {.kind = EMU_FAULT_FLIP_RESULT,
                              .value[EMU_KEY_ELEMENT] = {.given = true, .number = 11},
                              .value[EMU_KEY_BIT] = {.given = true, .number = 63}};
    cr_assert(emu_flip_hits(&fault, &elements));
    emu_flip_apply(&fault, &elements);
    cr_expect(x[0] == 1.0 && x[1] == -1.0 && x[2] == 1.0);
    emu_flip_apply(&fault, &elements);
    cr_expect_eq(x[1], 1.0);
}

Test(fault_flip, elements_outside_the_piece_are_not_hit)
{
    double x[3] = {1.0, 1.0, 1.0};
    struct emu_elements elements = view(x, 10, 3);
    struct emu_fault fault = {.kind = EMU_FAULT_FLIP_DEPOSIT,
                              .value[EMU_KEY_ELEMENT] = {.given = true, .number = 9}};
    cr_expect_not(emu_flip_hits(&fault, &elements));
    fault.value[EMU_KEY_ELEMENT].number = 13;
    cr_expect_not(emu_flip_hits(&fault, &elements));
    fault.value[EMU_KEY_ELEMENT].number = 12;
    cr_expect(emu_flip_hits(&fault, &elements));
}

Test(fault_flip, a_buffer_of_zeros_changes_visibly)
{
    double x[2] = {0.0, 0.0};
    struct emu_elements elements = view(x, 0, 2);
    struct emu_fault fault = {.kind = EMU_FAULT_FLIP_INPUT};
    emu_flip_apply(&fault, &elements);
    cr_expect_eq(x[0], 2.0);
}

Test(fault_flip, nan_is_written_in_both_precisions)
{
    double wide = 1.0;
    float narrow = 1.0F;
    struct emu_fault fault = {.kind = EMU_FAULT_NAN};
    struct emu_elements elements = view(&wide, 0, 1);
    emu_flip_apply(&fault, &elements);
    elements = (struct emu_elements){(unsigned char *)&narrow, 0, 1, EMU_F32};
    emu_flip_apply(&fault, &elements);
    cr_expect(isnan(wide) && isnan(narrow));
}

Test(fault_flip, an_integer_changes_by_one)
{
    int64_t tokens = 6;
    struct emu_elements elements = {(unsigned char *)&tokens, 0, 1, EMU_I64};
    struct emu_fault fault = {.kind = EMU_FAULT_FLIP_INPUT};
    emu_flip_apply(&fault, &elements);
    cr_expect_eq(tokens, 7);
}
