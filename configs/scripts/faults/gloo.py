#!/usr/bin/env python3
"""Runs the scripts of this folder with PyTorch's gloo backend instead of meshemu, to see what it says.

    gloo.py [--detail] [--timeout SECONDS] SCRIPT...

One process a rank, the same calls in the same order on the same groups; --detail sets
TORCH_DISTRIBUTED_DEBUG=DETAIL. Printed are, for each rank, how it ended, after how long, what its calls
returned (first element) and the first line of its error. A rank with an error ends at once, one that is
done stays until all are, as if a next step were to come; what is still there ten seconds after the
time-out is killed. Needs PyTorch and PyYAML (Debian: python3-torch). Only what the twelve scripts use is
understood: all_reduce, broadcast, data, repeat, sleep, kill, exit, stop.
"""
import argparse
import itertools
import math
import os
import select
import signal
import sys
import tempfile
import time
from datetime import timedelta

import torch
import torch.distributed as dist
import yaml

DTYPES = {"f32": torch.float32, "i32": torch.int32}
OPS = {"sum": dist.ReduceOp.SUM, "max": dist.ReduceOp.MAX}
GRACE_S = 10


def axes_of(mesh):
    return {name: int(size) for name, size in (axis.split("=") for axis in mesh.split(","))}


def groups_of(axes):
    """Every group of every axis, as (axis, members): ranks that differ in that axis alone."""
    names = list(axes)
    coordinates = list(itertools.product(*(range(size) for size in axes.values())))
    for axis in names:
        rest = [name for name in names if name != axis]
        seen = {}
        for rank, at in enumerate(coordinates):
            seen.setdefault(tuple(at[names.index(name)] for name in rest), []).append(rank)
        yield from ((axis, members) for members in seen.values())


def steps_of(ops):
    for op in ops:
        (name, fields), = op.items()
        if name == "repeat":
            for _ in range(fields["times"]):
                yield from steps_of(fields["do"])
        else:
            yield name, fields


def say(text):
    os.write(1, (text + "\n").encode())


def call(name, fields, groups, fill):
    """One collective; the first element of what it leaves."""
    x = torch.full((fields["count"],), fill, dtype=DTYPES[fields.get("dtype", "f32")])
    if name == "all_reduce":
        dist.all_reduce(x, OPS[fields.get("op", "sum")], group=groups[fields["over"]])
    else:
        dist.broadcast(x, fields["root"], group=groups[fields["over"]])
    return x[0].item()


def meet(rank, world, axes, store, limit):
    """Joins the others; the groups of this rank by axis."""
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=world, timeout=limit)
    groups = {"world": None}
    for axis, members in groups_of(axes):
        group = dist.new_group(members, timeout=limit)
        if rank in members:
            groups[axis] = group
    dist.barrier()
    return groups


def act(program, rank, groups, values):
    """What the script says, call by call; values takes what they leave."""
    fill = rank + 1
    for name, fields in steps_of(program):
        if name == "data":
            fill = fields["value"]
        elif name == "sleep":
            time.sleep(float(fields[:-1]) * {"s": 1, "m": 60}[fields[-1]])
        elif name == "kill":
            os.kill(os.getpid(), signal.Signals[fields])
        elif name == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        elif name == "exit":
            os._exit(fields)
        else:
            values.append(call(name, fields, groups, fill))
            fill = rank + 1


def run_rank(rank, script, store, timeout_s, finished, stay):
    axes = axes_of(script["mesh"])
    groups = meet(rank, math.prod(axes.values()), axes, store, timedelta(seconds=timeout_s))
    program, = (entry["do"] for entry in script["program"] if rank in
                (entry["ranks"] if isinstance(entry["ranks"], list) else [entry["ranks"]]))
    start, values = time.monotonic(), []
    try:
        act(program, rank, groups, values)
    except RuntimeError as error:
        say(f"  rank {rank}: left {values}, after {time.monotonic() - start:.2f} s: {str(error).splitlines()[0]}")
        os._exit(1)
    say(f"  rank {rank}: left {values}, done after {time.monotonic() - start:.2f} s")
    os.write(finished, b".")
    os.read(stay, 1)
    os._exit(0)


def watch(ranks, finished, deadline):
    """Until each rank has ended or is done, or the deadline; ranks keeps those that have not ended."""
    done = 0
    while len(ranks) > done and time.monotonic() < deadline:
        if select.select([finished], [], [], 0.02)[0]:
            done += len(os.read(finished, 1))
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            rank = ranks.pop(pid)
            if os.WIFSIGNALED(status):
                say(f"  rank {rank}: killed by {signal.Signals(os.WTERMSIG(status)).name}")
            elif os.WEXITSTATUS(status) != 1:
                say(f"  rank {rank}: exited {os.WEXITSTATUS(status)}")
    return len(ranks) == done


def run(path, timeout_s):
    with open(path, encoding="utf-8") as f:
        script = yaml.safe_load(f)
    say(os.path.basename(path))
    (finished, tell), (stay, release) = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        ranks = {}
        for rank in range(math.prod(axes_of(script["mesh"]).values())):
            pid = os.fork()
            if pid == 0:
                os.close(release)
                run_rank(rank, script, os.path.join(folder, "store"), timeout_s, tell, stay)
            ranks[pid] = rank
        if not watch(ranks, finished, time.monotonic() + timeout_s + GRACE_S):
            say(f"  some are still there {GRACE_S} s after the time-out")
        os.close(release)
        for pid in ranks:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    for end in (finished, tell, stay):
        os.close(end)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--detail", action="store_true")
    parser.add_argument("--timeout", type=float, default=10)
    parser.add_argument("script", nargs="+")
    arguments = parser.parse_args()
    if arguments.detail:
        os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
        dist.set_debug_level_from_env()
    say(f"PyTorch {torch.__version__}, gloo, time-out {arguments.timeout:g} s"
        + (", TORCH_DISTRIBUTED_DEBUG=DETAIL" if arguments.detail else ""))
    for path in arguments.script:
        run(path, arguments.timeout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
