/* Where does each shared thing lie, and who may touch it?
 *
 * One mapping, made by the launcher before the first fork, holds all that the ranks share. It is
 * cut into regions by one pure function; every reference inside it is an offset from the base.
 *
 *   offset 0   header     magic, layout version, sizes, abort word, news word        one page
 *              strips     one per rank: its board: state, what it waits for, epoch,   (board.h)
 *                         progress; and its last 256 calls                            (recorder.h)
 *              gates      barriers between the ranks and the launcher                 (gate.h)
 *              incidents  broken slots, in the order in which they broke              (incident.h)
 *              groups     per group: broken word, ring of slots, signatures           (slot.h)
 *              stages     per call in flight: where deposits lie while others read them
 *              outboxes   per rank: messages sent and not yet received                (outbox.h)
 *              sites      per rank: where its calls come from                         (sites.h)
 *              records    per rank: record_bytes, meaning known to the user of the segment
 *              arenas     per rank: arena_bytes, 64-byte aligned, page-aligned starts
 *
 * Only the pages that are touched cost memory. The pointers in struct emu_segment are private to
 * a process (equal in all of them, since the mapping is inherited).
 */
#ifndef EMU_SEG_SEGMENT_H
#define EMU_SEG_SEGMENT_H

#include "mesh/roster.h"
#include "os/ticks.h"
#include "seg/ways.h"

#include <meshemu/status.h>

#include <stdbool.h>
#include <stdint.h>

#define EMU_SEGMENT_MAGIC UINT64_C(0x6d657368656d7531) /* "meshemu1" */
#define EMU_SEGMENT_LAYOUT 2

struct emu_segment_params {
    const struct emu_roster *roster; /* borrowed; complete: no family is added later */
    uint64_t arena_bytes;            /* of each rank */
    uint64_t record_bytes;           /* of each rank */
    bool checksums;                  /* of the bytes that collectives move */
    const struct emu_ways *ways;     /* NULL: emu_ways_of the processors at hand */
};

struct emu_segment {
    const struct emu_roster *roster;
    uint32_t world;
    uint64_t bytes; /* of the whole mapping, a multiple of 4096 */
    uint64_t arena_bytes;
    uint64_t record_bytes;
    bool checksums;
    struct emu_ways ways;
    struct emu_ticks begun; /* when it was initialised: the recorders write ticks */
    uint64_t strips, gates, incidents, groups, stages, outboxes, sites, records, arenas;
    uint64_t stage_bytes;  /* of each rank */
    uint64_t outbox_bytes; /* of each rank */
    unsigned char *base;   /* NULL until emu_segment_init */
};

/* Compute sizes and offsets; makes no system call and touches no memory. EMU_ERANGE. */
EMU_MUST_CHECK enum emu_status emu_segment_plan(const struct emu_segment_params *params,
                                                struct emu_segment *segment);

/* Write the header into a zeroed mapping of segment->bytes, before any other process uses it. */
void emu_segment_init(struct emu_segment *segment, void *base);

unsigned char *emu_segment_arena(const struct emu_segment *segment, uint32_t rank);
unsigned char *emu_segment_record(const struct emu_segment *segment, uint32_t rank);

/* End the whole run: every wait of every rank returns EMU_EABORTED soon after. The first cause
 * stays. cause > 0. Callers: anyone, also a signal handler. */
void emu_abort_post(const struct emu_segment *segment, uint32_t cause);

/* 0: the run goes on. */
uint32_t emu_abort_look(const struct emu_segment *segment);

/* A rank has failed (or ended) and will make no further call: breaks every open slot in which it
 * has not posted, in all its groups, wakes all who wait there or for its messages, and makes
 * later calls on its groups answer EMU_EPEER. A slot that all members had posted in completes.
 * Caller: the launcher alone, after the kernel said that the process is gone. */
void emu_segment_fail_rank(const struct emu_segment *segment, uint32_t rank);

/* The same in two parts, for many ranks that went together: first each is lost, then all who live
 * are told at once. In between nobody is woken who waits for a message or at the gate. */
void emu_segment_lose_rank(const struct emu_segment *segment, uint32_t rank);
void emu_segment_tell_lost(const struct emu_segment *segment);

/* A counter that every process bumps (and wakes) when the launcher should look: a slot broke, a
 * rank ended its body. The launcher waits with a futex on it. */
uint32_t emu_news_look(const struct emu_segment *segment);
void emu_news_post(const struct emu_segment *segment);
/* Wait until news differs from seen or timeout_ns passed (< 0: for ever); returns the current. */
uint32_t emu_news_wait(const struct emu_segment *segment, uint32_t seen, int64_t timeout_ns);

#endif
