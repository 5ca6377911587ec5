/* How does an op of a script become calls of the public interface, with buffers? */
#ifndef EMU_RUN_SCRIPT_CALL_H
#define EMU_RUN_SCRIPT_CALL_H

#include "config/script.h"

#include <meshemu/comm.h>

#define EMU_SCRIPT_CALLS_MAX 2 /* sendrecv */

/* One op on its way from start to wait. Zeroed: none. */
struct emu_script_call {
    const struct emu_script_op *op;
    struct emu_call calls[EMU_SCRIPT_CALLS_MAX];
    struct emu_request *requests[EMU_SCRIPT_CALLS_MAX];
    uint32_t count;                     /* calls */
    uint32_t begun;                     /* of them, started */
    void *input, *output;               /* owned; equal where the call works in place */
    uint64_t input_count, output_count; /* elements */
    char why[128];                      /* refused before it reached the backend; "": not */
};

/* Elements of the caller's input and output; false where that is no number or too large. index: of
 * the caller in the group, or -1 where it is none of its members. */
bool emu_script_elements(const struct emu_script_op *op, int64_t index, uint32_t size,
                         uint64_t elements[2]);

/* Fill in calls and buffers. EMU_EINVAL with *why: what no call can say (a negative count).
 * EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_script_call_make(struct emu_rank *rank,
                                                    const struct emu_script *script,
                                                    const struct emu_script_op *op, double value,
                                                    struct emu_script_call *call);

EMU_MUST_CHECK enum emu_status emu_script_call_start(struct emu_rank *rank,
                                                     struct emu_script_call *call);

/* Wait for all that was started; the first error counts. */
EMU_MUST_CHECK enum emu_status emu_script_call_wait(struct emu_rank *rank,
                                                    struct emu_script_call *call);

/* Free the buffers. A call that is still open must not be finished before its rank's handle. */
void emu_script_call_finish(struct emu_script_call *call);

#endif
