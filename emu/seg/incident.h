/* Which calls broke, why, and what had each member asked for?
 *
 * The process that decides BROKEN appends one incident (a ticket from an atomic counter, then the
 * entry, then its ready word with release). The list is bounded: the first EMU_INCIDENT_MAX are
 * kept, the others only counted. A broken slot is never reused, so its signatures stay readable.
 */
#ifndef EMU_SEG_INCIDENT_H
#define EMU_SEG_INCIDENT_H

#include "seg/segment.h"

#include <meshemu/finding.h>

#include <stdbool.h>
#include <stdint.h>

#define EMU_INCIDENT_MAX 64

enum emu_incident_cause {
    EMU_INCIDENT_MISMATCH, /* signatures differ */
    EMU_INCIDENT_PEER,     /* a member failed or ended before it posted */
    EMU_INCIDENT_ARGUMENT, /* a call was refused: see status; rank is the caller */
    EMU_INCIDENT_MESSAGE,  /* a receive met a message that it cannot take: another dtype, or more
                              elements than it has room for */
    EMU_INCIDENT_CORRUPT,  /* a member's bytes do not fit their checksum: rank sent, caller read */
};

struct emu_incident {
    enum emu_incident_cause cause;
    enum emu_status status; /* what the callers were told */
    uint32_t rank;          /* the one that decided; PEER: the rank that failed; ARGUMENT,
                               MESSAGE: the caller */
    uint32_t group;         /* EMU_GROUP_SELF for messages: then `call` is the receive (or send) */
    uint32_t caller;        /* PEER of a message: who waited for it; CORRUPT: who read */
    uint64_t index;
    uint64_t enabled_ns;       /* when the last signature was posted, or the failure was seen */
    uint64_t at_ns;            /* when it was decided */
    struct emu_call_view call; /* ARGUMENT: the refused call; MESSAGE: the receive; CORRUPT */
    struct emu_call_view sent; /* MESSAGE: the send */
    char text[128];            /* ARGUMENT, MESSAGE: what was wrong and what was allowed */
};

/* Incident number i (from 0); false while there is none. */
bool emu_incident_read(const struct emu_segment *segment, uint32_t i, struct emu_incident *out);

/* Incidents so far, those that were not kept included. */
uint32_t emu_incident_count(const struct emu_segment *segment);

/* What each member of a slot posted, in group order: room for group size entries. has_call is false
 * for members that had not posted. Fills rank and call; leaves state empty. */
void emu_slot_members(const struct emu_segment *segment, uint32_t group, uint64_t index,
                      struct emu_member_view *members);

#endif
