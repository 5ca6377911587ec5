/* Which arguments mean something for a kind of call? Unknown kinds have none. */
#ifndef EMU_SEG_KINDS_H
#define EMU_SEG_KINDS_H

#include <meshemu/comm.h>

#include <stdbool.h>
#include <stdint.h>

/* One bit for each kind, from the list that names them. */
#define EMU_KIND_ROOT_BIT(name, text, rooted, reduces) | UINT32_C(rooted) << (name)
#define EMU_KIND_REDUCE_BIT(name, text, rooted, reduces) | UINT32_C(reduces) << (name)

static inline bool emu_kind_is_in(uint32_t kinds, enum emu_kind kind)
{
    return (unsigned)kind < EMU_KIND_COUNT && (kinds >> kind & 1);
}

static inline bool emu_kind_has_root(enum emu_kind kind)
{
    return emu_kind_is_in(0 EMU_KIND_LIST(EMU_KIND_ROOT_BIT), kind);
}

static inline bool emu_kind_reduces(enum emu_kind kind)
{
    return emu_kind_is_in(0 EMU_KIND_LIST(EMU_KIND_REDUCE_BIT), kind);
}

static inline bool emu_kind_is_message(enum emu_kind kind)
{
    return kind == EMU_SEND || kind == EMU_RECV;
}

#endif
