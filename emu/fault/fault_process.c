#include "fault/fault_process.h"

#include "os/clock.h"
#include "os/process.h"
#include "os/self_signal.h"

#include <signal.h>

#define DELAY_NS UINT64_C(50000000)
#define STALL_TURN_NS UINT64_C(1000000000)

void emu_fault_process_act(const struct emu_fault *fault)
{
    switch (fault->kind) {
    case EMU_FAULT_CRASH:
        emu_self_kill((int)emu_fault_number(fault, EMU_KEY_SIGNAL, SIGKILL));
    case EMU_FAULT_EXIT:
        emu_process_end((int)emu_fault_number(fault, EMU_KEY_CODE, 1));
    case EMU_FAULT_STOP:
        emu_self_stop(emu_fault_number(fault, EMU_KEY_CONT_AFTER, 0));
        break;
    case EMU_FAULT_STALL:
        for (;;)
            emu_clock_sleep(STALL_TURN_NS);
    case EMU_FAULT_DELAY:
        emu_clock_sleep(emu_fault_number(fault, EMU_KEY_TIME, DELAY_NS));
        break;
    default: /* the others act elsewhere */
        break;
    }
}
