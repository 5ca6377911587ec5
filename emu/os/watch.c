#include "os/watch.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>

#define TURN 64 /* descriptors in one answer of the kernel */

int emu_watch_create(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

bool emu_watch_add(int watch, int fd, uint64_t token)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = token};
    return epoll_ctl(watch, EPOLL_CTL_ADD, fd, &event) == 0;
}

void emu_watch_remove(int watch, int fd)
{
    epoll_ctl(watch, EPOLL_CTL_DEL, fd, NULL);
}

int emu_watch_wait(int watch, uint64_t *tokens, int room, int timeout_ms)
{
    struct epoll_event events[TURN];
    int count = epoll_wait(watch, events, room < TURN ? room : TURN, timeout_ms);
    if (count < 0)
        return errno == EINTR ? 0 : -1;
    for (int i = 0; i < count; i++)
        tokens[i] = events[i].data.u64;
    return count;
}
