/* What was every rank doing at one moment?
 *
 * The launcher takes a scene when something has happened: each rank's board, its last calls, and
 * what the kernel says about its process. Everything here is pure: the words of findings are made
 * from scenes alone, so they can be tested without a process. What came from the memory of a rank
 * that died may hold anything and is never used as an index.
 */
#ifndef EMU_CHECK_SCENE_H
#define EMU_CHECK_SCENE_H

#include "base/text.h"
#include "mesh/roster.h"
#include "seg/board.h"

#include <meshemu/finding.h>

#include <stdbool.h>
#include <stdint.h>

enum emu_fate {
    EMU_FATE_ALIVE,
    EMU_FATE_STOPPED, /* by SIGSTOP and its like; may go on */
    EMU_FATE_EXITED,  /* code: exit code */
    EMU_FATE_KILLED,  /* code: signal */
    EMU_FATE_ENDED,   /* by the launcher, because of something else */
    EMU_FATE_LOST     /* gone, and somebody else has taken its exit status */
};

struct emu_rank_seen {
    enum emu_fate fate;
    int code;
    struct emu_board_view board;
    bool stuck; /* its board says that it waits, but it is awake and does not move on */
    const struct emu_recorded_call *calls; /* the last ones, newest last; borrowed, may be NULL */
    uint32_t call_count;
};

/* A message that was sent and that nobody has received. */
struct emu_posted {
    uint32_t from, to;
    uint64_t sequence;         /* of its sender */
    struct emu_call_view call; /* the send */
};

struct emu_scene {
    const struct emu_roster *roster;
    const struct emu_rank_seen *ranks; /* one per rank of the mesh; borrowed */
    const struct emu_posted *posted;   /* borrowed; only where messages matter */
    size_t posted_count;
    uint64_t event_ns; /* CLOCK_MONOTONIC: what the finding is about */
    uint64_t now_ns;   /* when it was found */
};

bool emu_fate_is_gone(enum emu_fate fate);

/* Is the rank inside a call (and not in its own code or at the end of a step)? */
bool emu_board_in_call(const struct emu_board_view *board);

/* Is it past the begin of a call, where only its own doing can bring it on if it is awake? */
bool emu_board_inside_call(const struct emu_board_view *board);

/* The call a rank is in or was in last; NULL where it has made none. */
const struct emu_call_view *emu_scene_call(const struct emu_scene *scene, uint32_t rank);

/* Calls of a rank on a group, as far as its recorder tells; false where that is not far enough. */
bool emu_scene_group_calls(const struct emu_scene *scene, uint32_t rank, uint32_t group,
                           uint64_t *count);

/* "in this call" (of `here`, may be NULL), "in user code", "exited 3", "killed by SIGKILL", ... */
struct emu_state_text {
    char text[96];
};
struct emu_state_text emu_scene_state(const struct emu_scene *scene, uint32_t rank,
                                      const struct emu_call_view *here);

/* "all_reduce over tp #5", "send #0 to rank 3 with tag 7". */
void emu_call_text(struct emu_text *out, const struct emu_call_view *call);

/* "SIGKILL", "signal 99". */
void emu_signal_text(struct emu_text *out, int signal);

/* "rank 1", "ranks 0-2, 5" of a sorted list. */
void emu_ranks_text(struct emu_text *out, const uint32_t *ranks, size_t count);

/* "0-2, 5" of a sorted list without repetitions: at most so many ranges, then "...". */
void emu_ranges_text(struct emu_text *out, const uint32_t *ranks, size_t count, size_t most);

/* As emu_ranks_text, where there may be thousands: "1907 ranks (3, 5-9, ...)" beyond so many
 * ranges. */
#define EMU_RANGES_SHOWN 8
void emu_ranks_text_short(struct emu_text *out, const uint32_t *ranks, size_t count);

/* " in step 3, in its call 18: all_reduce over tp #5 (deposit)": where a rank's board says it is.
 */
void emu_place_text(struct emu_text *out, const struct emu_board_view *board);

/* "in its own code", "inside all_reduce over tp #5 (deposit)": of a rank that keeps others waiting.
 */
void emu_busy_text(struct emu_text *out, const struct emu_board_view *board);

/* The newest calls of a rank for the reader of a finding: "last calls of rank 3: ..., ...". */
void emu_scene_explain(const struct emu_scene *scene, uint32_t rank, struct emu_finding *finding);

/* All members of the finding's group (else of the world) with their state and call. */
void emu_scene_members(const struct emu_scene *scene, struct emu_finding *finding,
                       const struct emu_call_view *here);

#endif
