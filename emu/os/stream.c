#include "os/stream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

bool emu_stream_pipe(int ends[2])
{
    return pipe2(ends, O_CLOEXEC) == 0;
}

int emu_event_create(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void emu_event_post(int event)
{
    /* Fails only when the counter is full, and then it is readable anyway. */
    eventfd_write(event, 1);
}

bool emu_event_take(int event)
{
    eventfd_t count;
    return eventfd_read(event, &count) == 0;
}

bool emu_stream_unblock(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

ssize_t emu_stream_read(int fd, void *bytes, size_t room)
{
    for (;;) {
        ssize_t got = read(fd, bytes, room);
        if (got >= 0)
            return got;
        if (errno == EAGAIN)
            return -1;
        if (errno != EINTR)
            return -2;
    }
}

bool emu_stream_write(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t put = write(fd, at, size);
        if (put >= 0) {
            at += put;
            size -= (size_t)put;
        } else if (errno == EAGAIN) {
            struct pollfd room = {.fd = fd, .events = POLLOUT};
            poll(&room, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

void emu_stream_close(int *fd)
{
    int error = errno;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = error;
}

uint32_t emu_stream_count(void)
{
    DIR *directory = opendir("/proc/self/fd");
    if (!directory)
        return 0;
    uint32_t count = 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count - 1; /* the directory itself */
}
