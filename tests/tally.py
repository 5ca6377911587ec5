#!/usr/bin/env python3
"""How many tests really ran, and how many of them passed?

    tally.py junit FILE         the JUnit file of a ctest run (--output-junit)
    tally.py lines FILE CODE    the output of one program and its exit code

Prints `PASSED FAILED`. A Criterion executable counts as many tests as its closing line says, a program
whose last line is `N passed, N failed` counts those, any other program is one test. A program that
fails has at least one failure, whatever it printed; so has one in which a sanitizer spoke, since not
every runner passes that on in its exit code. A run of nothing counts nothing: the caller judges that.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

CRITERION = re.compile(r"\[====\] Synthesis: Tested: (\d+) \| Passing: (\d+) \| Failing: (\d+) \| Crashing: (\d+)")
SUMMARY = re.compile(r"(\d+) passed, (\d+) failed")
SANITIZER = re.compile(r"(ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|: runtime error: )")
COLOUR = re.compile(r"\x1b\[[0-9;]*m|\[NON-XML-CHAR-0x1B\]\[[0-9;]*m")


def count_program(output, succeeded):
    """(passed, failed) of one program."""
    output = COLOUR.sub("", output)
    runs = [tuple(map(int, found.groups())) for found in CRITERION.finditer(output)]
    lines = output.split("\n")
    last = SUMMARY.fullmatch(next((line.strip() for line in reversed(lines) if line.strip()), ""))
    if runs:
        passed = sum(run[1] for run in runs)
        failed = sum(run[0] - run[1] for run in runs)
    elif last:
        passed, failed = int(last[1]), int(last[2])
    else:
        passed, failed = (1, 0) if succeeded else (0, 1)
    if not succeeded or SANITIZER.search(output):
        failed = max(failed, 1)
    return passed, failed


def count_junit(text):
    """(passed, failed) over all programs of a ctest run."""
    passed = failed = 0
    for case in ElementTree.fromstring(text).iter("testcase"):
        output = "".join(part.text or "" for part in case.iter("system-out"))
        more_passed, more_failed = count_program(output, case.get("status") == "run")
        passed += more_passed
        failed += more_failed
    return passed, failed


def main(arguments):
    if len(arguments) not in (2, 3) or arguments[0] not in ("junit", "lines"):
        sys.exit(__doc__)
    with open(arguments[1], encoding="utf-8", errors="replace") as stream:
        text = stream.read()
    counts = count_junit(text) if arguments[0] == "junit" else count_program(text, arguments[2] == "0")
    print(*counts)


if __name__ == "__main__":
    main(sys.argv[1:])
