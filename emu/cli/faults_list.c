#include "cli/faults_print.h"
#include "fault/campaign_schedule.h"
#include "fault/expectation.h"

#include <string.h>

/* What the rows of the schedule say about one kind in one plan. */
struct about {
    bool applies;
    bool quiet;       /* every address of it must raise nothing */
    uint64_t classes; /* at its addresses, as bits */
    const char *skip; /* why it does not apply */
};

static bool row_of(const struct emu_plan *plan, size_t row, struct emu_fault *fault, bool *full)
{
    struct emu_fault_dice dice = emu_fault_dice_plain(plan);
    struct emu_fault_error error;
    char spec[EMU_FAULT_SPEC_MAX];
    *full = emu_fault_schedule_spec(plan, row, &dice, spec);
    if (*full)
        return emu_fault_parse(spec, &plan->roster, plan, fault, &error) == EMU_OK;
    *fault = (struct emu_fault){0};
    for (int kind = 0; kind < EMU_FAULT_KIND_COUNT; kind++)
        if (!strcmp(spec, emu_fault_name((enum emu_fault_kind)kind)))
            fault->kind = (enum emu_fault_kind)kind;
    return true;
}

static struct about about_kind(const struct emu_plan *plan, enum emu_fault_kind kind)
{
    struct about about = {.quiet = true};
    for (size_t row = 0; row < emu_fault_schedule_count(); row++) {
        struct emu_fault fault;
        struct emu_fault_expectation expected;
        bool full;
        if (!row_of(plan, row, &fault, &full) || fault.kind != kind)
            continue;
        emu_fault_expect(&fault, plan, &expected);
        if (!full || expected.skip) {
            about.skip = expected.skip ? expected.skip : "the plan has nothing for its address";
            continue;
        }
        about.applies = true;
        about.quiet = about.quiet && expected.quiet;
        about.classes |= expected.quiet ? 0 : expected.classes;
    }
    return about;
}

static void add_keys(const struct emu_fault_row *row, struct emu_text *out)
{
    for (int key = 0; key < EMU_FAULT_KEY_COUNT; key++) {
        if (!(row->keys >> key & 1))
            continue;
        bool needed = row->needed >> key & 1;
        emu_text_printf(out, " %s%s=%s", needed ? "" : "[",
                        emu_fault_key_name((enum emu_fault_key)key), needed ? "" : "]");
    }
}

static void add_classes(uint64_t classes, struct emu_text *out)
{
    bool first = true;
    for (int class_id = 0; class_id < EMU_CLASS_COUNT; class_id++) {
        if (!(classes >> class_id & 1))
            continue;
        emu_text_printf(out, "%s%s", first ? "" : " ", emu_class_name((enum emu_class)class_id));
        first = false;
    }
}

void emu_faults_list_text(const struct emu_plan *plan, struct emu_text *out)
{
    for (int k = 0; k < EMU_FAULT_KIND_COUNT; k++) {
        enum emu_fault_kind kind = (enum emu_fault_kind)k;
        const struct emu_fault_row *row = emu_fault_row(kind);
        struct about about = about_kind(plan, kind);
        emu_text_printf(out, "%s", emu_fault_name(kind));
        add_keys(row, out);
        emu_text_printf(out, "\n    %s\n    ", row->help);
        if (!about.applies)
            emu_text_printf(out, "skipped here: %s", about.skip ? about.skip : "");
        else if (about.quiet)
            emu_text_puts(out, "raises no fault");
        else
            emu_text_puts(out, "caught as ");
        if (about.applies && !about.quiet)
            add_classes(about.classes, out);
        emu_text_puts(out, "\n");
    }
}

static void put_keys(const struct emu_fault_row *row, struct emu_json *json)
{
    emu_json_key(json, "parameters");
    emu_json_array_begin(json);
    for (int key = 0; key < EMU_FAULT_KEY_COUNT; key++)
        if (row->keys >> key & 1)
            emu_json_string(json, emu_fault_key_name((enum emu_fault_key)key));
    emu_json_array_end(json);
}

static void put_classes(uint64_t classes, struct emu_json *json)
{
    emu_json_array_begin(json);
    for (int class_id = 0; class_id < EMU_CLASS_COUNT; class_id++)
        if (classes >> class_id & 1)
            emu_json_string(json, emu_class_name((enum emu_class)class_id));
    emu_json_array_end(json);
}

void emu_faults_list_json(const struct emu_plan *plan, struct emu_json *json)
{
    emu_json_report_begin(json, "faults");
    emu_json_key(json, "kinds");
    emu_json_array_begin(json);
    for (int k = 0; k < EMU_FAULT_KIND_COUNT; k++) {
        enum emu_fault_kind kind = (enum emu_fault_kind)k;
        struct about about = about_kind(plan, kind);
        emu_json_object_begin(json);
        emu_json_put_string(json, "kind", emu_fault_name(kind));
        put_keys(emu_fault_row(kind), json);
        emu_json_put_string(json, "help", emu_fault_row(kind)->help);
        emu_json_key(json, "classes");
        put_classes(about.applies ? about.classes : 0, json);
        emu_json_key(json, "skipped");
        emu_json_string(json, about.applies ? NULL : about.skip);
        emu_json_object_end(json);
    }
    emu_json_array_end(json);
    emu_json_object_end(json);
}
