/* Which arguments mean something for a kind of call? Unknown kinds have none. */
#ifndef EMU_SEG_KINDS_H
#define EMU_SEG_KINDS_H

#include <meshemu/comm.h>

#include <stdbool.h>

bool emu_kind_has_root(enum emu_kind kind);
bool emu_kind_reduces(enum emu_kind kind);
bool emu_kind_is_message(enum emu_kind kind);

#endif
