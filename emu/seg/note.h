/* What did a rank ask for, in as few bytes as can be shared?
 *
 * The compact form of a call: in the signature of a slot, on the board, in the flight recorder and
 * on a message. Fields that have no meaning for the kind are 0, so that equal calls are equal
 * notes. Names of groups are left out: the roster knows them.
 *
 *   0 index | 8 count | 16 kind dtype op layout, group | 24 root, peer | 32 tag, line
 *   40 label[32] | 72 file[64] | 136
 */
#ifndef EMU_SEG_NOTE_H
#define EMU_SEG_NOTE_H

#include "mesh/roster.h"

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
    uint32_t line;
    char label[EMU_NAME_MAX];
    char file[64]; /* the end of a longer path */
};

#define EMU_NOTE_WORDS (sizeof(struct emu_note) / sizeof(uint64_t))
_Static_assert(sizeof(struct emu_note) == 136, "five words, a label and a file name");

/* The words of a note that all members of a group must share: index, count, kind..group, root. */
#define EMU_NOTE_SIGNATURE_WORDS 4

/* The note of a call, with the fields that its kind does not use left 0. */
void emu_note_of(const struct emu_call *call, uint64_t index, struct emu_note *note);

/* The note as people and findings read it. roster: may be NULL (no group name). */
void emu_note_view(const struct emu_note *note, const struct emu_roster *roster,
                   struct emu_call_view *view);

#endif
