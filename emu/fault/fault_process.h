/* How does a rank end, stop or dawdle on purpose? The kinds that act by process. */
#ifndef EMU_FAULT_FAULT_PROCESS_H
#define EMU_FAULT_FAULT_PROCESS_H

#include "fault/fault.h"

/* Do it to the calling process; returns only after delay and after a stop that was continued. */
void emu_fault_process_act(const struct emu_fault *fault);

#endif
