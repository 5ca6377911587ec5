#!/usr/bin/env python3
"""Does a hand-written step honour the environment as the pages say?

    example_test.py DATA_PARALLEL_STEP

Runs the example under MESHEMU_FAULT, MESHEMU_JSON and MESHEMU_RECORD. What it prints with one skipped
call must be the block of examples/README.md, but for times, folders and how far each rank was. The last line is `N passed, N failed`.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAULT = "skip_call rank=1 call=1"
MESSAGE = ("call #1 of dp does not match: rank 1 (dp=1) has op avg, the others op sum; "
           "no data was written")


def run(program, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("MESHEMU_")}
    return subprocess.run([program], env={**clean, **environment}, capture_output=True, text=True,
                          timeout=60, check=False)


def plain(text):
    """Lines without what differs from run to run: times, folders, how far each rank was."""
    text = re.sub(r"\S*/(?=data_parallel_step\.c)", "", text)
    text = re.sub(r"(found after:) .*", r"\1", text)
    text = re.sub(r"(why: .*) \(EMU_EMISMATCH\)", r"\1", text)  # answered by then, or not yet
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    loose = sorted(line for line in lines if re.match(r"\[\d+\] |    consequence: rank", line))
    return loose, [line for line in lines if line not in loose]


def shown():
    """What the page says that the command prints."""
    page = (ROOT / "examples/README.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```\w*\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        first, _, rest = block.partition("\n")
        if first.startswith(f"$ MESHEMU_FAULT='{FAULT}' "):
            return rest
    return ""


def page_tells_the_truth(program, _):
    made = run(program, MESHEMU_FAULT=FAULT)
    assert made.returncode == 1, made
    assert plain(made.stdout + made.stderr) == plain(shown()), made.stderr


def report_names_the_culprit(program, folder):
    path = folder / "report.json"
    assert run(program, MESHEMU_FAULT=FAULT, MESHEMU_JSON=str(path)).returncode == 1
    report = json.loads(path.read_text(encoding="utf-8"))
    assert (report["schema"], report["command"], report["verdict"]) == (1, "launch", "fail")
    assert report["mesh"] == {"axes": [{"name": "dp", "size": 3}], "world": 3}
    assert report["faults"] == [{"fault": FAULT, "fired": 1}]
    assert len(report["findings"]) == 1
    found = report["findings"][0]
    assert (found["class"], found["severity"], found["message"]) == ("OP_MISMATCH", "fault", MESSAGE)
    assert (found["culprits"], found["undecided"], found["index"]) == ([1], False, 1)
    assert found["group"] == [0, 1, 2] and [m["rank"] for m in found["members"]] == [0, 1, 2]
    assert [rank["rank"] for rank in report["ranks"]] == [0, 1, 2]


def record_has_the_last_calls(program, folder):
    path = folder / "record.json"
    assert run(program, MESHEMU_FAULT=FAULT, MESHEMU_RECORD=str(path)).returncode == 1
    record = json.loads(path.read_text(encoding="utf-8"))
    assert (record["schema"], record["command"]) == (1, "launch")
    states = [[call["state"] for call in rank["calls"]] for rank in record["ranks"]]
    assert states == [["done", "EMU_EMISMATCH"], ["done", "done", "EMU_EMISMATCH"],
                      ["done", "EMU_EMISMATCH"]], states
    assert record["ranks"][1]["calls"][2]["op"] == "avg"


def a_clean_run_passes_and_reports(program, _):
    made = run(program, MESHEMU_JSON="-", MESHEMU_RECORD="", MESHEMU_FAULT="")
    report = json.loads(made.stdout)  # the ranks' lines are elsewhere
    assert made.returncode == 0 and report["verdict"] == "pass" and report["findings"] == []
    assert report["faults"] == [] and made.stderr.count("6 tokens: gradient") == 3


def an_idle_fault_is_no_success(program, folder):
    path = folder / "report.json"
    made = run(program, MESHEMU_FAULT="skip_call rank=1 call=7", MESHEMU_JSON=str(path))
    report = json.loads(path.read_text(encoding="utf-8"))
    assert made.returncode == 1 and report["verdict"] == "fail" and report["findings"] == []
    assert report["faults"] == [{"fault": "skip_call rank=1 call=7", "fired": 0}]
    assert "the fault 'skip_call rank=1 call=7' did not act: nothing met its address" in made.stderr


def a_place_that_cannot_be_written_starts_nothing(program, folder):
    made = run(program, MESHEMU_JSON=str(folder / "none" / "report.json"))
    assert made.returncode == 3 and "tokens" not in made.stdout
    assert made.stderr.startswith("meshemu: MESHEMU_JSON: cannot write ")


def a_record_that_cannot_be_written_is_told(program, folder):
    made = run(program, MESHEMU_RECORD=str(folder / "none" / "record.json"))
    assert made.returncode == 3
    assert made.stderr.startswith("meshemu: MESHEMU_RECORD: cannot write ")


CASES = (page_tells_the_truth, report_names_the_culprit, record_has_the_last_calls,
         a_clean_run_passes_and_reports, an_idle_fault_is_no_success,
         a_place_that_cannot_be_written_starts_nothing, a_record_that_cannot_be_written_is_told)


def main():
    failed = 0
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                case(sys.argv[1], Path(folder))
                left = [p.name for p in Path(folder).iterdir() if "." in p.name and p.suffix != ".json"]
                assert not left, f"left behind: {left}"
            except (AssertionError, ValueError, KeyError) as error:
                failed += 1
                print(f"FAILED {case.__name__}: {error}")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
