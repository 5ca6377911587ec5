#include "seg/note.h"
#include "seg/sites.h"
#include "small_segment.h"

#include <criterion/criterion.h>
#include <string.h>

Test(note, of_equal_calls_is_equal_whatever_the_junk)
{
    struct emu_call call = {.kind = EMU_ALL_REDUCE, .count = 3, .dtype = EMU_F32, .op = EMU_AVG};
    struct emu_note one, other;
    emu_note_of(&call, 5, &one);
    call.root = 9;
    call.peer = 8;
    call.tag = 7;
    call.layout = EMU_LAYOUT_CHUNKS;
    emu_note_of(&call, 5, &other);
    cr_expect_eq(memcmp(&one, &other, sizeof one), 0);
    call.kind = EMU_BARRIER;
    emu_note_of(&call, 5, &one);
    call.count = 44;
    call.dtype = EMU_U8;
    call.op = EMU_MAX;
    emu_note_of(&call, 5, &other);
    cr_expect_eq(memcmp(&one, &other, sizeof one), 0);
}

Test(note, differs_in_what_members_must_agree_on)
{
    struct emu_call base = {.kind = EMU_REDUCE, .count = 3, .dtype = EMU_F32, .root = 1};
    struct emu_call others[6] = {base, base, base, base, base, base};
    others[0].kind = EMU_GATHER;
    others[1].count = 4;
    others[2].dtype = EMU_I32;
    others[3].op = EMU_MAX;
    others[4].root = 2;
    others[5].group = 1;
    struct emu_note one, other;
    emu_note_of(&base, 0, &one);
    for (int i = 0; i < 6; i++) {
        emu_note_of(&others[i], 0, &other);
        cr_expect_neq(memcmp(&one, &other, EMU_NOTE_SIGNATURE_WORDS * 8), 0, "field %d", i);
    }
}

Test(note, shows_what_was_asked_for_and_where)
{
    struct small_segment small;
    struct emu_site_index sites;
    struct emu_note note;
    struct emu_call_view view, same;
    cr_assert(small_open(&small, "dp=2,tp=2"));
    cr_assert_eq(emu_site_index_init(&sites, &small.segment, 1), EMU_OK);
    struct emu_call call = {
        .kind = EMU_SEND, .peer = 3, .tag = -4, .label = "grad", .file = "step.c", .line = 12};
    emu_note_of(&call, 1, &note);
    cr_expect_eq(note.site, 0);
    note.site = emu_site_find(&sites, &call, 0);
    emu_note_view(&small.segment, 1, &note, &view);
    cr_expect(view.peer == 3 && view.tag == -4 && view.line == 12 && view.index == 1);
    cr_expect_str_eq(view.label, "grad");
    cr_expect_str_eq(view.file, "step.c");
    cr_expect_str_eq(view.group_name, "");
    emu_call_view_of(&small.segment, &call, &same);
    view.index = 0;
    cr_expect_eq(memcmp(&same, &view, sizeof view), 0);
    emu_note_view(&small.segment, 2, &note, &view);
    cr_expect(view.label[0] == '\0' && view.file[0] == '\0' && view.line == 0, "not rank 2's");
    call = (struct emu_call){.kind = EMU_BARRIER, .group = 1};
    emu_call_view_of(&small.segment, &call, &view);
    cr_expect_str_eq(view.group_name, "dp");
    emu_site_index_finish(&sites);
    small_close(&small);
}

Test(names, are_those_of_scripts_and_reports)
{
    cr_expect_str_eq(emu_kind_name(EMU_REDUCE_SCATTER), "reduce_scatter");
    cr_expect_str_eq(emu_dtype_name(EMU_FIELD61), "field61");
    cr_expect_str_eq(emu_op_name(EMU_AVG), "avg");
    cr_expect_eq(emu_dtype_bytes(EMU_BOUND32), 16);
    cr_expect_str_eq(emu_kind_name((enum emu_kind)99), "?");
    cr_expect_str_eq(emu_dtype_name((enum emu_dtype)99), "?");
    cr_expect_str_eq(emu_op_name((enum emu_op)99), "?");
    cr_expect_eq(emu_dtype_bytes((enum emu_dtype)99), 0);
}
