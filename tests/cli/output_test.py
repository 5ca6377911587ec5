#!/usr/bin/env python3
"""Where output can fail: full disks, readers that leave, files that must not be half there.

    output_test.py MESHEMU

Also what depends on a terminal, and completion as bash performs it. Prints one line a fact, then
`N passed, N failed`.
"""
import json
import os
import pty
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
TIMEOUT_S = 60
HUGE = "dp=2147483648"      # prints without end, for all that a test can wait


def run(*words, **options):
    return subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False, **options)


def want(condition, what):
    if not condition:
        raise AssertionError(what)


def a_reader_that_leaves_is_an_error_not_a_death(_):
    for more in ([], ["--json", "-"]):
        child = subprocess.Popen([PROGRAM, "mesh", HUGE, *more], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        want(child.stdout.read(10), "no output")
        child.stdout.close()
        message = child.stderr.read().decode()
        code = child.wait(TIMEOUT_S)
        want(code == 3 and "Broken pipe" in message, f"exit {code}: {message}")


def a_full_disk_is_an_error(_):
    with open("/dev/full", "w", encoding="utf-8") as full:
        for words in (["mesh", HUGE], ["mesh", "dp=2", "--json", "-"], ["--help"], ["--man"]):
            done = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=TIMEOUT_S, check=False)
            want(done.returncode == 3 and "No space left" in done.stderr, f"{words}: {done}")


def a_recipe_that_cannot_be_shown_is_an_error(folder):
    config = os.path.join(folder, "shown.yaml")
    with open(config, "w", encoding="utf-8") as file:
        file.write("mesh: dp=2\nmodel: {kind: linear, features: 1}\ndata: {tokens: [[[2]], [[4]]]}\n")
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([PROGRAM, "run", config, "--show-recipe"], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=False)
    want(done.returncode == 3 and "No space left" in done.stderr, done)


def a_device_is_written_to_not_replaced(_):
    done = run("mesh", "dp=2", "--json", "/dev/full")
    want(done.returncode == 3 and "No space left" in done.stderr, done)
    want(stat.S_ISCHR(os.stat("/dev/full").st_mode), "the device is gone")


def a_limit_on_file_sizes_leaves_the_old_report(folder):
    path = os.path.join(folder, "report.json")
    with open(path, "w", encoding="utf-8") as old:
        old.write("old")
    done = run("mesh", "dp=100000", "--json", path,
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)))
    want(done.returncode == 3 and "File too large" in done.stderr, done)
    with open(path, encoding="utf-8") as kept:
        want(kept.read() == "old", "the old report was touched")
    want(os.listdir(folder) == ["report.json"], f"left behind: {os.listdir(folder)}")


def a_report_replaces_the_file_behind_a_link(folder):
    target, link = os.path.join(folder, "target.json"), os.path.join(folder, "link.json")
    with open(target, "w", encoding="utf-8") as old:
        old.write("old")
    os.chmod(target, 0o640)
    os.symlink(target, link)
    done = run("mesh", "dp=2", "--json", link)
    want(done.returncode == 0 and "2 ranks" in done.stdout, done)
    want(os.path.islink(link), "the link is gone")
    with open(target, encoding="utf-8") as report:
        want(json.load(report)["world"] == 2, "no report")
    want(stat.S_IMODE(os.stat(target).st_mode) == 0o640, "the permissions changed")
    want(len(os.listdir(folder)) == 2, f"left behind: {os.listdir(folder)}")


def a_new_report_has_usual_permissions(folder):
    path = os.path.join(folder, "new.json")
    done = run("mesh", "dp=2", "--json", path, preexec_fn=lambda: os.umask(0o027))
    want(done.returncode == 0, done)
    want(stat.S_IMODE(os.stat(path).st_mode) == 0o640, oct(os.stat(path).st_mode))


def is_writing(pid, folder):
    """Does the process hold a file of this folder that has begun? It may have no name there."""
    for fd in os.scandir(f"/proc/{pid}/fd"):
        try:
            if os.readlink(fd.path).startswith(folder) and os.stat(fd.path).st_size:
                return True
        except OSError:     # closed meanwhile
            pass
    return False


