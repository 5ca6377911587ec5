#include "os/map.h"

#include "os/limits.h"
#include "os/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A fresh object in /dev/shm that has no name any more. */
static int open_named(struct emu_reason *reason)
{
    static atomic_uint ticket;
    for (int tries = 0; tries < 100; tries++) {
        char name[64];
        /* relaxed: only the number must be fresh, nothing is published by it */
        unsigned number = atomic_fetch_add_explicit(&ticket, 1, memory_order_relaxed);
        snprintf(name, sizeof name, "/meshemu-%ld-%u", (long)getpid(), number);
        int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0) {
            shm_unlink(name);
            return fd;
        }
        if (errno != EEXIST)
            break;
    }
    emu_reason_set(reason, "cannot create shared memory in /dev/shm: %s", strerror(errno));
    return -1;
}

static int open_object(enum emu_map_source source, bool *reserve, struct emu_reason *reason)
{
    *reserve = false;
    if (source == EMU_MAP_BEST) {
        int fd = memfd_create("meshemu", MFD_CLOEXEC);
        if (fd >= 0)
            return fd;
        if (errno != ENOSYS) {
            emu_reason_set(reason, "cannot create shared memory: %s", strerror(errno));
            return -1;
        }
    }
    *reserve = true;
    return open_named(reason);
}

/* posix_fallocate answers an error number and leaves errno alone. */
static enum emu_status reserve_pages(int fd, uint64_t bytes, const char *advice,
                                     struct emu_reason *reason)
{
    int error;
    do
        error = posix_fallocate(fd, 0, (off_t)bytes);
    while (error == EINTR);
    if (error == 0)
        return EMU_OK;
    return emu_reason_set(reason,
                          "the shared segment needs %s, /dev/shm has no room for it (%s): %s, or "
                          "enlarge it with: mount -o remount,size=%lluM /dev/shm",
                          emu_size_text(bytes).text, strerror(error), advice,
                          (unsigned long long)(bytes >> 20) * 2 + 64);
}

static enum emu_status size_object(int fd, uint64_t bytes, struct emu_reason *reason)
{
    if (ftruncate(fd, (off_t)bytes) == 0)
        return EMU_OK;
    return emu_reason_set(reason, "cannot reserve %s of shared memory: %s",
                          emu_size_text(bytes).text, strerror(errno));
}

enum emu_status emu_map_create(uint64_t bytes, enum emu_map_source source, const char *advice,
                               struct emu_map *map, struct emu_reason *reason)
{
    enum emu_status status = emu_limits_check_memory("", bytes, advice, reason);
    if (status != EMU_OK)
        return status;
    if (bytes == 0 || bytes > INT64_MAX)
        return emu_reason_set(reason, "a shared segment of %s cannot exist",
                              emu_size_text(bytes).text);
    bool reserve;
    int fd = open_object(source, &reserve, reason);
    if (fd < 0)
        return EMU_ESYSTEM;
    status = reserve ? reserve_pages(fd, bytes, advice, reason) : size_object(fd, bytes, reason);
    void *base = MAP_FAILED;
    if (status == EMU_OK) {
        base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (base == MAP_FAILED)
            status = emu_reason_set(reason, "cannot map %s of shared memory: %s",
                                    emu_size_text(bytes).text, strerror(errno));
    }
    emu_stream_close(&fd);
    if (status != EMU_OK)
        return status;
    map->base = base;
    map->bytes = bytes;
    return EMU_OK;
}

void emu_map_destroy(struct emu_map *map)
{
    if (map->base)
        munmap(map->base, map->bytes);
    *map = (struct emu_map){0};
}
