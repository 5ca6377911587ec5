#include "seg/board.h"
#include "seg/board_words.h"
#include "seg/incident_words.h"
#include "seg/recorder.h"
#include "seg/sites.h"
#include "small_segment.h"

#include <criterion/criterion.h>
#include <string.h>

static struct small_segment small;

static void open_small(void)
{
    cr_assert(small_open(&small, "dp=2,tp=2"));
}

static void close_small(void)
{
    small_close(&small);
}

TestSuite(board, .init = open_small, .fini = close_small);
TestSuite(recorder, .init = open_small, .fini = close_small);
TestSuite(incident, .init = open_small, .fini = close_small);

static struct emu_note note_with_count(uint64_t count)
{
    struct emu_call call = {.kind = EMU_ALL_REDUCE, .group = 1, .count = count};
    struct emu_note note;
    emu_note_of(&call, count, &note);
    return note;
}

Test(board, tells_who_sleeps_without_a_word)
{
    struct emu_board_view view;
    struct emu_board *board = emu_board_of(&small.segment, 1);
    emu_board_set_state(&small.segment, 1, EMU_BOARD_RUNNING);
    atomic_store(&board->sleeps_on, 4096);
    emu_board_look(&small.segment, 1, &view);
    cr_expect(view.asleep && view.state == EMU_BOARD_RUNNING);
    atomic_store(&board->sleeps_on, 0);
    emu_board_look(&small.segment, 1, &view);
    cr_expect_not(view.asleep);
}

Test(board, tells_state_step_and_the_call_waited_in)
{
    struct emu_board_view view;
    struct emu_note note = note_with_count(7);
    struct emu_site_index sites;
    struct emu_call call = {.label = "loss"};
    cr_assert_eq(emu_site_index_init(&sites, &small.segment, 3), EMU_OK);
    note.site = emu_site_find(&sites, &call, 0);
    emu_board_look(&small.segment, 3, &view);
    cr_expect(view.state == EMU_BOARD_STARTING && view.epoch == 0 && view.calls == 0);
    emu_board_set_state(&small.segment, 3, EMU_BOARD_RUNNING);
    emu_board_set_step(&small.segment, 3, 12);
    emu_board_wait_in(&small.segment, 3, EMU_WAIT_SLOT, &note);
    emu_board_set_phase(&small.segment, 3, EMU_PHASE_DEPOSIT);
    emu_board_look(&small.segment, 3, &view);
    cr_expect(view.state == EMU_BOARD_WAITING && view.wait == EMU_WAIT_SLOT);
    cr_expect(view.step == 12 && view.phase == EMU_PHASE_DEPOSIT && view.since_ns > 0);
    cr_expect(view.epoch == 6, "every change of state is two steps of the epoch");
    cr_expect(view.call.kind == EMU_ALL_REDUCE && view.call.count == 7);
    cr_expect_str_eq(view.call.label, "loss");
    cr_expect_str_eq(view.call.group_name, "dp");
    emu_site_index_finish(&sites); /* the table stays */
    emu_board_look(&small.segment, 2, &view);
    cr_expect(view.state == EMU_BOARD_STARTING, "boards do not overlap");
}

Test(board, shows_the_newest_call_while_its_rank_runs)
{
    struct emu_board_view view;
    emu_board_set_state(&small.segment, 0, EMU_BOARD_RUNNING);
    for (uint64_t i = 0; i < 3; i++) {
        struct emu_note note = note_with_count(i + 10);
        emu_recorder_begin(&small.segment, 0, i, &note);
    }
    emu_board_look(&small.segment, 0, &view);
    cr_expect(view.calls == 3 && view.call.count == 12);
}

Test(board, of_a_rank_killed_while_writing_can_still_be_read, .timeout = 5)
{
    struct emu_board_view view;
    emu_board_set_step(&small.segment, 1, 4);
    atomic_fetch_add(&emu_board_of(&small.segment, 1)->epoch, 1);
    emu_board_look(&small.segment, 1, &view);
    cr_expect(view.step == 4 && view.epoch % 2 == 1);
}

Test(board, words_have_names)
{
    cr_expect_str_eq(emu_board_state_name(EMU_BOARD_WAITING), "waiting");
    cr_expect_str_eq(emu_phase_name(EMU_PHASE_COPYOUT), "copyout");
}

