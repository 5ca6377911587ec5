/* How does the context window cross the borders of context-parallel slices?
 *
 * A rank embeds the positions that it owns, and the context before the sequence. What its windows
 * need of earlier runs comes from their owners: forward the embedded bytes; backward their
 * gradients return to the owner, who adds them to its own, in the order of the runs. Then each
 * embedded position is scattered to the table once.
 *
 * Extended buffer, for each sequence of the microbatch, for each own run:
 *     `context` positions before the run, then the run itself, each `embed` wide
 * so that the window of position j is `context` positions in a row, from j - start on.
 *
 * Messages go pair by pair in one order that all ranks share (needed run, then giving run),
 * blocking: of all ranks that wait, the pair that is lowest in that order can always go on.
 */
#ifndef EMU_TRAIN_HALO_H
#define EMU_TRAIN_HALO_H

#include "plan/positions.h"
#include "train/carve.h"
#include "train/corpus.h"
#include "train/trainer.h"

struct emu_halo_run {
    uint32_t run;
    struct emu_slice positions;
    uint64_t at; /* first extended position, within the sequence's part */
};

struct emu_halo {
    struct emu_halo_run runs[2];
    uint32_t run_count;
    uint64_t extended; /* positions of one sequence's part */
    uint8_t *bytes;    /* (sequences, extended): what is embedded; 0 where another rank does it */
    void *values;      /* (sequences, extended, embed) */
    void *gradients;   /* likewise */
    void *message;     /* (sequences, context, embed) */
};

/* Layout for a cp coordinate, and its buffers for up to `sequences` sequences. */
void emu_halo_carve(const struct emu_plan *plan, uint32_t cp_index, uint64_t sequences,
                    struct emu_carver *carver, struct emu_halo *halo);

/* Fill in the bytes of sequence `n` of the file as the i-th of the microbatch. */
void emu_halo_load(const struct emu_trainer *trainer, struct emu_halo *halo, uint64_t n,
                   uint64_t i);

/* values holds what this rank embedded: fill in what others own. `tag` tells microbatches apart. */
EMU_MUST_CHECK enum emu_status emu_halo_forward(struct emu_trainer *trainer, struct emu_halo *halo,
                                                int32_t tag, uint64_t sequences);

/* gradients holds what the windows gave: hand over what belongs to others, add what they hand over.
 * What belongs to others is 0 after. */
EMU_MUST_CHECK enum emu_status emu_halo_backward(struct emu_trainer *trainer, struct emu_halo *halo,
                                                 int32_t tag, uint64_t sequences);

/* windows (sequences * own positions, context * embed) from values, and back: gradients = their
 * sums. */
void emu_halo_gather(const struct emu_trainer *trainer, const struct emu_halo *halo,
                     uint64_t sequences, void *windows);
void emu_halo_scatter(const struct emu_trainer *trainer, struct emu_halo *halo, uint64_t sequences,
                      const void *windows);

#endif
