/* What was asked of `meshemu bench`, once everything in it was found to be right? */
#ifndef EMU_CLI_BENCH_REQUEST_H
#define EMU_CLI_BENCH_REQUEST_H

#include "bench/bench_rows.h"
#include "cli/command_line.h"

struct emu_bench_session {
    struct emu_mesh mesh;
    struct emu_roster roster;
    struct emu_bench_request request;
};

/* Read the arguments; what is wrong is printed. Returns an exit code; 0: *session is to be
 * finished. The session must not move: the roster points into it. */
int emu_bench_session_read(const struct emu_arguments *arguments,
                           struct emu_bench_session *session);
void emu_bench_session_finish(struct emu_bench_session *session);

#endif
