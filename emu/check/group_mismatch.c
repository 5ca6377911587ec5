#include "check/group_mismatch.h"

#include "check/call_words.h"
#include "check/finding_build.h"

#include <inttypes.h>

/* Calls that a rank has begun on the axes of this family. */
static bool calls_on(const struct emu_scene *scene, uint32_t family, uint32_t rank, uint64_t *count)
{
    uint32_t group;
    return emu_roster_group_of(scene->roster, family, rank, &group) == EMU_OK &&
           emu_scene_group_calls(scene, rank, group, count);
}

/* Has the rank begun more (or fewer) calls there than most other ranks of its stage? */
static bool is_odd(const struct emu_scene *scene, uint32_t rank, uint32_t group, bool more)
{
    const struct emu_mesh *mesh = scene->roster->mesh;
    uint32_t family = emu_roster_family_of(scene->roster, group);
    uint32_t stage = emu_mesh_coord(mesh, rank, "pp");
    uint32_t others = 0, odd = 0;
    uint64_t own, count;
    if (scene->roster->families[family].members || !calls_on(scene, family, rank, &own))
        return false;
    for (uint32_t other = 0; other < mesh->world; other++) {
        if (other == rank || emu_mesh_coord(mesh, other, "pp") != stage)
            continue;
        others++;
        if (calls_on(scene, family, other, &count))
            odd += more ? own > count : own < count;
    }
    return 2 * odd > others;
}

static bool same_but_for_group(const struct emu_call_view *a, const struct emu_call_view *b)
{
    struct emu_call_view moved = *b;
    moved.group = a->group;
    return a->group != b->group && !emu_kind_is_message(a->kind) && emu_call_views_agree(a, &moved);
}

bool emu_group_mismatch_fits(const struct emu_scene *scene, const struct emu_wrong_group *wrong)
{
    uint32_t groups = scene->roster->group_count;
    if (wrong->made.group >= groups || wrong->wanted.group >= groups ||
        !same_but_for_group(&wrong->made, &wrong->wanted))
        return false;
    return is_odd(scene, wrong->rank, wrong->made.group, true) &&
           is_odd(scene, wrong->rank, wrong->wanted.group, false);
}

bool emu_group_mismatch_find(const struct emu_scene *scene, uint32_t rank,
                             const struct emu_call_view *made, struct emu_wrong_group *wrong)
{
    for (uint32_t other = 0; other < scene->roster->mesh->world; other++) {
        const struct emu_board_view *board = &scene->ranks[other].board;
        uint64_t begun;
        if (other == rank || !emu_board_in_call(board) || emu_kind_is_message(board->call.kind) ||
            board->call.group >= scene->roster->group_count)
            continue;
        struct emu_group group = emu_roster_group(scene->roster, board->call.group);
        if (!emu_group_contains(&group, rank) ||
            !emu_scene_group_calls(scene, rank, board->call.group, &begun) ||
            begun > board->call.index)
            continue;
        *wrong = (struct emu_wrong_group){rank, other, *made, board->call};
        if (emu_group_mismatch_fits(scene, wrong))
            return true;
    }
    return false;
}

static void list_members(const struct emu_scene *scene, const struct emu_wrong_group *wrong,
                         struct emu_finding *finding)
{
    emu_finding_group(finding, scene->roster, wrong->wanted.group);
    emu_finding_index(finding, wrong->wanted.index);
    for (size_t i = 0; i < finding->group_size; i++) {
        uint32_t rank = finding->group[i];
        if (rank == wrong->rank)
            emu_finding_member(finding, rank, emu_scene_state(scene, rank, &wrong->wanted).text,
                               &wrong->made);
        else
            emu_finding_member(finding, rank, emu_scene_state(scene, rank, &wrong->wanted).text,
                               rank == wrong->waiter ? &wrong->wanted
                                                     : emu_scene_call(scene, rank));
    }
}

void emu_group_mismatch_say(const struct emu_scene *scene, const struct emu_wrong_group *wrong,
                            struct emu_finding *finding)
{
    struct emu_finding said = {.class_id = EMU_CLASS_GROUP_MISMATCH,
                               .after_ns = finding->after_ns,
                               .consequences = finding->consequences,
                               .consequence_count = finding->consequence_count};
    finding->consequences = NULL;
    finding->consequence_count = 0;
    struct emu_text text = {0};
    emu_rank_text(&text, scene->roster->mesh, wrong->rank);
    emu_text_puts(&text, " called ");
    emu_call_text(&text, &wrong->made);
    emu_text_printf(&text, " where rank %" PRIu32 " waits for it in ", wrong->waiter);
    emu_call_text(&text, &wrong->wanted);
    emu_text_puts(&text, ": the right call on the wrong axis; no data was written");
    emu_finding_message(&said, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    emu_finding_culprit(&said, wrong->rank);
    emu_finding_set_text(&said.expected, "over %s", wrong->wanted.group_name);
    emu_finding_set_text(&said.got, "over %s", wrong->made.group_name);
    list_members(scene, wrong, &said);
    emu_scene_explain(scene, wrong->rank, &said);
    emu_finding_finish(finding);
    *finding = said;
}
