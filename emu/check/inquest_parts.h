/* What the parts of the inquest share: inquest.c hears of processes and time, inquest_calls.c of
 * calls that broke, inquest_waits.c of waits that do not end. Private to them. */
#ifndef EMU_CHECK_INQUEST_PARTS_H
#define EMU_CHECK_INQUEST_PARTS_H

#include "check/inquest.h"

/* The finding at this place; NULL where there is none. */
struct emu_finding *emu_inquest_at(struct emu_inquest *inquest, size_t place);

/* The rank belongs to that finding, unless it belongs to one already. */
void emu_inquest_blame(struct emu_inquest *inquest, uint32_t rank, size_t place);

/* Count a finding for which there was no memory; returns place. */
size_t emu_inquest_count(struct emu_inquest *inquest, size_t place);

/* A rank has ended while another waits for it in a message: the finding. */
size_t emu_inquest_message(struct emu_inquest *inquest, const struct emu_scene *scene,
                           uint32_t waiting, const struct emu_call_view *call);

#endif
