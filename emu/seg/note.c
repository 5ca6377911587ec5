#include "seg/note.h"

#include "base/hot.h"
#include "seg/kinds.h"
#include "seg/sites.h"

#include <string.h>

/* Which of root and op does the kind use? */
static void note_choices(const struct emu_call *call, struct emu_note *note)
{
    switch (call->kind) {
#define NOTE_CASE(name, text, rooted, reduces)                                                     \
    case name:                                                                                     \
        note->root = (rooted) ? call->root : 0;                                                    \
        note->op = (reduces) ? (uint8_t)call->op : 0;                                              \
        break;
        EMU_KIND_LIST(NOTE_CASE)
#undef NOTE_CASE
    case EMU_KIND_COUNT:
        break;
    }
}

EMU_HOT void emu_note_of(const struct emu_call *call, uint64_t index, struct emu_note *note)
{
    bool message = emu_kind_is_message(call->kind), barrier = call->kind == EMU_BARRIER;
    bool gathers = call->kind == EMU_ALL_GATHER || call->kind == EMU_GATHER;
    uint32_t coefficients = call->ledger ? call->ledger_count : 0;
    struct emu_note made = {
        .index = index,
        .count = barrier ? 0 : call->count,
        .kind = (uint8_t)call->kind,
        .dtype = barrier ? 0 : (uint8_t)call->dtype,
        .layout = gathers ? (uint8_t)call->layout : 0,
        .group = message ? EMU_GROUP_SELF : call->group,
        .peer = message ? call->peer : coefficients,
        .tag = message ? call->tag : 0,
    };
    note_choices(call, &made);
    *note = made;
}

static void view_of(const struct emu_segment *segment, const struct emu_note *note,
                    struct emu_call_view *view)
{
    const struct emu_roster *roster = segment->roster;
    *view = (struct emu_call_view){
        .kind = (enum emu_kind)note->kind,
        .group = note->group,
        .index = note->index,
        .count = note->count,
        .dtype = (enum emu_dtype)note->dtype,
        .op = (enum emu_op)note->op,
        .root = note->root,
        .peer = note->peer,
        .tag = note->tag,
    };
    if (note->group < roster->group_count) {
        const char *name = roster->families[emu_roster_family_of(roster, note->group)].name;
        memcpy(view->group_name, name, strnlen(name, sizeof view->group_name - 1));
    }
}

static void show_site(const struct emu_site_text *text, struct emu_call_view *view)
{
    _Static_assert(sizeof text->label == sizeof view->label, "kept whole");
    _Static_assert(sizeof text->file == sizeof view->file, "kept whole");
    memcpy(view->label, text->label, sizeof view->label);
    memcpy(view->file, text->file, sizeof view->file);
    view->line = text->line;
}

void emu_note_view(const struct emu_segment *segment, uint32_t rank, const struct emu_note *note,
                   struct emu_call_view *view)
{
    struct emu_site_text text;
    view_of(segment, note, view);
    if (emu_site_read(segment, rank, note->site, &text))
        show_site(&text, view);
}

void emu_call_view_of(const struct emu_segment *segment, const struct emu_call *call,
                      struct emu_call_view *view)
{
    struct emu_note note;
    struct emu_site_text text;
    emu_note_of(call, 0, &note);
    view_of(segment, &note, view);
    emu_site_text_of(call, &text);
    show_site(&text, view);
}
