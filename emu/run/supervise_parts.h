/* What the parts of the supervisor share: supervise.c hears of events, supervise_waits.c of ranks
 * that cannot go on. Private to them. */
#ifndef EMU_RUN_SUPERVISE_PARTS_H
#define EMU_RUN_SUPERVISE_PARTS_H

#include "run/supervise.h"

/* Begin to end the run. */
void emu_supervision_end(struct emu_supervision *supervision, enum emu_end_cause cause);

/* --stop-on-finding: hold the ranks at the first fault. */
void emu_supervision_hold(struct emu_supervision *supervision);

/* All ranks, their last calls and all messages, now; event_ns: what it is about. O(ranks). */
void emu_supervision_take_scene(struct emu_supervision *supervision, uint64_t event_ns);

/* Tell the inquest of calls that broke. */
void emu_supervision_read(struct emu_supervision *supervision);

/* What has become of this rank's process? */
void emu_supervision_look_at(struct emu_supervision *supervision, uint32_t rank, uint64_t event_ns);

/* If it is time: are there ranks that cannot go on, that keep others waiting, that are stopped? */
void emu_supervision_watch(struct emu_supervision *supervision);

/* All ranks are gone: messages that nobody received. */
void emu_supervision_find_lost(struct emu_supervision *supervision);

#endif
