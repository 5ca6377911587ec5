#include "os/in_child.h"
#include "os/map.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>

TestSuite(os_map, .timeout = 30);

static const char advice[] = "use fewer ranks";

static int fill_byte(void *context)
{
    const struct emu_map *map = context;
    ((unsigned char *)map->base)[4096] = 77;
    return 0;
}

static void check_shared(enum emu_map_source source)
{
    struct emu_map map = {0};
    struct emu_reason reason;
    cr_assert_eq(emu_map_create(8192, source, advice, &map, &reason), EMU_OK, "%s", reason.text);
    cr_assert_eq(((unsigned char *)map.base)[4096], 0);
    cr_assert_eq(run_in_child(fill_byte, &map, 10), 0);
    cr_assert_eq(((unsigned char *)map.base)[4096], 77);
    emu_map_destroy(&map);
    cr_assert_null(map.base);
}

Test(os_map, a_child_writes_and_the_parent_reads)
{
    check_shared(EMU_MAP_BEST);
}

/* Pages that both processes have touched count half for each; others whole, for who has them. */
static int charged_half_of_what_two_share(void *context)
{
    const struct emu_map *map = context;
    uint64_t bytes = 0;
    volatile unsigned char *base = map->base;
    for (uint64_t page = 0; page < 8; page++)
        (void)base[4096 * page];
    if (!emu_map_pss(map, &bytes))
        return 1;
    return bytes == 4 * 4096 ? 0 : 2;
}

Test(os_map, the_kernel_charges_a_page_to_all_who_use_it)
{
    struct emu_map map = {0};
    struct emu_reason reason;
    uint64_t bytes = 77;
    cr_assert_not(emu_map_pss(&map, &bytes));
    cr_assert_eq(bytes, 77);
    cr_assert_eq(emu_map_create(65536, EMU_MAP_BEST, advice, &map, &reason), EMU_OK);
    memset(map.base, 1, 8 * 4096);
    cr_assert(emu_map_pss(&map, &bytes));
    cr_assert_eq(bytes, 8 * 4096);
    cr_assert_eq(run_in_child(charged_half_of_what_two_share, &map, 10), 0);
    emu_map_destroy(&map);
}

Test(os_map, the_named_object_is_shared_too)
{
    check_shared(EMU_MAP_NAMED);
}

/* 0: refused, and the reason holds `want`. */
static int expect_refusal(uint64_t bytes, enum emu_map_source source, const char *want)
{
    struct emu_map map = {0};
    struct emu_reason reason;
    if (emu_map_create(bytes, source, advice, &map, &reason) != EMU_ESYSTEM)
        return 1;
    if (!strstr(reason.text, want) || !strstr(reason.text, advice))
        return 2;
    return map.base ? 3 : 0;
}

static int with_small_address_space(void *context)
{
    (void)context;
    struct rlimit limit = {1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 9;
    return expect_refusal(UINT64_C(12) << 30, EMU_MAP_BEST, "needs 12.0 GiB, the limit on address");
}

Test(os_map, a_small_address_space_is_a_reason)
{
    cr_assert_eq(run_in_child(with_small_address_space, NULL, 10), 0);
}

static int with_small_files(void *context)
{
    const enum emu_map_source *source = context;
    struct rlimit limit = {65536, 65536};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 9;
    return expect_refusal(1 << 20, *source,
                          "needs 1.0 MiB, the limit on file sizes allows 64.0 KiB");
}

Test(os_map, a_small_file_size_is_a_reason_and_no_signal)
{
    enum emu_map_source best = EMU_MAP_BEST, named = EMU_MAP_NAMED;
    cr_assert_eq(run_in_child(with_small_files, &best, 10), 0);
    cr_assert_eq(run_in_child(with_small_files, &named, 10), 0);
}

Test(os_map, more_than_the_machine_has_is_refused)
{
    cr_assert_eq(expect_refusal(UINT64_C(1) << 50, EMU_MAP_BEST, "needs 1.0 PiB"), 0);
}

Test(os_map, nothing_and_too_much_are_refused)
{
    struct emu_map map = {0};
    struct emu_reason reason;
    cr_assert_eq(emu_map_create(0, EMU_MAP_BEST, advice, &map, &reason), EMU_ESYSTEM);
    cr_assert_eq(emu_map_create(UINT64_MAX, EMU_MAP_BEST, advice, &map, &reason), EMU_ESYSTEM);
}

static bool put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return good;
}

/* A mount namespace of our own; without root, inside a user namespace in which we are root. */
static bool enter_namespace(void)
{
    char users[64], groups[64];
    if (geteuid() == 0)
        return unshare(CLONE_NEWNS) == 0;
    snprintf(users, sizeof users, "0 %u 1", (unsigned)geteuid());
    snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getegid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && put("/proc/self/uid_map", users) &&
           put("/proc/self/setgroups", "deny") && put("/proc/self/gid_map", groups);
}

/* /dev/shm holds 64 KiB; 77 where we may not make it so. */
static int with_full_dev_shm(void *context)
{
    (void)context;
    if (!enter_namespace() || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=64k,mode=1777") != 0)
        return 77;
    int code = expect_refusal(1 << 20, EMU_MAP_NAMED, "/dev/shm has no room");
    return code ? code : 4 * (access("/dev/shm/.", F_OK) != 0);
}

Test(os_map, a_full_dev_shm_is_a_reason_and_no_bus_error)
{
    int code = run_in_child(with_full_dev_shm, NULL, 10);
    if (code == 77)
        cr_skip_test("no mount namespace here");
    cr_assert_eq(code, 0);
}
