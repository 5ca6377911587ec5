/* What followed from a finding, as a person reads it: what many ranks did alike is one line. */
#ifndef EMU_CHECK_CONSEQUENCE_TEXT_H
#define EMU_CHECK_CONSEQUENCE_TEXT_H

#include "base/text.h"

#include <meshemu/finding.h>

/* "consequence: TEXT" for each, indented; from four texts on that begin with a rank ("rank 3 (dp=1)
 * exited 9") and go on alike, "61 ranks (0, 1, ...) exited 9" instead of them. Of very many
 * lines the first ones. */
void emu_consequences_text(const struct emu_finding *finding, struct emu_text *out);

#endif
