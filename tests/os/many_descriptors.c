#include "os/handover.h"
#include "os/in_child.h"
#include "os/process.h"
#include "os/stream.h"
#include "os/watch.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

TestSuite(os_watch, .timeout = 30);
TestSuite(os_handover, .timeout = 30);

Test(os_watch, tells_what_is_ready_until_it_is_read)
{
    uint64_t tokens[4];
    int one = emu_event_create(), two = emu_event_create(), watch = emu_watch_create();
    cr_assert(emu_watch_add(watch, one, 11) && emu_watch_add(watch, two, 22));
    cr_assert_eq(emu_watch_wait(watch, tokens, 4, 0), 0);
    emu_event_post(two);
    cr_assert_eq(emu_watch_wait(watch, tokens, 4, -1), 1);
    cr_assert_eq(tokens[0], 22);
    cr_assert_eq(emu_watch_wait(watch, tokens, 4, 0), 1, "it was not read");
    cr_assert(emu_event_take(two));
    cr_assert_eq(emu_watch_wait(watch, tokens, 4, 0), 0);
    emu_event_post(one);
    emu_watch_remove(watch, one);
    cr_assert_eq(emu_watch_wait(watch, tokens, 4, 0), 0, "removed");
    emu_stream_close(&one);
    emu_stream_close(&two);
    emu_stream_close(&watch);
}

Test(os_watch, many_ready_ones_come_in_turn)
{
    enum { COUNT = 200 };
    int events[COUNT], watch = emu_watch_create();
    bool seen[COUNT] = {false};
    for (int i = 0; i < COUNT; i++) {
        events[i] = emu_event_create();
        emu_event_post(events[i]);
        cr_assert(emu_watch_add(watch, events[i], (uint64_t)i));
    }
    for (int turn = 0, left = COUNT; left > 0; turn++) {
        uint64_t tokens[7];
        int count = emu_watch_wait(watch, tokens, 7, 0);
        cr_assert(turn < COUNT && count > 0 && count <= 7, "nobody is passed over");
        for (int i = 0; i < count; i++) {
            left -= !seen[tokens[i]];
            seen[tokens[i]] = true;
        }
    }
    for (int i = 0; i < COUNT; i++)
        emu_stream_close(&events[i]);
    emu_stream_close(&watch);
}

static int give_pipes(void *context)
{
    int *ends = context, out[2], error[2];
    close(ends[0]);
    if (!emu_stream_pipe(out) || !emu_stream_pipe(error))
        return 1;
    struct emu_handover given = {7, 0, {out[0], error[0]}};
    if (!emu_handover_send(ends[1], &given))
        return 2;
    return emu_stream_write(out[1], "out", 3) && emu_stream_write(error[1], "err", 3) ? 0 : 3;
}

Test(os_handover, a_childs_pipes_reach_its_parent)
{
    int ends[2];
    struct emu_process child;
    struct emu_handover got;
    cr_assert(emu_handover_open(ends));
    cr_assert_eq(emu_process_fork(give_pipes, ends, &child, NULL), EMU_OK);
    emu_stream_close(&ends[1]);
    cr_assert_eq(emu_handover_receive(ends[0], -1, &got), EMU_HANDOVER_CAME);
    cr_assert_eq(got.from, 7);
    cr_assert_eq(got.error, 0);
    static const char *expected[2] = {"out", "err"};
    for (int i = 0; i < 2; i++) {
        char text[4] = "";
        cr_assert_eq(emu_stream_read(got.fds[i], text, 3), 3);
        cr_assert_str_eq(text, expected[i]);
        cr_assert_eq(emu_stream_read(got.fds[i], text, 3), 0, "closed by the child's end");
        emu_stream_close(&got.fds[i]);
    }
    cr_assert_eq(emu_handover_receive(ends[0], -1, &got), EMU_HANDOVER_CLOSED);
    int code = -1;
    cr_assert_eq(emu_process_wait(&child, &code), EMU_PROCESS_EXITED);
    cr_assert_eq(code, 0);
    emu_process_forget(&child);
    emu_stream_close(&ends[0]);
}

Test(os_handover, an_error_comes_without_descriptors)
{
    int ends[2];
    struct emu_handover got;
    cr_assert(emu_handover_open(ends));
    cr_assert_eq(emu_handover_receive(ends[0], 0, &got), EMU_HANDOVER_NOTHING);
    cr_assert(emu_handover_send(ends[1], &(struct emu_handover){3, EMFILE, {-1, -1}}));
    cr_assert_eq(emu_handover_receive(ends[0], 0, &got), EMU_HANDOVER_CAME);
    cr_assert_eq(got.from, 3);
    cr_assert_eq(got.error, EMFILE);
    emu_stream_close(&ends[0]);
    emu_stream_close(&ends[1]);
}

/* In a process of its own: other threads of the test runner open and close descriptors too. */
static int receive_without_room(void *context)
{
    (void)context;
    int ends[2], pipe[2];
    struct emu_handover got;
    if (!emu_handover_open(ends) || !emu_stream_pipe(pipe) ||
        !emu_handover_send(ends[1], &(struct emu_handover){3, 0, {pipe[0], pipe[1]}}))
        return 1;
    while (dup(ends[0]) <= pipe[1] + 1) /* no numbers are left below the limit but one */
        continue;
    struct rlimit limit, tight;
    getrlimit(RLIMIT_NOFILE, &limit);
    tight = (struct rlimit){(rlim_t)pipe[1] + 3, limit.rlim_max};
    close(pipe[1] + 2);
    setrlimit(RLIMIT_NOFILE, &tight);
    enum emu_handover_news news = emu_handover_receive(ends[0], 0, &got);
    int error = errno, left = dup(ends[0]);
    if (news != EMU_HANDOVER_REFUSED)
        return 2;
    if (error != EMFILE)
        return 3;
    return left == pipe[1] + 2 ? 0 : 4; /* the one number is free again */
}

Test(os_handover, descriptors_without_room_are_a_refusal)
{
    cr_assert_eq(run_in_child(receive_without_room, NULL, 10), 0);
}
