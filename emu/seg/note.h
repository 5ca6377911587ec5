/* What did a rank ask for, in as few bytes as can be shared?
 *
 * The compact form of a call: in the signature of a slot, on the board, in the flight recorder and
 * on a message. Fields that have no meaning for the kind are 0, so that equal calls are equal
 * notes. Names of groups are left out: the roster knows them. So are label, file and line: they lie
 * in the table of the rank that wrote the note (sites.h).
 *
 *   0 index | 8 count | 16 kind dtype op layout, group | 24 root, peer | 32 tag, site | 40
 */
#ifndef EMU_SEG_NOTE_H
#define EMU_SEG_NOTE_H

#include "seg/segment.h"

#include <meshemu/comm.h>
#include <meshemu/finding.h>

#include <stdint.h>

struct emu_note {
    uint64_t index; /* in its group, or of this pair of ranks */
    uint64_t count;
    uint8_t kind, dtype, op, layout;
    uint32_t group;
    uint32_t root;
    uint32_t peer; /* of a message; of a collective: coefficients that travel with it */
    int32_t tag;
    uint32_t site; /* reference, see emu_site_find */
};

#define EMU_NOTE_WORDS (sizeof(struct emu_note) / sizeof(uint64_t))
_Static_assert(sizeof(struct emu_note) == 40, "five words");

/* The words of a note that all members of a group must share: index, count, kind..group, root. */
#define EMU_NOTE_SIGNATURE_WORDS 4

/* The note of a call, with the fields that its kind does not use left 0; site is 0 too. */
void emu_note_of(const struct emu_call *call, uint64_t index, struct emu_note *note);

/* A note of this rank as people and findings read it. The call-site is left out where the rank has
 * given it up since. */
void emu_note_view(const struct emu_segment *segment, uint32_t rank, const struct emu_note *note,
                   struct emu_call_view *view);

/* The same of a call that nobody else has a note of. */
void emu_call_view_of(const struct emu_segment *segment, const struct emu_call *call,
                      struct emu_call_view *view);

#endif
