/* What `meshemu bench` understands. What it refuses is in bench.cases. */
#include "cli/bench_request.h"

#include "cli/bench_command.h"

#include <criterion/criterion.h>
#include <string.h>

static struct emu_arguments arguments;
static struct emu_bench_session session;

static int read_words(const char *const *words)
{
    static char room[16][64];
    static char *argv[17];
    struct emu_text error = {0};
    int argc = 0;
    for (; words[argc]; argc++) {
        strcpy(room[argc], words[argc]);
        argv[argc] = room[argc];
    }
    argv[argc] = NULL;
    cr_assert_eq(emu_arguments_read(&emu_bench_command, argc, argv, &error, &arguments), EMU_OK);
    return emu_bench_session_read(&arguments, &session);
}

#define READ(...) read_words((const char *const[]){"bench", __VA_ARGS__, NULL})

static void finish(void)
{
    emu_bench_session_finish(&session);
    emu_arguments_finish(&arguments);
}

TestSuite(cli_bench_request, .fini = finish);

Test(cli_bench_request, keeps_ops_in_the_order_given)
{
    cr_assert_eq(READ("scatter", "--ranks", "3", "sendrecv", "barrier"), 0);
    cr_assert_eq(session.request.op_count, 3);
    cr_assert_eq(session.request.ops[0], EMU_SCATTER);
    cr_assert_eq(session.request.ops[1], EMU_SEND);
    cr_assert_eq(session.request.ops[2], EMU_BARRIER);
    cr_assert_eq(session.mesh.world, 3);
}

Test(cli_bench_request, without_an_op_takes_all_that_can_run)
{
    cr_assert_eq(READ("--mesh", "dp=2,tp=2"), 0);
    cr_assert_eq(session.request.op_count, EMU_BENCH_OPS);
    cr_assert_eq(session.request.family, 0);
    cr_assert_eq(session.request.dtype, EMU_F32);
    cr_assert_eq(session.request.reduce, EMU_SUM);
    cr_assert_eq(session.request.root, EMU_BENCH_ROOT_MOVES);
    cr_assert(session.request.range.low == 8 && session.request.range.high == 1 << 20);
    cr_assert_eq(session.request.iterations, 0);
    cr_assert_eq(session.request.warmup, -1);
    cr_assert_not(session.request.in_place || session.request.pin);
}

Test(cli_bench_request, in_place_leaves_out_what_has_no_such_form)
{
    cr_assert_eq(READ("--ranks", "2", "--in-place"), 0);
    cr_assert_eq(session.request.op_count, EMU_BENCH_OPS - 1);
    for (uint32_t i = 0; i < session.request.op_count; i++)
        cr_assert_neq(session.request.ops[i], EMU_SEND);
}

Test(cli_bench_request, leaves_out_reductions_that_the_dtype_does_not_know)
{
    cr_assert_eq(READ("--ranks", "2", "--dtype", "field61", "--reduce", "max"), 0);
    cr_assert_eq(session.request.op_count, EMU_BENCH_OPS - 3);
}

Test(cli_bench_request, takes_groups_over_several_axes_in_any_order)
{
    cr_assert_eq(READ("--mesh", "dp=2,cp=3,tp=2", "--over", "tp,dp", "--root", "3"), 0);
    const struct emu_family *family = &session.roster.families[session.request.family];
    cr_assert_eq(family->group_size, 4);
    cr_assert_eq(family->group_count, 3);
    cr_assert_str_eq(family->name, "tp,dp");
    cr_assert_eq(session.request.root, 3);
}

Test(cli_bench_request, reads_every_option)
{
    cr_assert_eq(READ("--ranks", "2", "--bytes", "16:2K", "--dtype", "u8", "--reduce", "avg",
                      "--iterations", "7", "--warmup", "0", "--pin"),
                 0);
    cr_assert(session.request.range.low == 16 && session.request.range.high == 2048);
    cr_assert_eq(session.request.dtype, EMU_U8);
    cr_assert_eq(session.request.reduce, EMU_AVG);
    cr_assert_eq(session.request.iterations, 7);
    cr_assert_eq(session.request.warmup, 0);
    cr_assert(session.request.pin);
}
