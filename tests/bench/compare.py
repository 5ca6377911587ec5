#!/usr/bin/env python3
"""The measuring part of compare.sh: compare.py MESHEMU FOLDER PEER...

FOLDER holds the compiled peers. Per number of ranks, round and peer: the peer, then meshemu, each at every size; a
ratio is taken within a round, and what is printed is the median over the rounds.
"""
import json
import os
import re
import statistics
import subprocess
import sys

RANKS = [int(n) for n in os.environ.get("RANKS", "2 8").split()]
HOG_RANKS = [int(n) for n in os.environ.get("HOG_RANKS", "8").split()]
LAUNCH_RANKS = [int(n) for n in os.environ.get("LAUNCH_RANKS", "256").split()]
ROUNDS = int(os.environ.get("ROUNDS", "3"))
SECONDS = float(os.environ.get("SECONDS_PER_ROW", "0.1"))
MOST = int(os.environ.get("MOST", "2097152"))
LIMIT_S = 180  # of one program: MPICH with more ranks than processors spins
OPS = {"barrier": "barrier", "bcast": "broadcast", "allreduce": "all_reduce", "redscat": "reduce_scatter",
       "allgather": "all_gather"}
TUNED = ["--mca", "coll_tuned_use_dynamic_rules", "1"] + [
    word for op in ("allreduce", "barrier", "bcast", "allgather", "reduce_scatter_block")
    for word in ("--mca", f"coll_tuned_{op}_algorithm", "1")]
LINE = re.compile(r"np=\d+ (\w+) (\d+) med_us=(\S+) p99_us=\S+ mean_us=(\S+) it=\d+ bad=(\d+)")


def output_of(command):
    """Standard output so far, and whether the program came to its end."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(), f"stopped after {LIMIT_S} s"
    return done.stdout, "" if done.returncode == 0 else f"exit code {done.returncode}: {done.stderr[-300:]}"


def run_peer(peer, folder, ranks):
    """{(op, bytes): (median, mean)} in microseconds."""
    kind = peer.split("-")[0]
    command = [f"mpirun.{kind}", "-n", str(ranks)]
    if kind == "openmpi":
        command += ["--oversubscribe", "--bind-to", "core:overload-allowed"]
        command += ["--allow-run-as-root"] if os.geteuid() == 0 else []
        command += TUNED if peer.endswith("tuned") else []
    out, trouble = output_of(command + [f"{folder}/{kind}", "-M", str(MOST), "-t", str(SECONDS)])
    if trouble:
        print(f"  {peer}: {trouble}")
    rows = {}
    for op, size, median, mean, bad in LINE.findall(out):
        if bad != "0":
            print(f"  {peer}: {op} of {size} bytes is wrong")
        rows[OPS[op], int(size)] = float(median), float(mean)
    return rows


def run_ours(meshemu, ranks, sizes):
    """Likewise; one launch a size, so that the sizes are the peer's."""
    rows = {}
    for size in sizes:
        ops = sorted({op for op, own in sizes[size]})
        out, trouble = output_of([meshemu, "bench", *ops, "--ranks", str(ranks), "--pin", "--bytes", str(size or 8),
                                  "--time", f"{int(SECONDS * 1e6)}us", "--json", "-"])
        if trouble:
            sys.exit(f"compare: meshemu bench: {trouble}")
        for row in json.loads(out)["results"]:
            rows[row["op"], row["bytes"]] = row["median_us"], row["mean_us"]
    return rows


def by_size(keys):
    sizes = {}
    for op, size in keys:
        sizes.setdefault(size, []).append((op, size))
    return sizes


def compare(meshemu, folder, peer, ranks):
    rounds = []
    for _ in range(ROUNDS):
        theirs = run_peer(peer, folder, ranks)
        if not theirs:
            break
        rounds.append((theirs, run_ours(meshemu, ranks, by_size(theirs))))
    print(f"\n{ranks} ranks, {peer}, {len(rounds)} rounds: medians in us; theirs / ours, of medians and of means")
    print(f"  {'op':14} {'bytes':>9} {'theirs':>10} {'ours':>10} {'ratio':>7} {'of means':>9}")
    for key in rounds[0][0] if rounds else []:
        both = [(theirs[key], ours[key]) for theirs, ours in rounds if key in theirs and key in ours]
        if not both:
            continue
        middle = [statistics.median(values) for values in (
            [t[0] for t, _ in both], [o[0] for _, o in both], [t[0] / o[0] for t, o in both],
            [t[1] / o[1] for t, o in both])]
        print(f"  {key[0]:14} {key[1]:9} {middle[0]:10.2f} {middle[1]:10.2f} {middle[2]:7.2f} {middle[3]:9.2f}",
              flush=True)


class Hog:
    """A foreign process that burns the first processor, as long as the block runs."""

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        os.sched_setaffinity(self.process.pid, {min(os.sched_getaffinity(0))})
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def with_hog(meshemu, folder, peer, ranks):
    """Means of a barrier beside one busy process."""
    theirs, ours = [], []
    for _ in range(ROUNDS):
        with Hog():
            theirs += [row[1] for key, row in run_peer(peer, folder, ranks).items() if key[0] == "barrier"]
            ours += [row[1] for row in run_ours(meshemu, ranks, {0: [("barrier", 0)]}).values()]
    shown = f"{statistics.median(theirs):10.1f}" if theirs else "         -"
    print(f"  {ranks:5} ranks, {peer:14} {shown} {statistics.median(ours):10.1f}", flush=True)


def launch(meshemu, ranks):
    """What it takes to bring the ranks up, and what one of them costs."""
    found = []
    for _ in range(ROUNDS):
        out, trouble = output_of([meshemu, "bench", "barrier", "all_reduce", "--ranks", str(ranks), "--pin", "--launch",
                                  "--bytes", "8:8", "--iterations", "20", "--json", "-"])
        if trouble:
            print(f"  {ranks:5} ranks: {trouble}")
            return
        report = json.loads(out)
        rows = {row["op"]: row["median_us"] for row in report["results"]}
        figures = report["launch"]
        found.append((figures["first_barrier_ms"], rows["barrier"], rows["all_reduce"], figures["pss_KiB"],
                      figures["page_tables_KiB"]))
    middle = [statistics.median(values) for values in zip(*found)]
    print(f"  {ranks:5} {middle[0]:12.1f} {middle[1]:11.1f} {middle[2]:13.1f} {middle[3]:9.0f} {middle[4]:11.0f}", flush=True)


def main():
    meshemu, folder, *peers = sys.argv[1:]
    load = os.getloadavg()
    print(f"{os.cpu_count()} processors, load {load[0]:.1f} {load[1]:.1f} {load[2]:.1f} before the first round")
    for ranks in RANKS:
        for peer in peers:
            compare(meshemu, folder, peer, ranks)
    if HOG_RANKS:
        print("\nbeside one busy process: mean of a barrier in us, theirs and ours")
    for ranks in HOG_RANKS:
        for peer in peers:
            with_hog(meshemu, folder, peer, ranks)
    if LAUNCH_RANKS:
        print("\n  ranks  barrier ms  barrier us  all_reduce us  PSS KiB  tables KiB")
    for ranks in LAUNCH_RANKS:
        launch(meshemu, ranks)
    print(f"\nload {os.getloadavg()[0]:.1f} after the last round")


if __name__ == "__main__":
    main()
