#!/usr/bin/env python3
"""Meshes of many ranks: whole runs, benchmarks, failures, and that nothing of them is left.

    wide_test.py MESHEMU SIDE        a mesh of SIDE x SIDE ranks, SIDE a power of two up to 64

Prints PASS or FAIL and the seconds of each case, then `N passed, N failed`. Times are shown, not judged. All
ranks belong to the session of the program that started them, which is looked through when it has ended.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

CONFIG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "configs", "wide.yaml")
LIMIT_S = 280


class Case:
    """One command, ended, with its report."""

    def __init__(self, program, arguments, act=None):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            child = subprocess.Popen([program, *arguments, "--json", path], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
            try:
                if act:
                    act(child)
                self.out, self.err = child.communicate(timeout=LIMIT_S)
            except subprocess.TimeoutExpired:
                child.kill()
                self.out, self.err = child.communicate()
            self.code = child.returncode
            self.left = processes_of(child.pid)
            self.report = read_json(path)


def read_json(path):
    try:
        with open(path, encoding="utf-8") as stream:
            return json.load(stream)
    except (OSError, ValueError):
        return {}


def processes_of(session):
    """Numbers of the processes of this session that have not ended."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stream:
                fields = stream.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(name))
    return found


def shared_files():
    return sorted(name for name in os.listdir("/dev/shm") if name.startswith("meshemu"))


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as stream:
            return [int(word) for word in stream.read().split()]
    except OSError:
        return []


def wait_until(holds):
    while not holds():
        time.sleep(0.02)


def whole_run(program, mesh, world):
    case = Case(program, ["run", CONFIG, "--set", f"mesh={mesh}"])
    yield "exit code", case.code == 0, case.err[-300:]
    yield "verdict", case.report.get("verdict") == "pass" and not case.report["findings"], ""
    for name, check in case.report.get("checks", {}).items():
        yield name, check["status"] == "pass", check.get("reason", "")
    yield "ranks", len(case.report.get("memory", {}).get("ranks", [])) in (0, world), ""
    lines = case.out.count("\n")
    yield f"{lines} lines to read", 20 < lines < 80, ""
    yield "processes left", not case.left, ""


def benches(program, mesh, world):
    everything = ["--iterations", "1", "--warmup", "0", "--bytes", "8:8"]
    for over, ranks in (("world", world), ("tp", 0), ("dp", 0)):
        case = Case(program, ["bench", "--mesh", mesh, "--over", over, *everything])
        rows = case.report.get("results", [])
        yield f"{len(rows)} rows over {over}", case.code == 0 and len(rows) == 10 and all(
            row["correct"] for row in rows), case.err[-300:]
        yield "of all", not ranks or all(row["ranks"] == ranks for row in rows), ""
        yield "processes left", not case.left, ""


def failures(program, mesh, world):
    victim = world // 2 + 1
    for spec, wanted in ((f"crash rank={victim} step=1", "CRASH"),
                         (f"skip_call rank={victim} step=1 label=embed.weight", "COUNT_MISMATCH")):
        case = Case(program, ["run", CONFIG, "--set", f"mesh={mesh}", "--fault", spec])
        findings = [finding for finding in case.report.get("findings", []) if not finding.get("note")]
        yield f"exit code of {spec}", case.code == 1, case.err[-300:]
        yield wanted, [finding["class"] for finding in findings] == [wanted], str(findings)[:300]
        yield "culprit", bool(findings) and findings[0]["culprits"] == [victim], ""
        widest = max(map(len, case.out.split("\n")))
        yield f"lines of {widest}", widest < 400, ""
        yield "processes left", not case.left, ""


def interrupts(program, mesh, world):
    endless = ["run", CONFIG, "--set", f"mesh={mesh}", "--set", "train.steps=1000000"]

    def interrupt(child):
        wait_until(lambda: len(children_of(child.pid)) >= world or child.poll() is not None)
        child.send_signal(signal.SIGINT)

    case = Case(program, endless, interrupt)
    yield "ended by SIGINT", case.code not in (0, 1), case.err[-300:]
    yield "processes left", not case.left, ""

    def kill(child):
        wait_until(lambda: len(children_of(child.pid)) >= world or child.poll() is not None)
        child.kill()
        child.wait()
        patience = time.monotonic() + 60
        wait_until(lambda: not processes_of(child.pid) or time.monotonic() > patience)

    case = Case(program, endless, kill)
    yield "processes left by a killed launcher", not case.left, ""


def main():
    program, side = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    mesh, world = f"dp={side},tp={side}", side * side
    passed = failed = 0
    before = shared_files()
    for group in (whole_run, benches, failures, interrupts):
        begun = time.monotonic()
        wrong = [f"{name} {why}".strip() for name, right, why in group(program, mesh, world) if not right]
        if shared_files() != before:
            wrong.append(f"files left: {shared_files()}")
        passed, failed = passed + (not wrong), failed + bool(wrong)
        verdict = "FAIL" if wrong else "PASS"
        print(f"{verdict} {group.__name__} of {world} ranks, {time.monotonic() - begun:.1f} s", *wrong, sep="\n  ", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
