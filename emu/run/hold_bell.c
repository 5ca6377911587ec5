#include "run/hold_bell.h"

#include "os/stream.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

enum emu_status emu_hold_bell_init(struct emu_hold_bell *bell, struct emu_reason *reason)
{
    bell->finding = NULL;
    atomic_init(&bell->closed, false);
    bell->asked = emu_event_create();
    bell->answered = emu_event_create();
    if (bell->asked >= 0 && bell->answered >= 0)
        return EMU_OK;
    emu_reason_set(reason, "cannot watch the auditor: %s", strerror(errno));
    emu_hold_bell_finish(bell);
    return EMU_ESYSTEM;
}

void emu_hold_bell_finish(struct emu_hold_bell *bell)
{
    emu_stream_close(&bell->asked);
    emu_stream_close(&bell->answered);
}

void emu_hold_bell_ring(struct emu_hold_bell *bell, const struct emu_finding *finding)
{
    if (!bell || atomic_load_explicit(&bell->closed, memory_order_acquire))
        return;
    bell->finding = finding;
    emu_event_post(bell->asked);
    struct pollfd answer = {.fd = bell->answered, .events = POLLIN};
    while (poll(&answer, 1, -1) < 0)
        ;
    if (!atomic_load_explicit(&bell->closed, memory_order_acquire))
        emu_event_take(bell->answered);
}

bool emu_hold_bell_asked(struct emu_hold_bell *bell)
{
    return emu_event_take(bell->asked);
}

void emu_hold_bell_answer(struct emu_hold_bell *bell)
{
    emu_event_post(bell->answered);
}

void emu_hold_bell_close(struct emu_hold_bell *bell)
{
    atomic_store_explicit(&bell->closed, true, memory_order_release);
    emu_event_post(bell->answered);
}
