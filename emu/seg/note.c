#include "seg/note.h"

#include "base/hot.h"
#include "seg/kinds.h"
#include "seg/sites.h"

#include <string.h>

/* Two numbers as they lie side by side in memory. */
static uint64_t beside(uint32_t first, uint32_t second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return first | (uint64_t)second << 32;
#else
    return (uint64_t)first << 32 | second;
#endif
}

/* Four of one byte each, likewise. */
static uint32_t bytes_beside(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (a & 0xff) | (b & 0xff) << 8 | (c & 0xff) << 16 | d << 24;
#else
    return a << 24 | (b & 0xff) << 16 | (c & 0xff) << 8 | (d & 0xff);
#endif
}

static void put_word(struct emu_note *note, size_t at, uint64_t word)
{
    memcpy((unsigned char *)note + at * sizeof word, &word, sizeof word);
}

/* Whole words: who copies a note at once need not wait until bytes of it have left for the cache.
 */
EMU_HOT void emu_note_of(const struct emu_call *call, uint64_t index, struct emu_note *note)
{
    enum emu_kind kind = call->kind;
    bool message = emu_kind_is_message(kind), barrier = kind == EMU_BARRIER;
    bool gathers = kind == EMU_ALL_GATHER || kind == EMU_GATHER;
    uint32_t coefficients = call->ledger ? call->ledger_count : 0;
    uint32_t choices = bytes_beside((uint32_t)kind, barrier ? 0 : (uint32_t)call->dtype,
                                    emu_kind_reduces(kind) ? (uint32_t)call->op : 0,
                                    gathers ? (uint32_t)call->layout : 0);
    put_word(note, 0, index);
    put_word(note, 1, barrier ? 0 : call->count);
    put_word(note, 2, beside(choices, message ? EMU_GROUP_SELF : call->group));
    put_word(note, 3,
             beside(emu_kind_has_root(kind) ? call->root : 0, message ? call->peer : coefficients));
    put_word(note, 4, beside(message ? (uint32_t)call->tag : 0, 0));
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
