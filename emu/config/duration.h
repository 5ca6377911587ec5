/* How long is "10ms", "2s" or "1.5m"? */
#ifndef EMU_CONFIG_DURATION_H
#define EMU_CONFIG_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#define EMU_DURATION_TEXT_MAX 32
#define EMU_DURATION_HINT "a number with one of the units ns, us, ms, s, m, h, such as 10ms or 2s"

/* A decimal number and a unit (ns us ms s m h), nothing else. The time must be a whole number of
 * nanoseconds below 2^63. false: *ns is untouched. */
bool emu_duration_parse(const char *text, uint64_t *ns);

/* The shortest text that reads back as the same time: a whole number of the largest unit. Returns
 * out. */
const char *emu_duration_text(uint64_t ns, char out[EMU_DURATION_TEXT_MAX]);

#endif
