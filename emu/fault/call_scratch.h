/* How is a call made with buffers that are not its caller's?
 *
 * A changed call may need more room than its caller gave, and a call that is made later finds its
 * caller's buffers gone. It then works on copies; what fits goes back.
 */
#ifndef EMU_FAULT_CALL_SCRATCH_H
#define EMU_FAULT_CALL_SCRATCH_H

#include <meshemu/comm.h>

struct emu_call_scratch {
    struct emu_call asked; /* with its caller's buffers */
    struct emu_call made;  /* with those below */
    void *input, *output;
    uint64_t *ledger;
    uint64_t output_bytes; /* that both calls have room for */
};

/* `made` is `asked` with some fields changed. EMU_ENOMEM, EMU_ERANGE (sizes that do not fit). */
EMU_MUST_CHECK enum emu_status emu_call_scratch_init(struct emu_call_scratch *scratch,
                                                     const struct emu_rank *rank,
                                                     const struct emu_call *asked,
                                                     const struct emu_call *made);

/* Hand the result to the caller's buffers, which must still be there. */
void emu_call_scratch_return(const struct emu_call_scratch *scratch);

/* Accepts a zeroed one. */
void emu_call_scratch_finish(struct emu_call_scratch *scratch);

#endif
