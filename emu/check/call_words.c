#include "check/call_words.h"

#include <string.h>

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
