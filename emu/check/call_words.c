#include "check/call_words.h"

#include <string.h>

static const struct {
    const char *word;
    bool rooted, reduces;
} kinds[EMU_KIND_COUNT] = {
#define KIND_ROW(name, text, has_root, has_op) [name] = {text, has_root, has_op},
    EMU_KIND_LIST(KIND_ROW)
#undef KIND_ROW
};

static const char *const dtypes[EMU_DTYPE_COUNT] = {
#define DTYPE_ROW(name, text, bytes) [name] = text,
    EMU_DTYPE_LIST(DTYPE_ROW)
#undef DTYPE_ROW
};

static const char *const ops[EMU_OP_COUNT] = {
#define OP_ROW(name, text) [name] = text,
    EMU_OP_LIST(OP_ROW)
#undef OP_ROW
};

const char *emu_kind_word(enum emu_kind kind)
{
    return (unsigned)kind < EMU_KIND_COUNT ? kinds[kind].word : "?";
}

const char *emu_dtype_word(enum emu_dtype dtype)
{
    return (unsigned)dtype < EMU_DTYPE_COUNT ? dtypes[dtype] : "?";
}

const char *emu_op_word(enum emu_op op)
{
    return (unsigned)op < EMU_OP_COUNT ? ops[op] : "?";
}

bool emu_kind_has_root(enum emu_kind kind)
{
    return (unsigned)kind < EMU_KIND_COUNT && kinds[kind].rooted;
}

bool emu_kind_reduces(enum emu_kind kind)
{
    return (unsigned)kind < EMU_KIND_COUNT && kinds[kind].reduces;
}

bool emu_kind_is_message(enum emu_kind kind)
{
    return kind == EMU_SEND || kind == EMU_RECV;
}

bool emu_call_views_agree(const struct emu_call_view *a, const struct emu_call_view *b)
{
    if (a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind != EMU_BARRIER && a->dtype != b->dtype)
        return false;
    if (emu_kind_reduces(a->kind) && a->op != b->op)
        return false;
    if (emu_kind_is_message(a->kind))
        return a->peer == b->peer && a->tag == b->tag;
    return a->group == b->group && (!emu_kind_has_root(a->kind) || a->root == b->root);
}
