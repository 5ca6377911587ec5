#include "report/json_output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum emu_status refuse(struct emu_text *error, const char *verb, const char *path)
{
    emu_text_printf(error, "cannot %s %s: %s", verb, path, strerror(errno));
    return EMU_ESYSTEM;
}

/* The rights that a new file would get. umask can only be read by setting it. */
static mode_t default_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return (mode_t)(0666 & ~mask);
}

/* Where an open file may be linked from. */
#define LINK_MAX_BYTES 32
static void link_of(int fd, char link[LINK_MAX_BYTES])
{
    snprintf(link, LINK_MAX_BYTES, "/proc/self/fd/%d", fd);
}

/* A file without a name in the folder of `path`, which is gone with whoever holds it, whatever ends
 * that. -1: this file system has none, or there is no /proc to name it by later. */
static int open_nameless(const char *path)
{
    char link[LINK_MAX_BYTES];
    const char *slash = strrchr(path, '/');
    char *folder = slash ? emu_format("%.*s", (int)(slash - path) + 1, path) : strdup(".");
    int fd = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) : -1;
    free(folder);
    if (fd < 0)
        return -1;
    link_of(fd, link);
    if (access(link, F_OK) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Give it a name beside `path`, for the rename. NULL with errno. */
#define NAMES_TRIED 100
static char *name_it(int fd, const char *path)
{
    char link[LINK_MAX_BYTES];
    link_of(fd, link);
    for (int i = 0; i < NAMES_TRIED; i++) {
        char *name = emu_format("%s.%ld-%d", path, (long)getpid(), i);
        if (!name) {
            errno = ENOMEM;
            return NULL;
        }
        if (linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0)
            return name;
        int reason = errno;
        free(name);
        errno = reason;
        if (reason != EEXIST)
            return NULL;
    }
    return NULL;
}

/* A fresh file for what is to stand at `path`, open for writing; *name is NULL while it has none.
 * -1 with errno. */
static int make_temporary(const char *path, mode_t mode, char **name)
{
    *name = NULL;
    int nameless = open_nameless(path);
    if (nameless >= 0) {
        (void)!fchmod(nameless, mode); /* as below */
        return nameless;
    }
    char *made = emu_format("%s.XXXXXX", path);
    if (!made) {
        errno = ENOMEM;
        return -1;
    }
    int fd = mkostemp(made, O_CLOEXEC);
    if (fd < 0) {
        int reason = errno;
        free(made);
        errno = reason;
        return -1;
    }
    if (fchmod(fd, mode) != 0) {
        /* The report stays readable by its owner alone: no reason to lose it. */
        errno = 0;
    }
    *name = made;
    return fd;
}

/* The file that a signal would leave behind, and whose it is: forked children inherit the handler.
 * Written by the thread that opens and closes outputs, read by a handler; release/acquire: the name
 * is there when the pointer is. */
static _Atomic(const char *) unfinished;
static pid_t owner;

#define ENDING_COUNT 3
static const int endings[ENDING_COUNT] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[ENDING_COUNT];

static void end_by_signal(int number)
{
    const char *path = atomic_load_explicit(&unfinished, memory_order_acquire);
    if (path && getpid() == owner)
        unlink(path);
    signal(number, SIG_DFL);
    raise(number);
}

/* Until unguard a signal that would end us removes the file first. One file at a time. */
static void guard(const char *temporary)
{
    if (atomic_load_explicit(&unfinished, memory_order_acquire))
        return;
    owner = getpid();
    atomic_store_explicit(&unfinished, temporary, memory_order_release);
    struct sigaction action = {.sa_handler = end_by_signal};
    for (size_t i = 0; i < ENDING_COUNT; i++) {
        sigaction(endings[i], NULL, &before[i]);
        if (before[i].sa_handler == SIG_DFL)
            sigaction(endings[i], &action, NULL);
    }
}

static void unguard(const char *temporary)
{
    if (!temporary || atomic_load_explicit(&unfinished, memory_order_acquire) != temporary)
        return;
    for (size_t i = 0; i < ENDING_COUNT; i++)
        if (before[i].sa_handler == SIG_DFL)
            sigaction(endings[i], &before[i], NULL);
    atomic_store_explicit(&unfinished, NULL, memory_order_release);
}

static enum emu_status open_directly(struct emu_json_output *output, const char *path,
                                     struct emu_text *error)
{
    FILE *stream = fopen(path, "we");
    if (!stream)
        return refuse(error, "write", path);
    *output = (struct emu_json_output){.stream = stream};
    return EMU_OK;
}

/* `target` is the file itself, no link; it becomes the output's. */
static enum emu_status open_beside(struct emu_json_output *output, char *target, mode_t mode,
                                   struct emu_text *error)
{
    char *temporary;
    int fd = make_temporary(target, mode, &temporary);
    if (fd < 0) {
        enum emu_status status = refuse(error, "write", target);
        free(target);
        return status;
    }
    FILE *stream = fdopen(fd, "w");
    if (!stream) {
        enum emu_status status = refuse(error, "write", target);
        close(fd);
        if (temporary)
            unlink(temporary);
        free(temporary);
        free(target);
        return status;
    }
    if (temporary)
        guard(temporary);
    *output = (struct emu_json_output){.stream = stream, .path = target, .temporary = temporary};
    return EMU_OK;
}

enum emu_status emu_json_output_open(struct emu_json_output *output, const char *path,
                                     struct emu_text *error)
{
    if (strcmp(path, "-") == 0) {
        *output = (struct emu_json_output){.stream = stdout};
        return EMU_OK;
    }
    struct stat found;
    bool exists = stat(path, &found) == 0;
    if (!*path || (exists && !S_ISREG(found.st_mode)))
        return open_directly(output, path, error);
    char *target = exists ? realpath(path, NULL) : strdup(path);
    if (!target)
        return refuse(error, "write", path);
    mode_t mode = exists ? (mode_t)(found.st_mode & 0777) : default_mode();
    return open_beside(output, target, mode, error);
}

static void release(struct emu_json_output *output)
{
    unguard(output->temporary);
    free(output->path);
    free(output->temporary);
    *output = (struct emu_json_output){0};
}

/* Flush and close; stdout stays open. False with errno where anything was not written. */
static bool close_stream(FILE *stream)
{
    bool failed = ferror(stream) != 0;
    int reason = errno;
    if (fflush(stream) != 0) {
        failed = true;
        reason = errno;
    }
    if (stream != stdout && fclose(stream) != 0 && !failed) {
        failed = true;
        reason = errno;
    }
    errno = reason ? reason : EIO;
    return !failed;
}

/* All is written and, where it had none, named. False with errno. */
static bool make_whole(struct emu_json_output *output)
{
    if (output->path && !output->temporary) {
        if (ferror(output->stream) || fflush(output->stream) != 0)
            return close_stream(output->stream);
        output->temporary = name_it(fileno(output->stream), output->path);
        if (!output->temporary) {
            int reason = errno;
            fclose(output->stream);
            errno = reason;
            return false;
        }
    }
    return close_stream(output->stream);
}

enum emu_status emu_json_output_commit(struct emu_json_output *output, struct emu_text *error)
{
    const char *name = output->path ? output->path : "the JSON report";
    enum emu_status status = EMU_OK;
    if (!make_whole(output))
        status = refuse(error, "write", name);
    else if (output->path && rename(output->temporary, output->path) != 0)
        status = refuse(error, "write", name);
    if (status != EMU_OK && output->temporary)
        unlink(output->temporary);
    release(output);
    return status;
}

enum emu_status emu_json_output_end(struct emu_json_output *output, struct emu_json *json,
                                    struct emu_text *error)
{
    bool whole = emu_json_finish(json);
    enum emu_status status = emu_json_output_commit(output, error);
    assert(whole || status != EMU_OK); /* the stream remembers a failed write */
    (void)whole;
    return status;
}

void emu_json_output_discard(struct emu_json_output *output)
{
    if (!output->stream)
        return;
    if (output->stream != stdout)
        fclose(output->stream);
    if (output->temporary)
        unlink(output->temporary);
    release(output);
}
