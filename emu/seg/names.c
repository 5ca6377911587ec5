/* The words of include/meshemu/comm.h as text: its three lists are the only place they are named.
 */
#include "base/hot.h"
#include "seg/kinds.h"

#include <meshemu/comm.h>

const char *emu_kind_name(enum emu_kind kind)
{
    switch (kind) {
#define KIND_CASE(name, text, rooted, reduces)                                                     \
    case name:                                                                                     \
        return text;
        EMU_KIND_LIST(KIND_CASE)
#undef KIND_CASE
    case EMU_KIND_COUNT:
        break;
    }
    return "?";
}

const char *emu_dtype_name(enum emu_dtype dtype)
{
    switch (dtype) {
#define DTYPE_CASE(name, text, bytes)                                                              \
    case name:                                                                                     \
        return text;
        EMU_DTYPE_LIST(DTYPE_CASE)
#undef DTYPE_CASE
    case EMU_DTYPE_COUNT:
        break;
    }
    return "?";
}

/* One byte for each dtype: a table would lie in a page of its own. */
#define DTYPE_BYTES_AT(name, text, bytes) | (uint64_t)(bytes) << 8 * (name)
static const uint64_t dtype_bytes = 0 EMU_DTYPE_LIST(DTYPE_BYTES_AT);
#undef DTYPE_BYTES_AT
_Static_assert(EMU_DTYPE_COUNT <= 8, "one byte for each");

EMU_HOT uint64_t emu_dtype_bytes(enum emu_dtype dtype)
{
    return (unsigned)dtype < EMU_DTYPE_COUNT ? dtype_bytes >> 8 * dtype & 0xff : 0;
}

const char *emu_op_name(enum emu_op op)
{
    switch (op) {
#define OP_CASE(name, text)                                                                        \
    case name:                                                                                     \
        return text;
        EMU_OP_LIST(OP_CASE)
#undef OP_CASE
    case EMU_OP_COUNT:
        break;
    }
    return "?";
}
