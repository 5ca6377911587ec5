/* One test for each rule of the table in ledger/value.h. */
#include "ledger/value.h"

#include "ledger/field.h"

#include <criterion/criterion.h>

struct fixture {
    struct emu_mesh mesh; /* dp=2,cp=1,tp=2 */
    uint64_t cells[2][3];
    struct emu_value value, other;
};

static void set_up(struct fixture *f)
{
    struct emu_mesh_error error;
    cr_assert_eq(emu_mesh_parse("dp=2,cp=1,tp=2", &f->mesh, &error), EMU_OK);
    f->value = (struct emu_value){.coefficients = f->cells[0], .sources = 3};
    f->other = (struct emu_value){.coefficients = f->cells[1], .sources = 3};
    emu_value_fresh(&f->value, 1);
    emu_value_fresh(&f->other, 2);
    f->value.axis[0] = f->other.axis[0] = EMU_AXIS_PARTIAL;
    f->value.axis[1] = f->other.axis[1] = EMU_AXIS_PARTIAL;
}

static struct emu_axes over(const struct fixture *f, const char *names)
{
    struct emu_axes axes;
    struct emu_mesh_error error;
    cr_assert_eq(emu_axes_parse(&f->mesh, names, &axes, &error), EMU_OK);
    return axes;
}

/* Reduce over one axis; returns the event. */
static uint8_t reduce(struct fixture *f, const char *axis)
{
    uint8_t events[EMU_MESH_MAX_AXES];
    struct emu_axes axes = over(f, axis);
    emu_value_reduced(&f->value, &f->mesh, &axes, events);
    return events[0];
}

Test(ledger_value, a_fresh_gradient_holds_its_own_source_once)
{
    struct fixture f;
    set_up(&f);
    cr_assert(f.cells[0][0] == 0 && f.cells[0][1] == 1 && f.cells[0][2] == 0);
}

Test(ledger_value, scaling_multiplies_every_coefficient)
{
    struct fixture f;
    set_up(&f);
    struct emu_rational third = {1, 3};
    cr_assert_eq(emu_value_scale(&f.value, third), EMU_OK);
    cr_assert_eq(emu_field_mul(f.cells[0][1], 3), 1);
    cr_assert_eq(f.cells[0][0], 0);
}

Test(ledger_value, adding_adds_source_by_source)
{
    struct fixture f;
    set_up(&f);
    emu_value_add(&f.value, &f.other);
    emu_value_add(&f.value, &f.other);
    cr_assert(f.cells[0][0] == 0 && f.cells[0][1] == 1 && f.cells[0][2] == 2);
}

Test(ledger_value, a_sum_with_a_pending_one_is_pending)
{
    struct fixture f;
    set_up(&f);
    cr_assert_eq(reduce(&f, "dp"), 0);
    cr_assert_eq(emu_value_partial_axis(&f.value, &f.mesh), -1);
    emu_value_add(&f.value, &f.other);
    cr_assert_eq(emu_value_partial_axis(&f.value, &f.mesh), 0);
}

Test(ledger_value, the_sum_over_a_partial_axis_makes_it_summed)
{
    struct fixture f;
    set_up(&f);
    cr_assert_eq(emu_value_partial_axis(&f.value, &f.mesh), 0);
    cr_assert_eq(reduce(&f, "dp"), 0);
    cr_assert_eq(f.value.axis[0], EMU_AXIS_SUMMED);
}

Test(ledger_value, a_second_sum_over_an_axis_is_an_event)
{
    struct fixture f;
    set_up(&f);
    cr_assert_eq(reduce(&f, "dp"), 0);
    cr_assert_eq(reduce(&f, "dp"), EMU_VALUE_AGAIN);
}

Test(ledger_value, a_sum_of_what_was_partly_summed_is_an_event)
{
    struct fixture f;
    set_up(&f);
    cr_assert_eq(reduce(&f, "dp"), 0);
    emu_value_add(&f.value, &f.other);
    emu_value_add(&f.value, &f.other);
    cr_assert_eq(f.value.axis[0], EMU_AXIS_MIXED);
    cr_assert_eq(reduce(&f, "dp"), EMU_VALUE_AGAIN);
    cr_assert_eq(f.value.axis[0], EMU_AXIS_SUMMED);
}

Test(ledger_value, a_sum_over_whole_copies_is_an_event)
{
    struct fixture f;
    set_up(&f);
    cr_assert_eq(reduce(&f, "tp"), EMU_VALUE_REPLICATED);
    cr_assert_eq(f.value.axis[2], EMU_AXIS_WHOLE);
}

Test(ledger_value, axes_of_size_one_change_nothing)
{
    struct fixture f;
    set_up(&f);
    cr_assert_eq(reduce(&f, "cp"), 0);
    cr_assert_eq(f.value.axis[1], EMU_AXIS_PARTIAL);
}

Test(ledger_value, a_reduction_over_a_shard_axis_is_refused)
{
    struct fixture f;
    set_up(&f);
    f.value.axis[2] = EMU_AXIS_SHARDED;
    struct emu_axes axes = over(&f, "dp,tp");
    cr_assert_eq(emu_value_shard_axis(&f.value, &f.mesh, &axes), 2);
    axes = over(&f, "dp");
    cr_assert_eq(emu_value_shard_axis(&f.value, &f.mesh, &axes), -1);
}