def a_report_that_is_cut_short_leaves_nothing(folder):
    path = os.path.join(folder, "report.json")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        child = subprocess.Popen([PROGRAM, "mesh", HUGE, "--json", path], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + TIMEOUT_S
        while not is_writing(child.pid, folder):
            want(time.monotonic() < deadline, "no file was begun")
            time.sleep(0.01)
        child.send_signal(number)
        code = child.wait(TIMEOUT_S)
        want(code == -number, f"exit {code}")
        want(os.listdir(folder) == [], f"left behind by {number.name}: {os.listdir(folder)}")


def tokens_of(folder):
    config = os.path.join(folder, "tokens.yaml")
    with open(config, "w", encoding="utf-8") as file:
        file.write("mesh: dp=2\nmodel: {kind: linear, features: 1}\ndata: {tokens: [[[2]], [[4]]]}\n"
                   "train: {steps: 3}\n")
    return config


def a_run_says_why_it_cannot_write(folder):
    config = tokens_of(folder)
    for option in ("--json", "--record"):
        done = run("run", config, "--quiet", option, "/dev/full")
        want(done.returncode == 3 and "No space left" in done.stderr, done)
        done = run("run", config, "--quiet", option, os.path.join(folder, "none", "x"))
        want(done.returncode == 3 and "No such file" in done.stderr, done)
        want(not done.stdout, f"{option}: it ran all the same: {done.stdout}")
    want(os.listdir(folder) == ["tokens.yaml"], f"left behind: {os.listdir(folder)}")


def a_fault_that_changes_nothing_here_is_no_success(folder):
    done = run("run", tokens_of(folder), "--quiet", "--fault", "transposed_mesh rank=0")
    want(done.returncode == 2, done)
    want("changes nothing here: dp and tp are not of one size" in done.stderr, done.stderr)


def one_rank_of_the_largest_mesh_needs_little_memory(_):
    """A table of its 2^31 ranks would take 8 GiB."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen([PROGRAM, "mesh", "a=128,b=256,c=256,d=256", "--rank", "2147483647",
                                  "--json", "-"], stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        want(status == 0, f"wait status {status}")
        want(usage.ru_maxrss < 256 << 10, f"{usage.ru_maxrss} KiB")
        out.seek(0)
        report = json.load(out)
    want(report["world"] == 1 << 31 and len(report["groups"]["b"][0]) == 256, "wrong report")


def every_rank_of_a_large_mesh_can_be_listed(_):
    report = json.loads(run("mesh", "pp=4,dp=512,tp=8", "--json", "-").stdout)
    want([row["rank"] for row in report["ranks"]] == list(range(16384)), "ranks")
    for axis, size in (("pp", 4), ("dp", 512), ("tp", 8)):
        groups = report["groups"][axis]
        want(all(len(group) == size for group in groups), axis)
        want(sorted(rank for group in groups for rank in group) == list(range(16384)), axis)


def a_terminal_gets_short_lists_a_pipe_all(_):
    want(len(run("mesh", "dp=100").stdout.splitlines()) > 100, "a pipe got a short list")
    parent, child = pty.openpty()
    process = subprocess.Popen([PROGRAM, "mesh", "dp=100"], stdout=child, stdin=subprocess.DEVNULL)
    os.close(child)
    shown = b""
    try:
        while part := os.read(parent, 4096):
            shown += part
    except OSError:         # the other end is closed
        pass
    want(process.wait(TIMEOUT_S) == 0, "exit code")
    want(b"... 36 more ranks" in shown and b"... 36 more]" in shown, shown[-300:])


def completion_offers_what_the_table_holds(folder):
    script = os.path.join(folder, "meshemu.bash")
    with open(script, "w", encoding="utf-8") as f:
        f.write(run("--completion", "bash").stdout)
    open(os.path.join(folder, "some.yaml"), "w", encoding="utf-8").close()
    for line, wanted in (("meshemu m", "mesh"), ("meshemu mesh --ov", "--over"),
                         ("meshemu mesh so", "some.yaml"), ("meshemu mesh --json so", "some.yaml"),
                         ("meshemu mesh --rank so", ""), ("meshemu help me", "mesh"),
                         ("meshemu --vers", "--version"), ("meshemu unknown x", "")):
        words = line.split()
        code = (f'. "{script}"; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; '
                '_meshemu; echo "${COMPREPLY[*]}"')
        done = subprocess.run(["bash", "-c", code], cwd=folder, capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)
        want(done.stdout.strip() == wanted and not done.stderr, f"{line}: {done}")


FACTS = [a_reader_that_leaves_is_an_error_not_a_death, a_full_disk_is_an_error,
         a_recipe_that_cannot_be_shown_is_an_error,
         a_device_is_written_to_not_replaced, a_limit_on_file_sizes_leaves_the_old_report,
         a_report_replaces_the_file_behind_a_link, a_new_report_has_usual_permissions,
         a_report_that_is_cut_short_leaves_nothing, a_run_says_why_it_cannot_write,
         a_fault_that_changes_nothing_here_is_no_success,
         one_rank_of_the_largest_mesh_needs_little_memory,
         every_rank_of_a_large_mesh_can_be_listed, a_terminal_gets_short_lists_a_pipe_all,
         completion_offers_what_the_table_holds]


def main():
    passed = 0
    for fact in FACTS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                fact(folder)
                passed += 1
                print("PASS", fact.__name__)
            except (AssertionError, subprocess.TimeoutExpired, ValueError, KeyError, OSError) as e:
                print("FAIL", fact.__name__, e)
    print(f"{passed} passed, {len(FACTS) - passed} failed")
    return 0 if passed == len(FACTS) else 1


if __name__ == "__main__":
    sys.exit(main())
