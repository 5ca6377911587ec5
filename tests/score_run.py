#!/usr/bin/env python3
"""Does `meshemu run` keep its promises on the quickstart?

    score_run.py PROGRAM [CONFIG]

On several meshes of the same world and of others: verdict pass, a process of its own for each rank, a
falling loss, every check passed that is part of the version, losses that agree between meshes within
the sum of their derived bounds, and the same bits when a mesh runs again. Then ranks are killed in the
middle: the run must end with a finding that names the rank, and leave no process behind.
One line a case, then `N passed, N failed`.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MESHES = ("dp=2,tp=2", "dp=4,tp=1", "dp=1,tp=4", "dp=3,tp=2", "dp=1,tp=1")
NEVER_SKIPPED = ("init", "data", "tiling", "ledger", "oracle")
KILLS = ((0, 0.0), (1, 0.05), (2, 0.2), (3, 0.5))  # rank, seconds after all of them exist
DEADLINE_S = 120


class Wrong(Exception):
    pass


def need(condition, reason):
    if not condition:
        raise Wrong(reason)


def report_of(text, code, wanted):
    need(code == wanted, f"exit code {code}, want {wanted}")
    return json.loads(text)


def run(program, config, mesh):
    done = subprocess.run([program, "run", config, "--set", f"mesh={mesh}", "--json", "-"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    return report_of(done.stdout, done.returncode, 0)


def check_pass(report, mesh):
    world = 1
    for axis in report["mesh"]["axes"]:
        world *= axis["size"]
    need(report["verdict"] == "pass" and report["findings"] == [], f"verdict {report['verdict']}")
    need(report["mesh"]["world"] == world == len(report["ranks"]), "wrong number of ranks")
    need(len({row["pid"] for row in report["ranks"]}) == world, "ranks share a process")
    need(",".join(f"{a['name']}={a['size']}" for a in report["mesh"]["axes"]) == mesh, "another mesh ran")
    losses = [row["loss"] for row in report["steps"]]
    need(len(losses) == report["config"]["train"]["steps"], "steps are missing")
    need(losses[-1] < 0.7 * losses[0], f"the loss went from {losses[0]} to {losses[-1]}")
    for name, check in report["checks"].items():
        if name == "replicas" and world == 1:
            continue
        need(check["status"] != "fail", f"check {name} failed")
        need(check["status"] == "pass" or name not in NEVER_SKIPPED, f"check {name} was skipped")
        need(check["status"] == "skipped" or check["compared"] > 0, f"check {name} compared nothing")
    need(world == 1 or report["checks"]["replicas"]["status"] == "pass", "no replica was compared")


def check_agree(report, first):
    for mine, other in zip(report["steps"], first["steps"], strict=True):
        bound = mine["loss_bound"] + other["loss_bound"]
        need(mine["tokens"] == other["tokens"], f"step {mine['step']}: other tokens")
        difference = abs(mine["loss"] - other["loss"])
        need(difference <= bound, f"step {mine['step']}: losses differ by {difference}, bound {bound}")


def check_repeat(program, config, report, mesh):
    again = run(program, config, mesh)
    need([(s["loss"], s["grad_norm"]) for s in again["steps"]] == [(s["loss"], s["grad_norm"]) for s in report["steps"]],
         "a second run gave other bits")


def children(pid):
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except FileNotFoundError:
        return []
    return [int(word) for word in text.split()]


def wait_for_ranks(launcher, world):
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end and launcher.poll() is None:
        pids = children(launcher.pid)
        if len(pids) == world:
            return pids
        time.sleep(0.005)
    raise Wrong("the ranks did not start")


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def check_kill(program, config, rank, delay_s):
    """Ranks are forked in order, so the nth child is rank n; the report must say the same."""
    arguments = [program, "run", config, "--set", "train.steps=1000000", "--set", "checks.oracle=false", "--json", "-"]
    with tempfile.TemporaryFile(mode="w+") as out:
        launcher = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL)
        try:
            pids = wait_for_ranks(launcher, 4)
            time.sleep(delay_s)
            os.kill(pids[rank], signal.SIGKILL)
            code = launcher.wait(timeout=DEADLINE_S)
        finally:
            launcher.kill()
            launcher.wait()
        out.seek(0)
        report = report_of(out.read(), code, 1)
    named = next(row["rank"] for row in report["ranks"] if row["pid"] == pids[rank])
    faults = [f for f in report["findings"] if f["severity"] == "fault"]
    need(len(faults) == 1 and faults[0]["class"] == "CRASH", f"findings: {[f['class'] for f in faults]}")
    need(faults[0]["culprits"] == [named], f"named {faults[0]['culprits']}, killed {named}")
    left = [pid for pid in pids if alive(pid)]
    need(not left, f"left behind: {left}")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program = str(Path(sys.argv[1]).resolve())
    config = sys.argv[2] if len(sys.argv) == 3 else str(ROOT / "configs" / "quickstart.yaml")
    counts = {True: 0, False: 0}

    def case(name, check, *arguments):
        try:
            check(*arguments)
            print(f"PASS {name}", flush=True)
            counts[True] += 1
        except (Wrong, KeyError, TypeError, ValueError, StopIteration, subprocess.TimeoutExpired) as error:
            print(f"FAIL {name}: {type(error).__name__}: {error}", flush=True)
            counts[False] += 1

    reports = {}
    for mesh in MESHES:
        case(f"{mesh} passes", lambda: check_pass(reports.setdefault(mesh, run(program, config, mesh)), mesh))
    for mesh in MESHES[1:]:
        case(f"{mesh} agrees with {MESHES[0]}", lambda: check_agree(reports[mesh], reports[MESHES[0]]))
    case(f"{MESHES[0]} repeats", lambda: check_repeat(program, config, reports[MESHES[0]], MESHES[0]))
    case(f"{MESHES[3]} repeats", lambda: check_repeat(program, config, reports[MESHES[3]], MESHES[3]))
    for rank, delay_s in KILLS:
        case(f"rank {rank} killed after {delay_s} s is named", check_kill, program, config, rank, delay_s)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
