#include "seg/note.h"

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

Test(note, keeps_the_end_of_a_path_and_the_start_of_a_label)
{
    char path[200], label[100];
    memset(path, 'x', sizeof path);
    memcpy(path + 190, "/step.c", 8);
    memset(label, 'l', 99);
    label[99] = '\0';
    struct emu_call call = {
        .kind = EMU_SEND, .peer = 3, .tag = -4, .label = label, .file = path, .line = 12};
    struct emu_note note;
    struct emu_call_view view;
    emu_note_of(&call, 1, &note);
    emu_note_view(&note, NULL, &view);
    cr_expect_eq(strlen(view.file), 63);
    cr_expect_str_eq(view.file + 56, "/step.c");
    cr_expect_eq(strlen(view.label), 31);
    cr_expect(view.peer == 3 && view.tag == -4 && view.line == 12 && view.index == 1);
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
