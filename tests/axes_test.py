#!/usr/bin/env python3
"""Run every config of configs/axes: verdict pass, and the same first loss on all of them.

    axes_test.py MESHEMU [FOLDER]

The first losses differ by rounding alone: each lies within its own bound of the oracle's, which starts
from the same parameters; two of them differ at most by the sum of their bounds. Prints PASS or FAIL
for each config, then `N passed, N failed`.
"""
import glob
import json
import os
import subprocess
import sys


def first_step(program, path):
    """(reason or None, loss, bound) of one run."""
    done = subprocess.run([program, "run", path, "--json", "-"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr.strip()[-200:]}", 0.0, 0.0
    report = json.loads(done.stdout)
    if report["verdict"] != "pass" or report["findings"]:
        return f"verdict {report['verdict']}", 0.0, 0.0
    if report["checks"]["ledger"]["status"] != "pass" or report["checks"]["memory"]["status"] != "pass":
        return "ledger or memory did not run", 0.0, 0.0
    step = report["steps"][0]
    return None, step["loss"], step["loss_bound"]


def main():
    program = os.path.abspath(sys.argv[1])
    folder = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), "..", "configs", "axes")
    passed = failed = 0
    reference = None
    for path in sorted(glob.glob(os.path.join(folder, "*.yaml"))):
        name = os.path.basename(path)
        wrong, loss, bound = first_step(program, path)
        if wrong is None and reference is None:
            reference = (loss, bound)
        if wrong is None and abs(loss - reference[0]) > bound + reference[1]:
            wrong = f"first loss {loss!r} is not {reference[0]!r}"
        passed, failed = passed + (wrong is None), failed + (wrong is not None)
        print(f"PASS {name}" if wrong is None else f"FAIL {name}: {wrong}", flush=True)
    if passed + failed < 12:
        failed += 1
        print(f"FAIL only {passed + failed} configs in {folder}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
