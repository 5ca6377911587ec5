#include "os/cgroup.h"
#include "os/file.h"
#include "os/in_child.h"
#include "os/kernel_limits.h"
#include "os/limits.h"
#include "os/stream.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

TestSuite(os_limits, .timeout = 30);

/* A folder that holds proc/ and sys/ as a machine would show them. */
static char root[64];

static void put(const char *path, const char *text)
{
    char name[512];
    snprintf(name, sizeof name, "%s/%s", root, path);
    for (char *slash = strchr(name + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, 0700);
        *slash = '/';
    }
    struct emu_reason reason;
    cr_assert_eq(emu_file_write(name, text, strlen(text), &reason), EMU_OK, "%s", reason.text);
}

static void make_root(void)
{
    strcpy(root, "/tmp/meshemu-limits-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
}

static void remove_root(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    cr_assert_eq(system(command), 0);
}

Test(os_limits, the_tightest_group_of_v2_counts, .init = make_root, .fini = remove_root)
{
    put("proc/self/cgroup", "0::/outer/inner\n");
    put("sys/fs/cgroup/outer/memory.max", "1000000\n");
    put("sys/fs/cgroup/outer/memory.current", "900000\n");
    put("sys/fs/cgroup/outer/memory.stat", "anon 5\ninactive_file 100000\nactive_file 300000\n");
    put("sys/fs/cgroup/outer/inner/memory.max", "600000\n");
    put("sys/fs/cgroup/outer/inner/memory.current", "50000\n");
    struct emu_cgroup_room got = emu_cgroup_memory(root);
    cr_assert(got.limited);
    cr_assert_eq(got.limit, 1000000);
    cr_assert_eq(got.used, 500000);
    cr_assert_eq(got.room, 500000);
    cr_assert_not_null(strstr(got.where, "outer/memory.max"));
}

Test(os_limits, a_container_shows_its_group_as_the_root, .init = make_root, .fini = remove_root)
{
    put("proc/self/cgroup", "3:cpu,memory:/docker/abc\n2:pids:/docker/abc\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "8589934592\n");
    put("sys/fs/cgroup/memory/memory.usage_in_bytes", "0\n");
    put("sys/fs/cgroup/pids/pids.max", "10\n");
    put("sys/fs/cgroup/pids/pids.current", "8\n");
    struct emu_reason reason;
    put("proc/meminfo", "MemTotal: 99999999 kB\nMemAvailable: 99999999 kB\nSwapFree: 0 kB\n");
    cr_assert_eq(emu_limits_check_memory(root, UINT64_C(12) << 30, "lower the arena", &reason),
                 EMU_ESYSTEM);
    cr_assert_not_null(strstr(reason.text, "needs 12.0 GiB, the memory cgroup allows 8.0 GiB"));
    cr_assert_not_null(strstr(reason.text, "lower the arena"));
    cr_assert_eq(emu_limits_check_memory(root, UINT64_C(7) << 30, "x", &reason), EMU_OK);
    cr_assert_eq(emu_limits_check_processes(root, 2, &reason), EMU_OK);
    cr_assert_eq(emu_limits_check_processes(root, 3, &reason), EMU_ESYSTEM);
    cr_assert_not_null(strstr(reason.text, "allows 2 more"));
}

Test(os_limits, no_number_is_no_limit, .init = make_root, .fini = remove_root)
{
    put("proc/self/cgroup", "1:memory:/\n0::/a\n");
    put("sys/fs/cgroup/a/memory.max", "max\n");
    put("sys/fs/cgroup/a/pids.max", "max\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    cr_assert_not(emu_cgroup_memory(root).limited);
    cr_assert_not(emu_cgroup_processes(root).limited);
}

Test(os_limits, available_memory_counts_swap, .init = make_root, .fini = remove_root)
{
    struct emu_reason reason;
    put("proc/meminfo", "MemTotal: 4000 kB\nMemAvailable: 1000 kB\nSwapFree: 1000 kB\n");
    cr_assert_eq(emu_limits_check_memory(root, 2000 * 1024, "x", &reason), EMU_OK);
    cr_assert_eq(emu_limits_check_memory(root, 2000 * 1024 + 1, "x", &reason), EMU_ESYSTEM);
    cr_assert_not_null(strstr(reason.text, "the machine has 2.0 MiB of memory available"));
}

/* A machine with room for 1000 tasks and 5000 files more. */
static void put_tables(void)
{
    put("proc/loadavg", "0.10 0.20 0.30 2/700 4711\n");
    put("proc/sys/kernel/pid_max", "2000\n");
    put("proc/sys/kernel/threads-max", "1700\n");
    put("proc/sys/fs/file-max", "9000\n");
    put("proc/sys/fs/file-nr", "4000\t0\t9000\n");
    put("proc/sys/fs/epoll/max_user_watches", "3000\n");
}

static void expect_refusal(struct emu_kernel_demand demand, const char *text)
{
    struct emu_reason reason = {""};
    cr_assert_eq(emu_limits_check_kernel(root, &demand, &reason), EMU_ESYSTEM, "%s", text);
    cr_assert_str_eq(reason.text, text);
}

Test(os_limits, each_table_of_the_kernel_has_its_reason, .init = make_root, .fini = remove_root)
{
    struct emu_reason reason;
    struct emu_kernel_demand fits = {1000, 5000, 3000, false};
    cr_assert_eq(
        emu_limits_check_kernel(
            root, &(struct emu_kernel_demand){1u << 30, 1u << 30, 1u << 30, false}, &reason),
        EMU_OK, "nothing can be read");
    put_tables();
    cr_assert_eq(emu_limits_check_kernel(root, &fits, &reason), EMU_OK, "%s", reason.text);
    expect_refusal((struct emu_kernel_demand){1001, 0, 0, true},
                   "the mesh needs 1001 processes and threads, kernel.pid_max allows 1000 more "
                   "(2000 in all): use fewer ranks, or raise it with: sysctl -w "
                   "kernel.pid_max=2001");
    put("proc/sys/kernel/pid_max", "4194304\n");
    expect_refusal((struct emu_kernel_demand){1001, 0, 0, true},
                   "the mesh needs 1001 processes and threads, kernel.threads-max allows 1000 more "
                   "(1700 in all): use fewer ranks, or raise it with: sysctl -w "
                   "kernel.threads-max=1701");
    expect_refusal((struct emu_kernel_demand){0, 0, 3001, true},
                   "the mesh needs 3001 watched files, fs.epoll.max_user_watches allows 3000 more "
                   "(3000 in all): use fewer ranks, or raise it with: sysctl -w "
                   "fs.epoll.max_user_watches=3001");
    expect_refusal(
        (struct emu_kernel_demand){0, 5001, 0, false},
        "the mesh needs 5001 open files, fs.file-max allows 5000 more (9000 in all): use "
        "fewer ranks, or raise it with: sysctl -w fs.file-max=9001");
    cr_assert_eq(
        emu_limits_check_kernel(root, &(struct emu_kernel_demand){0, 5001, 0, true}, &reason),
        EMU_OK, "root may open more");
}

Test(os_limits, processes_need_memory_beside_the_segment, .init = make_root, .fini = remove_root)
{
    struct emu_reason reason;
    put("proc/meminfo", "MemAvailable: 3145728 kB\nSwapFree: 0 kB\n");
    cr_assert_eq(emu_limits_check_ranks(root, UINT64_C(2) << 30, 4096, &reason), EMU_OK);
    cr_assert_eq(emu_limits_check_ranks(root, UINT64_C(2) << 30, 4097, &reason), EMU_ESYSTEM);
    cr_assert_str_eq(reason.text, "4097 processes of about 256.0 KiB and a shared segment of 2.0 "
                                  "GiB need 3.0 GiB, the machine has 3.0 GiB of memory available: "
                                  "use fewer ranks, or end other programs");
    put("proc/self/cgroup", "0::/a\n");
    put("sys/fs/cgroup/a/memory.max", "1073741824\n");
    put("sys/fs/cgroup/a/memory.current", "0\n");
    cr_assert_eq(emu_limits_check_ranks(root, UINT64_C(1) << 29, 4096, &reason), EMU_ESYSTEM);
    cr_assert_not_null(strstr(reason.text, "need 1.5 GiB, the memory cgroup allows 1.0 GiB"));
    cr_assert_not_null(strstr(reason.text, "or raise "));
    cr_assert_eq(emu_limits_check_ranks(root, UINT64_MAX, 4096, &reason), EMU_ESYSTEM);
}

static int with_few_processes(void *context)
{
    (void)context;
    struct rlimit limit = {3, 3};
    struct emu_reason reason;
    if (setrlimit(RLIMIT_NPROC, &limit) != 0 || (getuid() == 0 && setuid(54321) != 0))
        return 9;
    if (emu_limits_check_processes("", 5000, &reason) != EMU_ESYSTEM)
        return 1;
    return strstr(reason.text, "needs 5000 processes") && strstr(reason.text, "ulimit -u") ? 0 : 2;
}

Test(os_limits, too_few_processes_is_a_reason)
{
    cr_assert_eq(run_in_child(with_few_processes, NULL, 10), 0);
}

static int with_few_files(void *context)
{
    (void)context;
    struct rlimit limit = {64, 64};
    struct emu_reason reason;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 9;
    uint32_t open = emu_stream_count();
    if (emu_limits_check_files(64 - open, &reason) != EMU_OK)
        return 1;
    if (emu_limits_check_files(65 - open, &reason) != EMU_ESYSTEM)
        return 2;
    return strstr(reason.text, "ulimit -n 65") ? 0 : 3;
}

Test(os_limits, too_few_files_is_a_reason)
{
    cr_assert_eq(run_in_child(with_few_files, NULL, 10), 0);
}

Test(os_limits, sizes_are_said_in_units)
{
    cr_assert_str_eq(emu_size_text(1023).text, "1023 B");
    cr_assert_str_eq(emu_size_text(1536).text, "1.5 KiB");
    cr_assert_str_eq(emu_size_text(UINT64_C(12) << 30).text, "12.0 GiB");
}
