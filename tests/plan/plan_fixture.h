/* A plan from a config text, for tests: parse, plan, and give both back. */
#ifndef TESTS_PLAN_FIXTURE_H
#define TESTS_PLAN_FIXTURE_H

#include "plan/plan.h"

#include <criterion/criterion.h>
#include <string.h>

struct plan_fixture {
    struct emu_config *config;
    struct emu_plan *plan;
    struct emu_text diagnostics;
};

/* Status of the planning; asserts that the text itself is a valid config. */
static inline enum emu_status plan_open(struct plan_fixture *fixture, const char *text)
{
    *fixture = (struct plan_fixture){0};
    struct emu_config_params params = {
        .name = "test.yaml", .directory = "", .text = text, .size = strlen(text)};
    enum emu_status status = emu_config_read(&params, &fixture->diagnostics, &fixture->config);
    cr_assert(status == EMU_OK, "%s", emu_text_get(&fixture->diagnostics));
    return emu_plan_create(fixture->config, &fixture->diagnostics, &fixture->plan);
}

static inline void plan_close(struct plan_fixture *fixture)
{
    emu_plan_destroy(fixture->plan);
    emu_config_destroy(fixture->config);
    emu_text_finish(&fixture->diagnostics);
}

#endif
