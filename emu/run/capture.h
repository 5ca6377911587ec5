/* How is a scene taken of a mesh at work? Boards and recorders are copied out of the segment, fates
 * out of the crew. Nothing is stopped for it. */
#ifndef EMU_RUN_CAPTURE_H
#define EMU_RUN_CAPTURE_H

#include "check/scene.h"
#include "run/crew.h"

struct emu_capture {
    struct emu_scene scene;
    struct emu_rank_seen *ranks; /* owned, with the calls */
    struct emu_posted *posted;   /* owned */
};

EMU_MUST_CHECK enum emu_status emu_capture_init(struct emu_capture *capture,
                                                const struct emu_roster *roster);
void emu_capture_finish(struct emu_capture *capture);

/* Boards and fates of all ranks, now; forgets the calls of an earlier scene. */
void emu_capture_take(struct emu_capture *capture, const struct emu_segment *segment,
                      const struct emu_crew *crew, uint64_t event_ns);

/* Board and fate of one rank, now; the others stay as they were seen last. */
void emu_capture_rank(struct emu_capture *capture, const struct emu_segment *segment,
                      const struct emu_crew *crew, uint32_t rank, uint64_t event_ns);

/* And the newest `room` calls of one rank; none where memory runs out. */
void emu_capture_calls(struct emu_capture *capture, const struct emu_segment *segment,
                       uint32_t rank, uint32_t room);

/* And the messages that lie in the outboxes of all ranks; none where memory runs out. */
void emu_capture_posted(struct emu_capture *capture, const struct emu_segment *segment);

#endif
