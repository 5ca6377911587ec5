/* Did two members make the same call? A call read from the memory of a rank that died may hold
 * anything: its values are compared, never used as an index. */
#ifndef EMU_CHECK_CALL_WORDS_H
#define EMU_CHECK_CALL_WORDS_H

#include "seg/kinds.h"

#include <meshemu/comm.h>
#include <meshemu/finding.h>

#include <stdbool.h>

/* Do two calls agree in all that is compared before data moves (kind, group, count, dtype, and op,
 * root or peer and tag where they mean something)? */
bool emu_call_views_agree(const struct emu_call_view *a, const struct emu_call_view *b);

#endif
