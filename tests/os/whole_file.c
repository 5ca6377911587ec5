#include "os/file.h"
#include "os/in_child.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

TestSuite(os_file, .timeout = 30);

static char folder[64], path[128];

static void make_folder(void)
{
    strcpy(folder, "/tmp/meshemu-file-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a", folder);
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

Test(os_file, what_was_written_is_read, .init = make_folder, .fini = remove_folder)
{
    static const char bytes[] = "a\0b\n";
    char *data;
    size_t size;
    struct emu_reason reason;
    cr_assert_eq(emu_file_write(path, bytes, 4, &reason), EMU_OK, "%s", reason.text);
    cr_assert_eq(emu_file_read(path, 4, &data, &size, &reason), EMU_OK, "%s", reason.text);
    cr_assert_eq(size, 4);
    cr_assert_arr_eq(data, bytes, 5);
    free(data);
}

Test(os_file, a_large_file_survives, .init = make_folder, .fini = remove_folder)
{
    size_t size = 3000017;
    char *bytes = malloc(size), *data;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 31);
    cr_assert_eq(emu_file_write(path, bytes, size, NULL), EMU_OK);
    size_t got;
    cr_assert_eq(emu_file_read(path, size, &data, &got, NULL), EMU_OK);
    cr_assert(got == size && memcmp(bytes, data, size) == 0);
    free(bytes);
    free(data);
}

Test(os_file, too_long_is_refused, .init = make_folder, .fini = remove_folder)
{
    char *data;
    size_t size;
    struct emu_reason reason;
    cr_assert_eq(emu_file_write(path, "12345", 5, &reason), EMU_OK);
    cr_assert_eq(emu_file_read(path, 4, &data, &size, &reason), EMU_ESYSTEM);
    cr_assert_not_null(strstr(reason.text, "at most 4 B"));
}

Test(os_file, devices_are_refused_unread)
{
    char *data;
    size_t size;
    struct emu_reason reason;
    cr_assert_eq(emu_file_read("/dev/zero", SIZE_MAX / 2, &data, &size, &reason), EMU_ESYSTEM);
    cr_assert_not_null(strstr(reason.text, "it is a device"));
}

Test(os_file, a_named_pipe_is_read, .init = make_folder, .fini = remove_folder)
{
    char *data, command[256];
    size_t size;
    struct emu_reason reason;
    cr_assert_eq(mkfifo(path, 0600), 0);
    snprintf(command, sizeof command, "printf abc >%s &", path);
    cr_assert_eq(system(command), 0);
    cr_assert_eq(emu_file_read(path, 3, &data, &size, &reason), EMU_OK, "%s", reason.text);
    cr_assert_str_eq(data, "abc");
    free(data);
}

Test(os_file, what_cannot_be_read_says_why, .init = make_folder, .fini = remove_folder)
{
    char *data;
    size_t size;
    struct emu_reason reason;
    cr_assert_eq(emu_file_read(path, 4, &data, &size, &reason), EMU_ESYSTEM);
    cr_assert_not_null(strstr(reason.text, "No such file"));
    cr_assert_eq(emu_file_read(folder, 4, &data, &size, &reason), EMU_ESYSTEM);
    cr_assert_not_null(strstr(reason.text, "Is a directory"));
    cr_assert_eq(emu_file_read("", 4, &data, &size, &reason), EMU_ESYSTEM);
    cr_assert_not_null(strstr(reason.text, "needs a name"));
}

Test(os_file, a_new_file_replaces_the_old_and_keeps_its_mode, .init = make_folder,
     .fini = remove_folder)
{
    struct stat now;
    char link[128], command[128];
    cr_assert_eq(emu_file_write(path, "old", 3, NULL), EMU_OK);
    cr_assert_eq(chmod(path, 0640), 0);
    snprintf(link, sizeof link, "%s/link", folder);
    cr_assert_eq(symlink(path, link), 0);
    cr_assert_eq(emu_file_write(link, "newer", 5, NULL), EMU_OK);
    cr_assert_eq(lstat(link, &now), 0);
    cr_assert(S_ISLNK(now.st_mode));
    cr_assert_eq(stat(path, &now), 0);
    cr_assert_eq(now.st_mode & 07777, 0640);
    cr_assert_eq(now.st_size, 5);
    snprintf(command, sizeof command, "test $(ls %s | wc -l) = 2", folder);
    cr_assert_eq(system(command), 0, "something was left beside the file");
}

Test(os_file, a_device_is_written_to_and_stays)
{
    struct stat now;
    cr_assert_eq(emu_file_write("/dev/null", "x", 1, NULL), EMU_OK);
    cr_assert_eq(stat("/dev/null", &now), 0);
    cr_assert(S_ISCHR(now.st_mode));
    struct emu_reason reason;
    cr_assert_eq(emu_file_write("/dev/full", "x", 1, &reason), EMU_ESYSTEM);
    cr_assert_not_null(strstr(reason.text, "No space left"));
}

static int with_small_files(void *context)
{
    (void)context;
    struct rlimit limit = {4, 4};
    struct emu_reason reason;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 9;
    if (emu_file_write(path, "12345", 5, &reason) != EMU_ESYSTEM)
        return 1;
    return strstr(reason.text, "ulimit -f") ? 0 : 2;
}

Test(os_file, a_refused_write_leaves_the_old_file, .init = make_folder, .fini = remove_folder)
{
    char *data;
    size_t size;
    cr_assert_eq(emu_file_write(path, "old", 3, NULL), EMU_OK);
    cr_assert_eq(run_in_child(with_small_files, NULL, 10), 0);
    cr_assert_eq(emu_file_read(path, 10, &data, &size, NULL), EMU_OK);
    cr_assert_str_eq(data, "old");
    free(data);
}