Test(recorder, keeps_the_last_256_calls_newest_last)
{
    static struct emu_recorded_call calls[300];
    for (uint64_t i = 0; i < 1000; i++) {
        struct emu_note note = note_with_count(i);
        emu_recorder_begin(&small.segment, 1, i, &note);
        if (i < 999)
            emu_recorder_end(&small.segment, 1, i, i % 2 ? EMU_EPEER : EMU_OK);
    }
    cr_assert_eq(emu_recorder_read(&small.segment, 1, calls, 300), 256);
    for (uint64_t i = 0; i < 256; i++) {
        cr_expect_eq(calls[i].call.count, 744 + i);
        cr_expect(calls[i].started_ns > 0);
        cr_expect_eq(calls[i].status, i < 255 && i % 2 ? EMU_EPEER : EMU_OK);
    }
    cr_expect(calls[254].ended_ns > 0 && calls[255].ended_ns == 0, "the last has not ended");
    cr_assert_eq(emu_recorder_read(&small.segment, 1, calls, 2), 2);
    cr_expect_eq(calls[1].call.count, 999);
    cr_expect_eq(emu_recorder_read(&small.segment, 0, calls, 300), 0);
}

Test(recorder, leaves_out_a_call_that_is_being_written)
{
    struct emu_recorded_call calls[4];
    struct emu_recorder *recorder = emu_recorder_of(&small.segment, 0);
    for (uint64_t i = 0; i < 3; i++) {
        struct emu_note note = note_with_count(i);
        emu_recorder_begin(&small.segment, 0, i, &note);
    }
    atomic_store(&recorder->records[1].sequence, 2 * 1 + 1);
    cr_assert_eq(emu_recorder_read(&small.segment, 0, calls, 4), 2);
    cr_expect(calls[0].call.count == 0 && calls[1].call.count == 2);
}

/* As seen by a clock that stands still or differs between cores. */
Test(recorder, keeps_that_a_call_has_ended_before_it_began)
{
    struct emu_recorded_call call;
    struct emu_note note = note_with_count(1);
    struct emu_recorder *recorder = emu_recorder_of(&small.segment, 0);
    emu_recorder_begin(&small.segment, 0, 0, &note);
    atomic_fetch_add(&recorder->records[0].started, UINT64_C(1) << 40);
    emu_recorder_end(&small.segment, 0, 0, EMU_OK);
    cr_assert_eq(emu_recorder_read(&small.segment, 0, &call, 1), 1);
    cr_expect(call.ended_ns > 0 && call.ended_ns == call.started_ns);
}

Test(recorder, forgets_the_end_of_a_call_whose_record_was_reused)
{
    struct emu_recorded_call call;
    for (uint64_t i = 0; i <= 256; i++) {
        struct emu_note note = note_with_count(i);
        emu_recorder_begin(&small.segment, 0, i, &note);
    }
    emu_recorder_end(&small.segment, 0, 0, EMU_EPEER);
    cr_assert_eq(emu_recorder_read(&small.segment, 0, &call, 1), 1);
    cr_expect(call.call.count == 256 && call.ended_ns == 0);
}

Test(incident, list_keeps_the_first_and_counts_the_rest)
{
    struct emu_incident incident = {.cause = EMU_INCIDENT_ARGUMENT, .status = EMU_EINVAL}, out;
    uint32_t news = emu_news_look(&small.segment);
    cr_expect_not(emu_incident_read(&small.segment, 0, &out));
    for (uint32_t i = 0; i < EMU_INCIDENT_MAX + 10; i++) {
        incident.rank = i;
        emu_incident_append(&small.segment, &incident);
    }
    cr_expect(emu_incident_read(&small.segment, EMU_INCIDENT_MAX - 1, &out));
    cr_expect(out.rank == EMU_INCIDENT_MAX - 1 && out.at_ns > 0);
    cr_expect_not(emu_incident_read(&small.segment, EMU_INCIDENT_MAX, &out));
    cr_expect_eq(emu_incident_count(&small.segment), EMU_INCIDENT_MAX + 10);
    cr_expect_eq(emu_news_look(&small.segment), news + EMU_INCIDENT_MAX + 10);
}

Test(news, wait_ends_at_its_time_or_at_once, .timeout = 10)
{
    open_small();
    uint32_t seen = emu_news_look(&small.segment);
    cr_expect_eq(emu_news_wait(&small.segment, seen, 1000000), seen);
    emu_news_post(&small.segment);
    cr_expect_eq(emu_news_wait(&small.segment, seen, -1), seen + 1);
    close_small();
}
