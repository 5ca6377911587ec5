/* What is wrong with what the user wrote? All errors of one text, collected, then printed in the
 * order of their places.
 *
 * The first EMU_COMPLAINTS_SHOWN errors are kept, the others only counted: a hostile text costs
 * little and floods no terminal.
 */
#ifndef EMU_CONFIG_COMPLAINT_H
#define EMU_CONFIG_COMPLAINT_H

#include "base/text.h"
#include "config/source.h"
#include "config/store.h"

#include <stddef.h>
#include <stdint.h>

#define EMU_COMPLAINTS_SHOWN 50

struct emu_complaint {
    const struct emu_source *source;
    size_t offset;
    size_t length; /* bytes under the caret */
    const char *message;
    const char *note; /* NULL: none */
};

struct emu_complaints {
    struct emu_store *store; /* owns the messages */
    size_t total;
    struct emu_complaint kept[EMU_COMPLAINTS_SHOWN];
};

/* Where the complaint is about. */
struct emu_spot {
    const struct emu_source *source;
    size_t offset;
    size_t length;
};

void emu_complaints_add(struct emu_complaints *complaints, struct emu_spot spot, const char *format,
                        ...) EMU_PRINTF(3, 4);

/* Say how to mend what was complained about last. */
void emu_complaints_note(struct emu_complaints *complaints, const char *format, ...)
    EMU_PRINTF(2, 3);

/* Whether the next complaint will be shown: an expensive suggestion is for those alone. */
bool emu_complaints_room(const struct emu_complaints *complaints);

/* Append all of them as text, sorted by place. */
void emu_complaints_print(struct emu_complaints *complaints, struct emu_text *out);

/* Append one: place, "error:", message, source line, caret, note. */
void emu_complaint_print(const struct emu_complaint *complaint, struct emu_text *out);

#endif
