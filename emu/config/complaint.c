#include "config/complaint.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *format_into(struct emu_store *store, const char *format, va_list arguments)
{
    struct emu_text raw = {0};
    struct emu_text clean = {0};
    emu_text_vprintf(&raw, format, arguments);
    emu_source_add_clean(&clean, emu_text_get(&raw), raw.size);
    char *kept = emu_store_copy(store, emu_text_get(&clean), clean.size);
    if (raw.failed || clean.failed)
        store->failed = true;
    emu_text_finish(&raw);
    emu_text_finish(&clean);
    return kept;
}

bool emu_complaints_room(const struct emu_complaints *complaints)
{
    return complaints->total < EMU_COMPLAINTS_SHOWN;
}

void emu_complaints_add(struct emu_complaints *complaints, struct emu_spot spot, const char *format,
                        ...)
{
    if (emu_complaints_room(complaints)) {
        va_list arguments;
        va_start(arguments, format);
        complaints->kept[complaints->total] = (struct emu_complaint){
            .source = spot.source,
            .offset = spot.offset,
            .length = spot.length,
            .message = format_into(complaints->store, format, arguments),
        };
        va_end(arguments);
    }
    complaints->total++;
}

void emu_complaints_note(struct emu_complaints *complaints, const char *format, ...)
{
    if (!complaints->total || complaints->total > EMU_COMPLAINTS_SHOWN)
        return;
    va_list arguments;
    va_start(arguments, format);
    complaints->kept[complaints->total - 1].note =
        format_into(complaints->store, format, arguments);
    va_end(arguments);
}

void emu_complaint_print(const struct emu_complaint *complaint, struct emu_text *out)
{
    emu_source_add_place(complaint->source, complaint->offset, out);
    emu_text_printf(out, ": error: %s\n", complaint->message ? complaint->message : "");
    emu_source_add_line(complaint->source, complaint->offset, complaint->length, out);
    if (complaint->note)
        emu_text_printf(out, "note: %s\n", complaint->note);
}

static bool comes_before(const struct emu_complaint *a, const struct emu_complaint *b)
{
    if (a->source->order != b->source->order)
        return a->source->order < b->source->order;
    return a->offset < b->offset;
}

/* Stable: complaints about one place stay in the order in which they were found. */
static void sort(struct emu_complaint *list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct emu_complaint moved = list[i];
        size_t at = i;
        for (; at > 0 && comes_before(&moved, &list[at - 1]); at--)
            list[at] = list[at - 1];
        list[at] = moved;
    }
}

void emu_complaints_print(struct emu_complaints *complaints, struct emu_text *out)
{
    size_t kept = complaints->total;
    if (kept > EMU_COMPLAINTS_SHOWN)
        kept = EMU_COMPLAINTS_SHOWN;
    sort(complaints->kept, kept);
    for (size_t i = 0; i < kept; i++)
        emu_complaint_print(&complaints->kept[i], out);
    if (complaints->total > kept)
        emu_text_printf(out, "and %zu more errors\n", complaints->total - kept);
}
