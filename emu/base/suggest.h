/* Which known word was meant by an unknown one? */
#ifndef EMU_BASE_SUGGEST_H
#define EMU_BASE_SUGGEST_H

#include <stddef.h>

/* The nearest of `known` by Damerau-Levenshtein distance, or NULL where none is near enough
 * (distance above a third of the longer word, at least 1). */
const char *emu_suggest(const char *word, const char *const *known, size_t count);

#endif
