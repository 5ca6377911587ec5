#include "run/fault_load.h"

#include "config/source.h"
#include "fault/expectation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loading {
    const struct emu_roster *roster;
    const struct emu_plan *plan;     /* NULL: none */
    const struct emu_config *config; /* whose faults are read too; NULL: none are */
    const struct emu_fault_specs *specs;
    struct emu_text *diagnostics;
    struct emu_fault_load *load;
};

static bool parse(const struct loading *l, const char *spec, struct emu_fault_error *error)
{
    struct emu_fault_set *set = &l->load->set;
    if (emu_fault_parse(spec, l->roster, l->plan, &l->load->faults[set->count], error) != EMU_OK)
        return false;
    set->count++;
    return true;
}

static bool parse_config(const struct loading *l)
{
    const struct emu_config *config = l->config;
    bool good = true;
    for (size_t i = 0; i < config->fault_count; i++) {
        struct emu_fault_error error;
        if (parse(l, config->faults[i], &error))
            continue;
        char key[32];
        snprintf(key, sizeof key, "faults[%zu]", i);
        emu_config_complain(config, l->diagnostics, key, "%s (column %zu of the fault)",
                            error.message, error.offset + 1);
        good = false;
    }
    return good;
}

static bool parse_given(const struct loading *l)
{
    bool good = true;
    for (size_t i = 0; i < l->specs->count; i++) {
        struct emu_fault_error error;
        if (parse(l, l->specs->items[i], &error))
            continue;
        emu_text_printf(l->diagnostics, "%s %zu: column %zu: error: ", l->specs->origin, i + 1,
                        error.offset + 1);
        emu_source_add_clean(l->diagnostics, error.message, strlen(error.message));
        emu_text_putc(l->diagnostics, '\n');
        good = false;
    }
    return good;
}

static enum emu_status share_counters(const struct loading *l)
{
    struct emu_fault_load *load = l->load;
    struct emu_reason reason;
    uint64_t bytes = load->set.count * (uint64_t)load->set.world * sizeof *load->set.fired;
    if (bytes == 0)
        return EMU_OK;
    enum emu_status status =
        emu_map_create(bytes, EMU_MAP_BEST, "use fewer faults or ranks", &load->counters, &reason);
    if (status != EMU_OK)
        emu_text_printf(l->diagnostics, "meshemu: %s\n", reason.text);
    load->set.fired = load->counters.base;
    return status;
}

static enum emu_status read_all(const struct loading *l)
{
    size_t in_config = l->config ? l->config->fault_count : 0;
    if (in_config + l->specs->count > EMU_FAULTS_MAX) {
        emu_text_printf(l->diagnostics, "meshemu: %zu faults are too many: at most %d in one run\n",
                        in_config + l->specs->count, EMU_FAULTS_MAX);
        return EMU_EPARSE;
    }
    l->load->faults = calloc(in_config + l->specs->count + 1, sizeof *l->load->faults);
    if (!l->load->faults)
        return EMU_ENOMEM;
    bool good = !l->config || parse_config(l);
    if (!parse_given(l) || !good)
        return l->diagnostics->failed ? EMU_ENOMEM : EMU_EPARSE;
    l->load->set.faults = l->load->faults;
    return share_counters(l);
}

static enum emu_status load(const struct loading *l)
{
    *l->load = (struct emu_fault_load){.set.world = l->roster->mesh->world, .plan = l->plan};
    enum emu_status status = read_all(l);
    if (status != EMU_OK)
        emu_fault_load_finish(l->load);
    return status;
}

enum emu_status emu_fault_load_plan(const struct emu_plan *plan,
                                    const struct emu_fault_specs *specs,
                                    struct emu_text *diagnostics, struct emu_fault_load *out)
{
    return load(&(struct loading){&plan->roster, plan, plan->config, specs, diagnostics, out});
}

enum emu_status emu_fault_load_one(const struct emu_plan *plan, const char *spec,
                                   struct emu_text *diagnostics, struct emu_fault_load *out)
{
    struct emu_fault_specs specs = {&spec, 1, "fault"};
    return load(&(struct loading){&plan->roster, plan, NULL, &specs, diagnostics, out});
}

enum emu_status emu_fault_load_roster(const struct emu_roster *roster,
                                      const struct emu_fault_specs *specs,
                                      struct emu_text *diagnostics, struct emu_fault_load *out)
{
    return load(&(struct loading){roster, NULL, NULL, specs, diagnostics, out});
}

enum emu_status emu_fault_load_text(const struct emu_roster *roster, const char *text,
                                    const char *origin, struct emu_text *diagnostics,
                                    struct emu_fault_load *out)
{
    const char *items[EMU_FAULTS_MAX + 1]; /* one too many is refused below */
    struct emu_fault_specs specs = {items, 0, origin};
    char *rest = NULL, *copy = strdup(text ? text : "");
    if (!copy)
        return EMU_ENOMEM;
    for (char *entry = strtok_r(copy, ";", &rest); entry && specs.count <= EMU_FAULTS_MAX;
         entry = strtok_r(NULL, ";", &rest))
        if (entry[strspn(entry, " \t\n")] != '\0')
            items[specs.count++] = entry;
    enum emu_status status = emu_fault_load_roster(roster, &specs, diagnostics, out);
    free(copy);
    return status;
}

void emu_fault_load_finish(struct emu_fault_load *load)
{
    free(load->faults);
    free(load->told);
    emu_map_destroy(&load->counters);
    *load = (struct emu_fault_load){0};
}

uint32_t emu_fault_load_fired(const struct emu_fault_load *load, size_t fault)
{
    uint32_t most = 0;
    for (uint32_t rank = 0; rank < load->set.world; rank++) {
        uint32_t fired = emu_fault_set_fired(&load->set, fault, rank);
        most = fired > most ? fired : most;
    }
    return most;
}

static const char *skip_of(const struct emu_fault_load *load, size_t fault)
{
    struct emu_fault_expectation expected;
    if (!load->plan)
        return NULL;
    emu_fault_expect(&load->faults[fault], load->plan, &expected);
    return expected.skip;
}

enum emu_status emu_fault_load_tell(struct emu_fault_load *load)
{
    load->told = calloc(load->set.count + 1, sizeof *load->told);
    for (size_t i = 0; load->told && i < load->set.count; i++)
        load->told[i] = (struct emu_fault_told){load->faults[i].spec, emu_fault_load_fired(load, i),
                                                skip_of(load, i)};
    return load->told ? EMU_OK : EMU_ENOMEM;
}

size_t emu_fault_load_idle(const struct emu_fault_load *load)
{
    size_t idle = 0;
    for (size_t i = 0; load->told && i < load->set.count; i++)
        idle += load->told[i].fired == 0 || load->told[i].skip;
    return idle;
}

void emu_fault_load_name_idle(const struct emu_fault_load *load, bool found, const char *prefix,
                              struct emu_text *out)
{
    for (size_t i = 0; load->told && i < load->set.count; i++) {
        const struct emu_fault_told *told = &load->told[i];
        const char *skip = told->skip ? told->skip : "nothing met its address";
        if (told->fired == 0)
            emu_text_printf(out, "%sthe fault '%s' did not act: %s\n", prefix, told->spec, skip);
        else if (told->skip && !found)
            emu_text_printf(out, "%sthe fault '%s' changes nothing here: %s\n", prefix, told->spec,
                            skip);
    }
}
