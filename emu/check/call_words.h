/* What does a recorded call look like in words?
 *
 * A call that was read from the memory of a rank that died may hold anything: unknown values are
 * shown as "?", never used as an index.
 */
#ifndef EMU_CHECK_CALL_WORDS_H
#define EMU_CHECK_CALL_WORDS_H

#include <meshemu/comm.h>
#include <meshemu/finding.h>

#include <stdbool.h>

const char *emu_kind_word(enum emu_kind kind);
const char *emu_dtype_word(enum emu_dtype dtype);
const char *emu_op_word(enum emu_op op);

/* Which arguments mean something for this kind? */
bool emu_kind_has_root(enum emu_kind kind);
bool emu_kind_reduces(enum emu_kind kind);
bool emu_kind_is_message(enum emu_kind kind);

/* Do two calls agree in all that is compared before data moves (kind, group, count, dtype, and op,
 * root or peer and tag where they mean something)? */
bool emu_call_views_agree(const struct emu_call_view *a, const struct emu_call_view *b);

#endif
