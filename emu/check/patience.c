/* Findings about ranks that keep others waiting for too long; declared in liveness.h. */
#include "check/deadlock_report.h"
#include "check/finding_build.h"
#include "check/finding_values.h"
#include "check/inquest.h"
#include "check/liveness.h"

#include <inttypes.h>

/* " in its own code", " in their own code", " inside barrier over tp #5 (deposit)", or one by one:
 * ", rank 1 in its own code, rank 3 inside barrier over tp #5 (copyout)". */
static void say_where(struct emu_text *text, const struct emu_scene *scene,
                      const struct emu_late *late)
{
    uint32_t inside = 0;
    for (uint32_t i = 0; i < late->count; i++)
        inside += emu_board_inside_call(&scene->ranks[late->ranks[i]].board);
    if (inside == 0) {
        emu_text_printf(text, " in %s own code", late->count == 1 ? "its" : "their");
        return;
    }
    for (uint32_t i = 0; i < late->count; i++) {
        if (late->count > 1)
            emu_text_printf(text, ", rank %" PRIu32, late->ranks[i]);
        emu_text_puts(text, " ");
        emu_busy_text(text, &scene->ranks[late->ranks[i]].board);
    }
}

size_t emu_liveness_late(const struct emu_scene *scene, const struct emu_needs *needs,
                         const struct emu_late *late, struct emu_findings *findings)
{
    bool fault = late->budget_ns > 0;
    struct emu_finding *finding =
        emu_findings_add(findings, fault ? EMU_CLASS_STALL : EMU_CLASS_STRAGGLER);
    if (!finding)
        return EMU_NO_FINDING;
    struct emu_text text = {0};
    finding->note = !fault;
    if (late->count == 1)
        emu_rank_text(&text, scene->roster->mesh, late->ranks[0]);
    else
        emu_ranks_text(&text, late->ranks, late->count);
    emu_text_printf(&text, " %s kept others waiting for ", late->count == 1 ? "has" : "have");
    emu_delay_text(late->kept_ns, &text);
    say_where(&text, scene, late);
    if (fault) {
        emu_text_puts(&text, ", stall_after is ");
        emu_delay_text(late->budget_ns, &text);
    }
    emu_text_puts(&text, ": ");
    emu_need_text(&text, scene, needs, late->waiter);
    emu_finding_message(finding, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    emu_scene_members(scene, finding, NULL);
    for (uint32_t i = 0; i < late->count; i++) {
        emu_finding_culprit(finding, late->ranks[i]);
        emu_scene_explain(scene, late->ranks[i], finding);
    }
    finding->after_ns = (int64_t)late->kept_ns;
    return findings->count - 1;
}

size_t emu_liveness_stopped(const struct emu_scene *scene, uint64_t grace_ns,
                            struct emu_findings *findings)
{
    struct emu_finding *finding = emu_findings_add(findings, EMU_CLASS_STOPPED);
    if (!finding)
        return EMU_NO_FINDING;
    for (uint32_t rank = 0; rank < scene->roster->mesh->world; rank++) {
        if (scene->ranks[rank].fate != EMU_FATE_STOPPED)
            continue;
        emu_finding_culprit(finding, rank);
        emu_scene_explain(scene, rank, finding);
    }
    struct emu_text text = {0};
    emu_ranks_text(&text, finding->culprits, finding->culprit_count);
    emu_text_puts(&text, finding->culprit_count == 1
                             ? " is stopped by a signal and was not continued for "
                             : " are stopped by a signal and were not continued for ");
    emu_delay_text(grace_ns, &text);
    emu_text_puts(&text, "; every other rank has ended or waits for that");
    emu_finding_message(finding, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    emu_scene_members(scene, finding, NULL);
    finding->after_ns = (int64_t)(scene->now_ns - scene->event_ns);
    return findings->count - 1;
}
