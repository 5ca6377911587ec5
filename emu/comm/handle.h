/* What is inside a rank's handle and a request? For the layers of the stack alone. */
#ifndef EMU_COMM_HANDLE_H
#define EMU_COMM_HANDLE_H

#include "base/arena.h"
#include "comm/rank.h"
#include "os/stopwatch.h"
#include "seg/note.h"
#include "seg/sites.h"

#include <stdbool.h>

/* The head of every layer's request. A layer that needs more puts this first in its own struct. */
struct emu_request {
    struct emu_call call;
    uint64_t record;   /* number in the flight recorder, set by the asked-recorder */
    uint64_t received; /* recv: elements, valid when it has ended well */
};

/* What every call looks at stands first. */
struct emu_rank {
    const struct emu_segment *segment; /* NULL: self */
    const struct emu_roster *roster;
    uint32_t id;
    bool strict;
    struct emu_layer *top;   /* asked-recorder */
    struct emu_layer *below; /* wire-recorder: where emu_rank_push puts layers on */
    uint64_t open_requests;
    struct emu_site_index sites;  /* with a segment only, like the next three */
    uint64_t recorded;            /* calls in the flight recorder */
    const struct emu_call *noted; /* the call that is on its way down the stack, if any */
    struct emu_note note;         /* of it */
    struct emu_phase_watch phases;
    struct emu_stopwatch stopwatch;
    struct emu_traffic asked, wired;
    struct emu_family_starts starts; /* of the roster */
    struct emu_segment own_segment;  /* what `segment` points to */
    uint64_t received;
    struct emu_arena arena;
    uint64_t *sent_to; /* by place, see emu_rank_sent_to; owned, made by the first message */
    uint64_t lent_calls;
    unsigned char *room, *room_end; /* see emu_handle_take */
};

/* The note of a call that is being started, but for its index. A filter may have put another call
 * in the place of the one that the asked-recorder saw: where it has not, the note is made only
 * once. */
void emu_rank_note(struct emu_rank *rank, const struct emu_call *call, struct emu_note *note);

/* Zeroed memory right behind the handle, gone with it: what every call touches lies in few pages.
 * NULL: it was more than EMU_HANDLE_ROOM in all, half of it for a backend and a quarter for each
 * recorder, and EMU_HANDLE_FAMILY_ROOM for each family. */
#define EMU_HANDLE_ROOM ((size_t)3072)
#define EMU_HANDLE_FAMILY_ROOM ((size_t)512)
void *emu_handle_take(struct emu_rank *rank, size_t bytes);

/* emu_rank_enter, for the layers. */
static inline enum emu_lap emu_handle_enter(struct emu_rank *rank, enum emu_lap lap)
{
    return (enum emu_lap)emu_stopwatch_enter(&rank->stopwatch, lap);
}

/* Backends and recorders. NULL: no memory. */
struct emu_layer *emu_shm_backend_create(struct emu_rank *rank);
struct emu_layer *emu_self_backend_create(struct emu_rank *rank);
struct emu_layer *emu_asked_recorder_create(struct emu_rank *rank, struct emu_layer *below);
struct emu_layer *emu_wire_recorder_create(struct emu_rank *rank, struct emu_layer *below);

#endif
