/* Which sizes explain a wrong factor?
 *
 * Searches products and quotients of known sizes, each used at most once, that equal a ratio
 * exactly: fewest factors first; of equally many, those that use a suspected size come first. All
 * equally simple ones are listed. Sizes of 1 explain nothing and are left out. Sizes of last resort
 * are tried where the others explain nothing, two of all sizes at most.
 */
#ifndef EMU_LEDGER_EXPLAIN_H
#define EMU_LEDGER_EXPLAIN_H

#include "base/text.h"
#include "ledger/rational.h"

#include <stdbool.h>
#include <stddef.h>

#define EMU_EXPLAIN_MAX_SIZES 12

struct emu_known_size {
    const char *name;  /* in a product: "dp", "microbatches", "tokens", ... ; borrowed */
    const char *words; /* alone: "number of valid tokens"; NULL: "size of NAME"; borrowed */
    int64_t size;      /* >= 1 */
    bool suspect;      /* a suspicious call used it */
    bool last_resort;
};

/* Append "2 = size of tp", "1/4 = 1/(dp*microbatches) or 1/cp" or "no product of known sizes
 * explains 3/7". Returns true where an explanation was found. At most EMU_EXPLAIN_MAX_SIZES sizes
 * are used. */
bool emu_explain(struct emu_rational ratio, const struct emu_known_size *sizes, size_t count,
                 struct emu_text *out);

#endif
