/* Who sent to whom, drawn and written of books made by hand. */
#include "mesh/beside.h"
#include "report/books_json.h"
#include "report/run_report.h"
#include "report/traffic_map.h"
#include "result_maker.h"

#include <criterion/criterion.h>
#include <string.h>

#define RANKS_MOST 40

struct made {
    struct emu_mesh mesh;
    struct emu_plan plan;
    struct emu_rank_books books[RANKS_MOST];
    uint64_t sent[RANKS_MOST][RANKS_MOST];
    struct emu_training_result result;
};

static struct made made;

static void make(const char *axes)
{
    struct emu_mesh_error error;
    memset(&made, 0, sizeof made);
    cr_assert_eq(emu_mesh_parse(axes, &made.mesh, &error), EMU_OK);
    emu_roster_init(&made.plan.roster, &made.mesh);
    for (uint32_t rank = 0; rank < made.mesh.world; rank++)
        made.books[rank].sent_to = made.sent[rank];
    made.result = (struct emu_training_result){.plan = &made.plan, .books = made.books};
}

static void send(uint32_t from, uint32_t to, uint64_t bytes)
{
    struct emu_beside beside;
    cr_assert(emu_beside_find(&made.mesh, from, to, &beside));
    made.sent[from][beside.place] = bytes;
}

static void assert_drawn(const char *want)
{
    struct emu_text out = {0};
    emu_traffic_map_print(&made.result, &out);
    cr_expect_str_eq(emu_text_get(&out), want, "%s", emu_text_get(&out));
    emu_text_finish(&out);
}

/* dp=2,tp=3: rank 4 is tp 1 of the second group; its successor over tp is 5, over dp 1, over the
 * world 5; rank 5 closes the ring of tp at 3, that of the world at 0. */
static void make_six(void)
{
    uint32_t tp, dp;
    make("dp=2,tp=3");
    cr_assert_eq(emu_roster_find(&made.plan.roster, "tp", &tp), EMU_OK);
    cr_assert_eq(emu_roster_find(&made.plan.roster, "dp", &dp), EMU_OK);
    made.books[4].family_bytes[tp] = 900;
    made.books[4].family_bytes[dp] = 100;
    made.books[4].family_bytes[0] = 101;
    made.books[5].family_bytes[tp] = 7;
    made.books[5].family_bytes[0] = 1001;
    send(4, 1, 12);
    send(0, 3, 400);
}

Test(traffic_map, a_collective_counts_for_the_next_of_its_ring)
{
    uint64_t row[6];
    make_six();
    emu_traffic_row(&made.plan, &made.books[4], 4, row);
    cr_expect(row[0] == 0 && row[1] == 112 && row[2] == 0);
    cr_expect(row[3] == 0 && row[4] == 0 && row[5] == 1001);
    emu_traffic_row(&made.plan, &made.books[5], 5, row);
    cr_expect(row[0] == 1001 && row[3] == 7 && row[4] == 0 && row[5] == 0);
}

Test(traffic_map, is_drawn_in_ninths_of_the_heaviest_pair)
{
    make_six();
    assert_drawn("\ntraffic of the last step, from rank to rank\n"
                 "  from  to  012345  bytes sent\n"
                 "     0      ...4..  400\n"
                 "     1      ......  0\n"
                 "     2      ......  0\n"
                 "     3      ......  0\n"
                 "     4      .2...9  1113\n"
                 "     5      9..1..  1008\n"
                 "  9: 1001 bytes, the most of any pair; a digit is ninths of that, rounded up; a "
                 "dot: nothing\n"
                 "  a collective counts for the next rank of its group, as in a ring\n");
}

Test(traffic_map, of_a_large_mesh_is_a_list_of_its_heaviest_pairs)
{
    make("dp=33");
    send(32, 1, 5);
    send(2, 0, 9);
    send(3, 0, 9);
    assert_drawn("\ntraffic of the last step, from rank to rank\n"
                 "  33 ranks are too many to draw (the most are 32); the heaviest pairs, all of "
                 "them are in --json:\n"
                 "  2 to 0: 9 bytes\n"
                 "  3 to 0: 9 bytes\n"
                 "  32 to 1: 5 bytes\n"
                 "  a collective counts for the next rank of its group, as in a ring\n");
}

Test(traffic_map, survives_the_largest_numbers_and_no_traffic)
{
    make("dp=2");
    send(0, 1, UINT64_MAX);
    send(1, 0, 1);
    struct emu_text out = {0};
    emu_traffic_map_print(&made.result, &out);
    cr_expect_not_null(strstr(emu_text_get(&out), "     0      .9  18446744073709551615\n"));
    cr_expect_not_null(strstr(emu_text_get(&out), "     1      1.  1\n"));
    emu_text_finish(&out);
    made.result.books = NULL;
    assert_drawn("\ntraffic of the last step, from rank to rank\n  no step was completed\n");
}

/* An opinion that is missing is said to be, beside the ones that are there. */
Test(run_report_memory, shows_three_opinions_or_says_that_one_is_missing)
{
    struct made_result made_run;
    struct emu_rank_books books[2] = {{.requested = {100, 20}, .rounded = {128, 64}, .pss = 8192},
                                      {.requested = {100, 21}, .rounded = {128, 65}, .pss = 4096}};
    struct emu_text out = {0};
    made_result_init(&made_run, 1);
    made_run.result.books = books;
    emu_run_report(&made_run.result, false, &out);
    cr_expect_not_null(strstr(emu_text_get(&out),
                              "\n  held      rank 1 the most: 121 bytes asked for, 193 rounded "
                              "up; by the kernel's books 4096 of the shared mapping (PSS)\n"),
                       "%s", emu_text_get(&out));
    emu_text_finish(&out);
    books[0].requested[5] = 1;
    books[0].pss = UINT64_MAX;
    emu_run_report(&made_run.result, false, &out);
    cr_expect_not_null(strstr(emu_text_get(&out),
                              "\n  held      rank 0 the most: 121 bytes asked for, 192 rounded "
                              "up; by the kernel's books (PSS, /proc/self/smaps) unknown: they "
                              "cannot be read here\n"),
                       "%s", emu_text_get(&out));
    emu_text_finish(&out);
    made_result_finish(&made_run);
}

Test(traffic_map, is_written_as_the_pairs_that_are_not_zero)
{
    struct emu_text text = {0};
    struct emu_json json;
    make_six();
    made.books[1].pss = UINT64_MAX;
    emu_json_init_text(&json, &text);
    emu_json_object_begin(&json);
    emu_books_to_json(&made.result, &json);
    emu_json_object_end(&json);
    cr_assert(emu_json_finish(&json));
    char flat[8192];
    size_t used = 0;
    for (const char *c = emu_text_get(&text); *c && used < sizeof flat - 1; c++)
        if (*c != ' ' && *c != '\n')
            flat[used++] = *c;
    flat[used] = '\0';
    cr_expect_not_null(strstr(flat, "\"pairs\":[{\"from\":0,\"to\":3,\"bytes\":400},"
                                    "{\"from\":4,\"to\":1,\"bytes\":112},"
                                    "{\"from\":4,\"to\":5,\"bytes\":1001},"
                                    "{\"from\":5,\"to\":0,\"bytes\":1001},"
                                    "{\"from\":5,\"to\":3,\"bytes\":7}]"),
                       "%s", flat);
    cr_expect_not_null(strstr(flat, "\"pss\":null"));
    cr_expect_not_null(strstr(flat, "\"pss\":0"));
    emu_text_finish(&text);
}
