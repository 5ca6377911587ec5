#include "report/gradient_text.h"

#include "base/number.h"
#include "check/ledger_evidence.h"

#include <inttypes.h>

#define ELEMENTS_SHOWN 8
#define SHARES_SHOWN 8
#define RANKS_SHOWN 8

static void add_values(const struct emu_gradient_copy *copy, uint64_t elements,
                       struct emu_text *out)
{
    char number[EMU_NUMBER_MAX];
    emu_text_puts(out, ": ");
    for (uint64_t e = 0; e < elements; e++)
        emu_text_printf(out, "%s%s", e > 0 ? ", " : "", emu_number_f64(copy->value[e], number));
    emu_text_putc(out, '\n');
}

static bool all_equal(const uint64_t *coefficients, uint32_t lanes)
{
    for (uint32_t s = 1; s < lanes; s++)
        if (coefficients[s] != coefficients[0])
            return false;
    return true;
}

/* "1/4 of every source", or "1/4 of dp=0, 1/8 of dp=1". */
static void add_shares(const struct emu_plan *plan, uint32_t tensor,
                       const struct emu_gradient_copy *copy, struct emu_text *out)
{
    uint32_t lanes = emu_tensor_lanes(plan, tensor);
    char share[EMU_RATIONAL_TEXT_MAX];
    if (!copy->coefficients)
        return;
    emu_text_puts(out, "    = ");
    if (lanes > 1 && all_equal(copy->coefficients, lanes)) {
        emu_text_printf(out, "%s of each of %" PRIu32 " sources\n",
                        emu_coefficient_text(copy->coefficients[0], share), lanes);
        return;
    }
    for (uint32_t s = 0; s < lanes && s < SHARES_SHOWN; s++) {
        emu_text_printf(out, "%s%s of ", s > 0 ? ", " : "",
                        emu_coefficient_text(copy->coefficients[s], share));
        emu_lane_name(plan, s, out);
    }
    if (lanes > SHARES_SHOWN)
        emu_text_printf(out, ", ... (%" PRIu32 " sources)", lanes);
    emu_text_putc(out, '\n');
}

static void add_holders(const struct emu_gradient_copy *copy, struct emu_text *out)
{
    emu_text_puts(out, copy->rank_count == 1 ? " on rank" : " on ranks");
    for (size_t i = 0; i < copy->rank_count && i < RANKS_SHOWN; i++)
        emu_text_printf(out, "%s %" PRIu32, i > 0 ? "," : "", copy->ranks[i]);
    if (copy->rank_count > RANKS_SHOWN)
        emu_text_printf(out, ", ... (%zu ranks)", copy->rank_count);
}

void emu_gradients_to_text(const struct emu_plan *plan, const struct emu_gradient_view *views,
                           struct emu_text *out)
{
    for (uint32_t i = 0; i < plan->tensor_count; i++) {
        const struct emu_tensor_plan *tensor = &plan->tensors[i];
        uint64_t elements = tensor->rows * tensor->columns;
        for (size_t c = 0; c < views[i].copy_count && c < RANKS_SHOWN; c++) {
            emu_text_printf(out, "  %s", tensor->name);
            if (views[i].copy_count > 1)
                add_holders(&views[i].copies[c], out);
            if (elements > ELEMENTS_SHOWN) {
                emu_text_printf(out, ": %" PRIu64 " elements, use --json\n", elements);
                continue;
            }
            add_values(&views[i].copies[c], elements, out);
            add_shares(plan, i, &views[i].copies[c], out);
        }
        if (views[i].copy_count > RANKS_SHOWN)
            emu_text_printf(out, "  %s: %zu more, each on other ranks\n", tensor->name,
                            views[i].copy_count - RANKS_SHOWN);
    }
}
