/* May this call be made at all?
 *
 * Looks at nothing but the call, the roster and the caller: what the other members ask for is the
 * slot's affair. Arguments that the kind or the member does not use are not looked at.
 */
#ifndef EMU_COMM_ARGUMENTS_H
#define EMU_COMM_ARGUMENTS_H

#include "mesh/roster.h"

#include <meshemu/comm.h>

struct emu_refusal {
    enum emu_status status; /* EMU_EINVAL or EMU_ENOTMEMBER */
    char text[128];         /* what was wrong and what was allowed */
};

/* EMU_OK, or the refusal's status with *refusal filled (NULL: nobody wants to know why). */
EMU_MUST_CHECK enum emu_status emu_call_check(const struct emu_roster *roster, uint32_t rank,
                                              const struct emu_call *call,
                                              struct emu_refusal *refusal);

/* The same of a collective whose group is known: the caller is member `index` of `size`. */
enum emu_status emu_call_check_member(const struct emu_call *call, uint32_t index, uint32_t size,
                                      struct emu_refusal *refusal);

#endif
