#include "report/gradient_json.h"

#include "check/ledger_evidence.h"

static void put_value(const struct emu_plan *plan, uint32_t tensor,
                      const struct emu_gradient_copy *copy, struct emu_json *json)
{
    uint64_t elements = plan->tensors[tensor].rows * plan->tensors[tensor].columns;
    emu_json_key(json, "value");
    emu_json_array_begin(json);
    for (uint64_t e = 0; e < elements && !json->failed; e++)
        emu_json_f64(json, copy->value[e]);
    emu_json_array_end(json);
}

/* A fraction for each source; null where it is no small one. */
static void put_coefficients(const struct emu_plan *plan, uint32_t tensor,
                             const struct emu_gradient_copy *copy, struct emu_json *json)
{
    emu_json_key(json, "coefficients");
    emu_json_object_begin(json);
    for (uint32_t s = 0; copy->coefficients && s < emu_tensor_lanes(plan, tensor); s++) {
        char text[EMU_RATIONAL_TEXT_MAX];
        struct emu_text name = {0};
        emu_lane_name(plan, s, &name);
        emu_coefficient_text(copy->coefficients[s], text);
        emu_json_put_string(json, emu_text_get(&name), text[0] == '?' ? NULL : text);
        emu_text_finish(&name);
    }
    emu_json_object_end(json);
}

static void put_copies(const struct emu_plan *plan, uint32_t tensor,
                       const struct emu_gradient_view *view, struct emu_json *json)
{
    emu_json_key(json, "copies");
    emu_json_array_begin(json);
    for (size_t c = 0; c < view->copy_count; c++) {
        emu_json_object_begin(json);
        emu_json_key(json, "ranks");
        emu_json_array_begin(json);
        for (size_t i = 0; i < view->copies[c].rank_count; i++)
            emu_json_u64(json, view->copies[c].ranks[i]);
        emu_json_array_end(json);
        put_value(plan, tensor, &view->copies[c], json);
        put_coefficients(plan, tensor, &view->copies[c], json);
        emu_json_object_end(json);
    }
    emu_json_array_end(json);
}

void emu_gradients_to_json(const struct emu_plan *plan, const struct emu_gradient_view *views,
                           struct emu_json *json)
{
    emu_json_object_begin(json);
    for (uint32_t i = 0; i < plan->tensor_count; i++) {
        emu_json_key(json, plan->tensors[i].name);
        emu_json_object_begin(json);
        put_value(plan, i, &views[i].copies[0], json);
        put_coefficients(plan, i, &views[i].copies[0], json);
        if (views[i].copy_count > 1)
            put_copies(plan, i, &views[i], json);
        emu_json_object_end(json);
    }
    emu_json_object_end(json);
}
