#include "seg/note.h"

#include <stdio.h>
#include <string.h>

static void keep_start(char *to, size_t room, const char *from)
{
    size_t length = strnlen(from, room - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

static void keep_end(char *to, size_t room, const char *from)
{
    size_t length = strlen(from);
    keep_start(to, room, length < room ? from : from + length - (room - 1));
}

static bool is_message(enum emu_kind kind)
{
    return kind == EMU_SEND || kind == EMU_RECV;
}

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

void emu_note_of(const struct emu_call *call, uint64_t index, struct emu_note *note)
{
    memset(note, 0, sizeof *note);
    note->index = index;
    note->kind = (uint8_t)call->kind;
    note->group = is_message(call->kind) ? EMU_GROUP_SELF : call->group;
    note_choices(call, note);
    if (call->kind != EMU_BARRIER) {
        note->count = call->count;
        note->dtype = (uint8_t)call->dtype;
    }
    if (call->kind == EMU_ALL_GATHER || call->kind == EMU_GATHER)
        note->layout = (uint8_t)call->layout;
    if (is_message(call->kind)) {
        note->peer = call->peer;
        note->tag = call->tag;
    } else {
        note->peer = call->ledger ? call->ledger_count : 0;
    }
    note->line = call->line;
    if (call->label)
        keep_start(note->label, sizeof note->label, call->label);
    if (call->file)
        keep_end(note->file, sizeof note->file, call->file);
}

void emu_note_view(const struct emu_note *note, const struct emu_roster *roster,
                   struct emu_call_view *view)
{
    memset(view, 0, sizeof *view);
    view->kind = (enum emu_kind)note->kind;
    view->group = note->group;
    view->index = note->index;
    view->count = note->count;
    view->dtype = (enum emu_dtype)note->dtype;
    view->op = (enum emu_op)note->op;
    view->root = note->root;
    view->peer = note->peer;
    view->tag = note->tag;
    view->line = note->line;
    keep_start(view->label, sizeof view->label, note->label);
    keep_start(view->file, sizeof view->file, note->file);
    if (roster && note->group < roster->group_count) {
        uint32_t family = emu_roster_family_of(roster, note->group);
        keep_start(view->group_name, sizeof view->group_name, roster->families[family].name);
    }
}
