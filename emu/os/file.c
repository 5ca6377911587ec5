#include "os/file.h"

#include "os/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Read on until the end or until more than `limit` bytes are there. */
static enum emu_status read_all(int fd, size_t limit, char **data, size_t *size)
{
    size_t room = 0, used = 0;
    char *bytes = NULL;
    for (;;) {
        if (used + 1 >= room) {
            size_t more = room ? room * 2 : 4096;
            char *grown = realloc(bytes, more);
            if (!grown) {
                free(bytes);
                return EMU_ENOMEM;
            }
            bytes = grown;
            room = more;
        }
        ssize_t got = read(fd, bytes + used, room - used - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(bytes);
            return EMU_ESYSTEM;
        }
        used += (size_t)got;
        if (got == 0 || used > limit)
            break;
    }
    bytes[used] = '\0';
    *data = bytes;
    *size = used;
    return EMU_OK;
}

/* A device gives what nobody wrote, may have no end, and may wait for ever. Below 0: the reason. */
static int open_file(const char *path, struct emu_reason *reason)
{
    struct stat kind;
    int fd = *path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (!*path)
        emu_reason_set(reason, "a file needs a name, this one is empty");
    else if (fd < 0)
        emu_reason_set(reason, "cannot open %s: %s", path, strerror(errno));
    if (fd < 0 || fstat(fd, &kind) != 0 || (!S_ISCHR(kind.st_mode) && !S_ISBLK(kind.st_mode)))
        return fd;
    close(fd);
    emu_reason_set(reason, "cannot read %s: it is a device; files and pipes are read", path);
    return -1;
}

enum emu_status emu_file_read(const char *path, size_t limit, char **data, size_t *size,
                              struct emu_reason *reason)
{
    int fd = open_file(path, reason);
    if (fd < 0)
        return EMU_ESYSTEM;
    char *bytes;
    size_t used;
    enum emu_status status = read_all(fd, limit, &bytes, &used);
    int error = errno;
    close(fd);
    if (status == EMU_ENOMEM) {
        emu_reason_set(reason, "cannot read %s: out of memory", path);
        return status;
    }
    if (status != EMU_OK)
        return emu_reason_set(reason, "cannot read %s: %s", path, strerror(error));
    if (used > limit) {
        free(bytes);
        return emu_reason_set(reason, "%s is too long: at most %s are read", path,
                              emu_size_text(limit).text);
    }
    *data = bytes;
    *size = used;
    return EMU_OK;
}

/* A write beyond RLIMIT_FSIZE would kill the process with SIGXFSZ. */
static bool file_size_allowed(size_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           size <= limit.rlim_cur;
}

static enum emu_status write_and_close(int fd, const void *data, size_t size)
{
    bool written = emu_stream_write(fd, data, size);
    int error = errno;
    if (close(fd) != 0 && written) {
        error = errno;
        written = false;
    }
    errno = error;
    return written ? EMU_OK : EMU_ESYSTEM;
}

/* Write beside `target` and rename. `mode` is what the file shall have. */
static enum emu_status replace(const char *target, mode_t mode, const void *data, size_t size)
{
    char beside[PATH_MAX];
    int length = snprintf(beside, sizeof beside, "%s.XXXXXX", target);
    if (length < 0 || (size_t)length >= sizeof beside) {
        errno = ENAMETOOLONG;
        return EMU_ESYSTEM;
    }
    int fd = mkostemp(beside, O_CLOEXEC);
    if (fd < 0)
        return EMU_ESYSTEM;
    bool good = fchmod(fd, mode) == 0;
    if (!good)
        close(fd);
    else
        good = write_and_close(fd, data, size) == EMU_OK && rename(beside, target) == 0;
    if (good)
        return EMU_OK;
    int error = errno;
    unlink(beside);
    errno = error;
    return EMU_ESYSTEM;
}

static mode_t fresh_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

enum emu_status emu_file_write(const char *path, const void *data, size_t size,
                               struct emu_reason *reason)
{
    struct stat old;
    bool exists = stat(path, &old) == 0;
    enum emu_status status;
    if (exists && !S_ISREG(old.st_mode)) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        status = fd < 0 ? EMU_ESYSTEM : write_and_close(fd, data, size);
    } else if (!file_size_allowed(size)) {
        return emu_reason_set(reason,
                              "cannot write %s: it needs %s, the limit on file sizes allows less; "
                              "raise it with: ulimit -f unlimited",
                              path, emu_size_text(size).text);
    } else {
        char *real = exists ? realpath(path, NULL) : NULL;
        mode_t mode = exists ? old.st_mode & 07777 : fresh_mode();
        status = replace(real ? real : path, mode, data, size);
        free(real);
    }
    if (status != EMU_OK)
        return emu_reason_set(reason, "cannot write %s: %s", path, strerror(errno));
    return EMU_OK;
}

bool emu_file_peek(const char *path, char *text, size_t room)
{
    text[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t used = 0;
    while (used < room - 1) {
        ssize_t got = read(fd, text + used, room - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    close(fd);
    text[used] = '\0';
    return used > 0;
}
