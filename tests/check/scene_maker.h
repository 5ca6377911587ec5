/* How does a test describe what four ranks on dp=2,tp=2 were doing? */
#ifndef TESTS_CHECK_SCENE_MAKER_H
#define TESTS_CHECK_SCENE_MAKER_H

#include "check/inquest.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define WORLD 4
#define GROUP_WORLD 0 /* ids of the roster: world, dp (2 groups), tp (2 groups) */
#define GROUP_DP 1
#define GROUP_TP 3

struct scene_maker {
    struct emu_mesh mesh;
    struct emu_roster roster;
    struct emu_rank_seen ranks[WORLD];
    struct emu_recorded_call last[WORLD];
    struct emu_scene scene;
    struct emu_member_view members[WORLD];
};

static inline struct emu_call_view make_call(enum emu_kind kind, uint32_t group, uint64_t index)
{
    static const char *const names[] = {"world", "dp", "dp", "tp", "tp"};
    struct emu_call_view call = {.kind = kind, .group = group, .index = index, .count = 4};
    snprintf(call.group_name, sizeof call.group_name, "%s", group < 5 ? names[group] : "?");
    return call;
}

static inline void make_scene(struct scene_maker *maker)
{
    struct emu_mesh_error error;
    memset(maker, 0, sizeof *maker);
    cr_assert_eq(emu_mesh_parse("dp=2,tp=2", &maker->mesh, &error), EMU_OK);
    emu_roster_init(&maker->roster, &maker->mesh);
    maker->scene.roster = &maker->roster;
    maker->scene.ranks = maker->ranks;
    maker->scene.event_ns = 1000;
    maker->scene.now_ns = 3500;
    for (uint32_t rank = 0; rank < WORLD; rank++) {
        maker->ranks[rank].board.state = EMU_BOARD_RUNNING;
        maker->members[rank].rank = rank;
    }
}

/* The rank is in this call, and waits there. */
static inline void put_in_call(struct scene_maker *maker, uint32_t rank, struct emu_call_view call)
{
    struct emu_rank_seen *seen = &maker->ranks[rank];
    seen->board.state = EMU_BOARD_WAITING;
    seen->board.wait =
        call.kind == EMU_SEND || call.kind == EMU_RECV ? EMU_WAIT_MESSAGE : EMU_WAIT_SLOT;
    seen->board.call = call;
    seen->board.calls = 1;
    maker->last[rank] = (struct emu_recorded_call){.call = call, .started_ns = 500};
    seen->calls = &maker->last[rank];
    seen->call_count = 1;
}

/* It got this answer, and is back in its own code. */
static inline void answer_call(struct scene_maker *maker, uint32_t rank, enum emu_status status)
{
    maker->ranks[rank].board.state = EMU_BOARD_RUNNING;
    maker->last[rank].ended_ns = 900;
    maker->last[rank].status = status;
}

static inline void set_fate(struct scene_maker *maker, uint32_t rank, enum emu_fate fate, int code)
{
    maker->ranks[rank].fate = fate;
    maker->ranks[rank].code = code;
    if (fate == EMU_FATE_EXITED && code == 0)
        maker->ranks[rank].board.state = EMU_BOARD_ENDED;
}

static inline void assert_culprits(const struct emu_finding *finding, const char *expected)
{
    char text[64] = "";
    for (size_t i = 0; i < finding->culprit_count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", i ? "," : "",
                 (unsigned)finding->culprits[i]);
    cr_assert_str_eq(text, expected);
    cr_assert_eq(finding->undecided, finding->culprit_count == 0);
}

static inline void assert_says(const char *text, const char *part)
{
    cr_assert(text && strstr(text, part), "\"%s\" does not say \"%s\"", text ? text : "(null)",
              part);
}

static inline bool has_consequence(const struct emu_finding *finding, const char *part)
{
    for (size_t i = 0; i < finding->consequence_count; i++)
        if (strstr(finding->consequences[i], part))
            return true;
    return false;
}

#endif
