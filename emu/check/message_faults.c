/* Findings about messages between two ranks; declared in protocol.h. */
#include "check/finding_build.h"
#include "check/protocol.h"

#include <inttypes.h>

static void add_member(const struct emu_scene *scene, uint32_t rank,
                       const struct emu_call_view *call, struct emu_finding *finding)
{
    emu_finding_member(finding, rank, emu_scene_state(scene, rank, NULL).text, call);
}

size_t emu_protocol_message(const struct emu_scene *scene, uint32_t waiting,
                            const struct emu_call_view *call, struct emu_findings *findings)
{
    struct emu_finding *finding = emu_findings_add(findings, EMU_CLASS_MISSING_PARTICIPANT);
    if (!finding)
        return EMU_NO_FINDING;
    struct emu_text text = {0};
    emu_rank_text(&text, scene->roster->mesh, call->peer);
    emu_text_puts(&text, " ended while ");
    emu_rank_text(&text, scene->roster->mesh, waiting);
    emu_text_puts(&text, " waits for it in ");
    emu_call_text(&text, call);
    emu_text_puts(&text, "; no data was written");
    emu_finding_message(finding, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    emu_finding_culprit(finding, call->peer);
    emu_finding_index(finding, call->index);
    add_member(scene, waiting, call, finding);
    add_member(scene, call->peer, emu_scene_call(scene, call->peer), finding);
    emu_scene_explain(scene, call->peer, finding);
    finding->after_ns = (int64_t)(scene->now_ns - scene->event_ns);
    return findings->count - 1;
}

size_t emu_protocol_unfit(const struct emu_scene *scene, const struct emu_incident *incident,
                          struct emu_findings *findings)
{
    bool longer = incident->sent.dtype == incident->call.dtype;
    struct emu_finding *finding =
        emu_findings_add(findings, longer ? EMU_CLASS_TRUNCATION : EMU_CLASS_DTYPE_MISMATCH);
    if (!finding)
        return EMU_NO_FINDING;
    struct emu_text text = {0};
    emu_rank_text(&text, scene->roster->mesh, incident->rank);
    emu_text_puts(&text, " cannot take the message that met ");
    emu_call_text(&text, &incident->call);
    emu_text_printf(&text, ": %.*s; no data was written (sender and receiver: undecided)",
                    (int)sizeof incident->text, incident->text);
    emu_finding_message(finding, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    finding->undecided = true;
    emu_finding_index(finding, incident->call.index);
    add_member(scene, incident->rank, &incident->call, finding);
    if (incident->call.peer < scene->roster->mesh->world)
        add_member(scene, incident->call.peer, &incident->sent, finding);
    emu_scene_explain(scene, incident->rank, finding);
    finding->after_ns = (int64_t)(scene->now_ns - incident->enabled_ns);
    return findings->count - 1;
}

const struct emu_posted *emu_protocol_other_tag(const struct emu_scene *scene, uint32_t rank,
                                                const struct emu_call_view *recv, bool any_size)
{
    const struct emu_posted *first = NULL;
    for (size_t i = 0; i < scene->posted_count; i++) {
        const struct emu_posted *sent = &scene->posted[i];
        if (sent->from != recv->peer || sent->to != rank || sent->call.tag == recv->tag ||
            (first && first->sequence < sent->sequence))
            continue;
        if (any_size || (sent->call.count == recv->count && sent->call.dtype == recv->dtype))
            first = sent;
    }
    return first;
}

/* The two ends of a message: undecided between them. */
static void name_ends(const struct emu_scene *scene, const struct emu_posted *sent,
                      struct emu_finding *finding)
{
    finding->undecided = true;
    finding->after_ns = (int64_t)(scene->now_ns - scene->event_ns);
    emu_scene_explain(scene, sent->from, finding);
    if (sent->to != sent->from)
        emu_scene_explain(scene, sent->to, finding);
}

size_t emu_protocol_tags(const struct emu_scene *scene, uint32_t rank,
                         const struct emu_call_view *recv, const struct emu_posted *sent,
                         struct emu_findings *findings)
{
    struct emu_finding *finding = emu_findings_add(findings, EMU_CLASS_TAG_MISMATCH);
    if (!finding)
        return EMU_NO_FINDING;
    struct emu_text text = {0};
    emu_rank_text(&text, scene->roster->mesh, rank);
    emu_text_puts(&text, " waits in ");
    emu_call_text(&text, recv);
    emu_text_puts(&text, ", but what ");
    emu_rank_text(&text, scene->roster->mesh, sent->from);
    emu_text_puts(&text, " has sent is ");
    emu_call_text(&text, &sent->call);
    emu_text_puts(&text, "; no data was written (sender and receiver: undecided)");
    emu_finding_message(finding, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    emu_finding_index(finding, recv->index);
    emu_finding_set_text(&finding->expected, "tag %d", (int)recv->tag);
    emu_finding_set_text(&finding->got, "tag %d", (int)sent->call.tag);
    name_ends(scene, sent, finding);
    return findings->count - 1;
}

size_t emu_protocol_lost(const struct emu_scene *scene, const struct emu_posted *sent,
                         uint64_t count, struct emu_findings *findings)
{
    struct emu_finding *finding = emu_findings_add(findings, EMU_CLASS_LOST_MESSAGE);
    if (!finding)
        return EMU_NO_FINDING;
    struct emu_text text = {0};
    emu_rank_text(&text, scene->roster->mesh, sent->to);
    emu_text_printf(&text, " ended and never received %s of ",
                    count == 1 ? "a message" : "messages");
    emu_rank_text(&text, scene->roster->mesh, sent->from);
    emu_text_puts(&text, ": ");
    emu_call_text(&text, &sent->call);
    if (count > 1)
        emu_text_printf(&text, " and %" PRIu64 " more", count - 1);
    emu_text_puts(&text, " (sender and receiver: undecided)");
    emu_finding_message(finding, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    emu_finding_index(finding, sent->call.index);
    add_member(scene, sent->from, &sent->call, finding);
    if (sent->to != sent->from)
        add_member(scene, sent->to, emu_scene_call(scene, sent->to), finding);
    name_ends(scene, sent, finding);
    return findings->count - 1;
}
