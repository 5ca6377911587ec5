/* How does what the ranks write reach the user: whole lines, tagged, fair, and in bounded memory?
 *
 * A thread reads all pipes in turn, at most EMU_OUTPUT_TURN bytes each, and writes what is
 * complete. A reader that is slow (a pager) slows the ranks that write, through their full pipes,
 * and nobody else: supervision goes on in another thread. A rank's standard output goes to out_fd,
 * its standard error to error_fd.
 */
#ifndef EMU_RUN_OUTPUT_H
#define EMU_RUN_OUTPUT_H

#include "os/reason.h"
#include "os/signals.h"

#include <meshemu/status.h>

#include <stdbool.h>
#include <stdint.h>

#define EMU_OUTPUT_TURN 16384

struct emu_output;

struct emu_output_params {
    uint32_t world;
    int64_t only; /* show this rank alone; -1: all */
    int out_fd, error_fd;
};

EMU_MUST_CHECK enum emu_status emu_output_create(const struct emu_output_params *params,
                                                 struct emu_output **output,
                                                 struct emu_reason *reason);

/* Hand over the reading ends of a rank's pipes, after the last fork. false, errno set: refused;
 * they belong to the output all the same. */
EMU_MUST_CHECK bool emu_output_add(struct emu_output *output, uint32_t rank, int out_pipe,
                                   int error_pipe);

/* What the launcher reads with, for a child to close; forgets nothing. */
void emu_output_close_in_child(const struct emu_output *output);

/* Begin to read; after the last fork. */
EMU_MUST_CHECK enum emu_status emu_output_start(struct emu_output *output,
                                                struct emu_reason *reason);

/* All ranks are gone: write what is left and stop. Waits for the reader of out_fd, but half a
 * second at most once the user wants to go: `hurry`, or an interrupt that comes meanwhile. */
void emu_output_stop(struct emu_output *output, bool hurry, const struct emu_signals *signals);

/* Accepts NULL. */
void emu_output_destroy(struct emu_output *output);

#endif
