/* What does a person read about a script? What ran, what the calls gave, the verdict, the findings.
 */
#ifndef EMU_REPORT_SCRIPT_TEXT_H
#define EMU_REPORT_SCRIPT_TEXT_H

#include "base/text.h"
#include "check/script_outcome.h"
#include "report/script_json.h"

/* colour: ANSI escapes for words of judgement. repeats: NULL without --repeat. */
void emu_script_to_text(const struct emu_script_outcome *outcome,
                        const struct emu_script_repeats *repeats, bool colour,
                        struct emu_text *out);

#endif
