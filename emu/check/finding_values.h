/* How are the values of a finding shown: parameters, coefficients, expected and got, and why? */
#ifndef EMU_CHECK_FINDING_VALUES_H
#define EMU_CHECK_FINDING_VALUES_H

#include "base/text.h"

#include <meshemu/finding.h>

#define EMU_FINDING_INDENT "    "

/* Part of emu_finding_to_text: one line each, for those fields that are there. */
void emu_finding_values_text(const struct emu_finding *finding, struct emu_text *out);

/* A time in four digits: "1 ns", "127.2 µs", "36 ms", "12.5 s". */
void emu_delay_text(uint64_t ns, struct emu_text *out);

#endif
