/* Where do incidents lie?
 *
 *   0    taken     tickets given out
 *   64   entry 0   ready, then the incident      one writer each: who drew the ticket
 *        ...       EMU_INCIDENT_MAX of them
 *
 * word    writers     readers   order            publishes     a stale read costs
 * taken   any, +1     any       relaxed          nothing       - (a ticket is its own proof)
 * ready   its writer  launcher  release/acquire  the incident  one more round, after news
 */
#ifndef EMU_SEG_INCIDENT_WORDS_H
#define EMU_SEG_INCIDENT_WORDS_H

#include "seg/header.h"
#include "seg/incident.h"

struct emu_incident_entry {
    alignas(EMU_LINE) _Atomic uint32_t ready;
    struct emu_incident incident;
};

struct emu_incident_list {
    _Atomic uint32_t taken;
    struct emu_incident_entry entries[EMU_INCIDENT_MAX];
};
_Static_assert(sizeof(struct emu_incident_entry) % EMU_LINE == 0, "whole lines");

/* Append and post news; at_ns is set here. Beyond EMU_INCIDENT_MAX it is only counted. Missing
 * peers are left out once the run was ended: they ended because of that. */
void emu_incident_append(const struct emu_segment *segment, struct emu_incident *incident);

#endif
