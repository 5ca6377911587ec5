#include "ledger/value.h"

#include "ledger/field.h"

#include <string.h>

void emu_value_zero(struct emu_value *value)
{
    memset(value->coefficients, 0, value->sources * sizeof *value->coefficients);
}

void emu_value_fresh(struct emu_value *value, uint32_t source)
{
    emu_value_zero(value);
    value->coefficients[source] = 1;
}

enum emu_status emu_value_scale(struct emu_value *value, struct emu_rational factor)
{
    uint64_t element;
    enum emu_status status = emu_rational_to_field(factor, &element);
    if (status != EMU_OK)
        return status;
    for (uint32_t s = 0; s < value->sources; s++)
        value->coefficients[s] = emu_field_mul(value->coefficients[s], element);
    return EMU_OK;
}

static bool pending(uint8_t state)
{
    return state == EMU_AXIS_PARTIAL || state == EMU_AXIS_MIXED;
}

static bool summed(uint8_t state)
{
    return state == EMU_AXIS_SUMMED || state == EMU_AXIS_MIXED;
}

void emu_value_join(struct emu_value *into, const struct emu_value *from)
{
    for (uint32_t a = 0; a < EMU_MESH_MAX_AXES; a++) {
        bool some_pending = pending(into->axis[a]) || pending(from->axis[a]);
        bool some_summed = summed(into->axis[a]) || summed(from->axis[a]);
        if (some_pending)
            into->axis[a] = some_summed ? EMU_AXIS_MIXED : EMU_AXIS_PARTIAL;
        else if (some_summed)
            into->axis[a] = EMU_AXIS_SUMMED;
    }
}

void emu_value_add(struct emu_value *into, const struct emu_value *from)
{
    for (uint32_t s = 0; s < into->sources; s++)
        into->coefficients[s] = emu_field_add(into->coefficients[s], from->coefficients[s]);
    emu_value_join(into, from);
}

int emu_value_shard_axis(const struct emu_value *value, const struct emu_mesh *mesh,
                         const struct emu_axes *axes)
{
    for (uint32_t i = 0; i < axes->count; i++) {
        uint8_t axis = axes->index[i];
        if (mesh->axes[axis].size > 1 && value->axis[axis] == EMU_AXIS_SHARDED)
            return axis;
    }
    return -1;
}

void emu_value_reduced(struct emu_value *value, const struct emu_mesh *mesh,
                       const struct emu_axes *axes, uint8_t events[EMU_MESH_MAX_AXES])
{
    for (uint32_t i = 0; i < axes->count; i++) {
        uint8_t *state = &value->axis[axes->index[i]];
        events[i] = 0;
        if (mesh->axes[axes->index[i]].size == 1)
            continue;
        if (summed(*state))
            events[i] = EMU_VALUE_AGAIN;
        if (*state == EMU_AXIS_WHOLE)
            events[i] = EMU_VALUE_REPLICATED;
        else
            *state = EMU_AXIS_SUMMED;
    }
}

int emu_value_partial_axis(const struct emu_value *value, const struct emu_mesh *mesh)
{
    for (uint32_t a = 0; a < mesh->axis_count; a++)
        if (mesh->axes[a].size > 1 && pending(value->axis[a]))
            return (int)a;
    return -1;
}
