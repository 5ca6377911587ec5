#include "report/finding_json.h"

#include "check/call_words.h"
#include "report/mesh_parts_json.h"

#include <string.h>

static void put_ranks(struct emu_json *json, const char *key, const uint32_t *ranks, size_t count)
{
    emu_json_key(json, key);
    emu_json_array_begin(json);
    for (size_t i = 0; i < count; i++)
        emu_json_u64(json, ranks[i]);
    emu_json_array_end(json);
}

static void put_strings(struct emu_json *json, const char *key, char *const *strings, size_t count)
{
    emu_json_key(json, key);
    emu_json_array_begin(json);
    for (size_t i = 0; i < count; i++)
        emu_json_string(json, strings[i]);
    emu_json_array_end(json);
}

/* An array of the record that may hold no NUL. */
static void put_field(struct emu_json *json, const char *key, const char *field, size_t size)
{
    char text[128];
    size_t used = strnlen(field, size < sizeof text ? size : sizeof text - 1);
    memcpy(text, field, used);
    text[used] = '\0';
    if (used > 0)
        emu_json_put_string(json, key, text);
}

/* The members of a group by id, or null where the id is none. */
static void put_group_of(struct emu_json *json, const struct emu_roster *roster, uint32_t group)
{
    emu_json_key(json, "group");
    if (group >= roster->group_count) {
        emu_json_null(json);
        return;
    }
    struct emu_group members = emu_roster_group(roster, group);
    emu_json_array_begin(json);
    for (uint32_t i = 0; i < members.size && !json->failed; i++)
        emu_json_u64(json, emu_group_member(&members, i));
    emu_json_array_end(json);
}

void emu_call_to_json(const struct emu_call_view *call, struct emu_json *json)
{
    emu_json_put_string(json, "kind", emu_kind_name(call->kind));
    if (emu_kind_is_message(call->kind)) {
        emu_json_put_u64(json, "peer", call->peer);
        emu_json_put_i64(json, "tag", call->tag);
    } else {
        put_field(json, "group", call->group_name, sizeof call->group_name);
    }
    emu_json_put_u64(json, "index", call->index);
    if (call->kind != EMU_BARRIER) {
        emu_json_put_u64(json, "count", call->count);
        emu_json_put_string(json, "dtype", emu_dtype_name(call->dtype));
    }
    if (emu_kind_reduces(call->kind))
        emu_json_put_string(json, "op", emu_op_name(call->op));
    if (emu_kind_has_root(call->kind))
        emu_json_put_u64(json, "root", call->root);
    put_field(json, "label", call->label, sizeof call->label);
    put_field(json, "file", call->file, sizeof call->file);
    if (call->file[0])
        emu_json_put_u64(json, "line", call->line);
}

static void put_call(struct emu_json *json, const struct emu_call_view *call)
{
    emu_json_object_begin(json);
    emu_call_to_json(call, json);
    emu_json_object_end(json);
}

static void put_members(struct emu_json *json, const struct emu_finding *finding,
                        const struct emu_mesh *mesh)
{
    emu_json_key(json, "members");
    emu_json_array_begin(json);
    for (size_t i = 0; i < finding->member_count && !json->failed; i++) {
        const struct emu_member_view *member = &finding->members[i];
        emu_json_object_begin(json);
        emu_json_put_u64(json, "rank", member->rank);
        emu_json_key(json, "coordinate");
        emu_coordinate_to_json(mesh, member->rank, json);
        put_field(json, "state", member->state, sizeof member->state);
        emu_json_key(json, "call");
        if (member->has_call)
            put_call(json, &member->call);
        else
            emu_json_null(json);
        emu_json_object_end(json);
    }
    emu_json_array_end(json);
}

static void put_waits(struct emu_json *json, const struct emu_finding *finding,
                      const struct emu_roster *roster)
{
    emu_json_key(json, "waits");
    emu_json_array_begin(json);
    for (size_t i = 0; i < finding->wait_count && !json->failed; i++) {
        const struct emu_wait_view *wait = &finding->waits[i];
        emu_json_object_begin(json);
        emu_json_put_u64(json, "rank", wait->rank);
        put_ranks(json, "for", wait->targets, wait->target_count);
        put_group_of(json, roster, emu_kind_is_message(wait->kind) ? EMU_GROUP_SELF : wait->group);
        emu_json_put_u64(json, "index", wait->index);
        emu_json_put_string(json, "kind", emu_kind_name(wait->kind));
        emu_json_object_end(json);
    }
    emu_json_array_end(json);
}

static void put_place(struct emu_json *json, const struct emu_finding *finding)
{
    put_strings(json, "axes", finding->axes, finding->axis_count);
    put_ranks(json, "group", finding->group, finding->group_size);
    emu_json_put_string(json, "group_name", finding->group_name);
    emu_json_key(json, "index");
    if (finding->has_index)
        emu_json_u64(json, finding->index);
    else
        emu_json_null(json);
}

/* Left out where the finding speaks of no coefficients. */
static void put_coefficients(struct emu_json *json, const struct emu_finding *finding)
{
    if (finding->coefficient_count == 0)
        return;
    emu_json_key(json, "coefficients");
    emu_json_object_begin(json);
    for (size_t i = 0; i < finding->coefficient_count; i++)
        emu_json_put_string(json, finding->coefficients[i].source, finding->coefficients[i].value);
    emu_json_object_end(json);
}

static void put_values(struct emu_json *json, const struct emu_finding *finding)
{
    emu_json_put_string(json, "parameter", finding->parameter);
    put_strings(json, "parameters", finding->parameters, finding->parameter_count);
    put_strings(json, "consequences", finding->consequences, finding->consequence_count);
    emu_json_put_string(json, "expected", finding->expected);
    emu_json_put_string(json, "got", finding->got);
    emu_json_put_string(json, "ratio", finding->ratio);
    emu_json_put_string(json, "explanation", finding->explanation);
    put_coefficients(json, finding);
}

void emu_finding_to_json(const struct emu_finding *finding, const struct emu_roster *roster,
                         struct emu_json *json)
{
    emu_json_object_begin(json);
    emu_json_put_string(json, "class", emu_class_name(finding->class_id));
    emu_json_put_string(json, "severity", finding->note ? "note" : "fault");
    emu_json_put_string(json, "message",
                        finding->message ? finding->message : "no memory was left to say more");
    put_place(json, finding);
    put_ranks(json, "culprits", finding->culprits, finding->culprit_count);
    emu_json_put_bool(json, "undecided", finding->undecided);
    put_members(json, finding, roster->mesh);
    put_waits(json, finding, roster);
    put_values(json, finding);
    emu_json_key(json, "after_ns");
    if (finding->after_ns >= 0)
        emu_json_i64(json, finding->after_ns);
    else
        emu_json_null(json);
    emu_json_put_string(json, "replay", finding->replay);
    emu_json_object_end(json);
}

void emu_findings_to_json(const struct emu_findings *findings, const struct emu_roster *roster,
                          struct emu_json *json)
{
    emu_json_array_begin(json);
    for (size_t i = 0; i < findings->count && !json->failed; i++)
        emu_finding_to_json(&findings->items[i], roster, json);
    emu_json_array_end(json);
}
