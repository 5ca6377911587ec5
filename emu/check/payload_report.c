/* A member's bytes did not arrive as they were sent. */
#include "check/call_words.h"
#include "check/finding_build.h"
#include "check/inquest.h"
#include "check/protocol.h"

#include <assert.h>
#include <inttypes.h>

size_t emu_protocol_corrupt(const struct emu_scene *scene, const struct emu_incident *incident,
                            struct emu_findings *findings)
{
    assert(incident->group < scene->roster->group_count);
    struct emu_finding *finding = emu_findings_add(findings, EMU_CLASS_CORRUPT_PAYLOAD);
    if (!finding)
        return EMU_NO_FINDING;
    struct emu_text text = {0};
    emu_call_text(&text, &incident->call);
    emu_text_puts(&text, ": what ");
    emu_rank_text(&text, scene->roster->mesh, incident->rank);
    emu_text_printf(
        &text,
        " sent is not what rank %" PRIu32
        " read: the checksum that the sender made before it gave the bytes away does not "
        "fit (%.*s)",
        incident->caller, (int)sizeof incident->text, incident->text);
    emu_finding_message(finding, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    emu_finding_group(finding, scene->roster, incident->group);
    emu_finding_index(finding, incident->index);
    emu_scene_members(scene, finding, &incident->call);
    emu_finding_culprit(finding, incident->rank);
    emu_scene_explain(scene, incident->rank, finding);
    finding->after_ns = (int64_t)(scene->now_ns - incident->enabled_ns);
    return findings->count - 1;
}
