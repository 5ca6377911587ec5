#!/usr/bin/env python3
"""Do the sources keep the size and the names that CONTRIBUTING.md asks for?

Checked for every C file and header: no file above 500 lines, no function above 60 lines, and under
emu/ and include/ no two files of one name. Layout is clang-format's (a function's head starts in
the first column, its braces stand there alone), so a scan of lines finds every function. Looking at
nothing is a failure. One line a complaint, then `N passed, N failed`; a file is one check.
"""
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("emu", "include", "examples", "tests")
COPIED = ROOT / "tests" / "suites"
FILE_LINES = 500
FUNCTION_LINES = 60


def functions_of(lines):
    """(line of the head, length with head and braces) of each function; aggregates do not count."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{" and number > 1:
            start = number - 1
            while start > 1 and lines[start - 1][:1] in (" ", "\t"):
                start -= 1
        elif line.startswith("}") and start is not None:
            yield start, number - start + 1
            start = None


def check_file(path, names):
    where = path.relative_to(ROOT)
    lines = path.read_text(encoding="utf-8").splitlines()
    wrong = []
    if len(lines) > FILE_LINES:
        wrong.append(f"{where}: {len(lines)} lines, at most {FILE_LINES}")
    for start, length in functions_of(lines):
        if length > FUNCTION_LINES:
            wrong.append(f"{where}:{start}: a function of {length} lines, at most {FUNCTION_LINES}")
    if where.parts[0] in ("emu", "include") and names[path.name] > 1:
        wrong.append(f"{where}: {names[path.name]} files have this name")
    return wrong


def main():
    files = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*")
                   if path.suffix in (".c", ".h") and COPIED not in path.parents)
    names = Counter(path.name for path in files if path.relative_to(ROOT).parts[0] in ("emu", "include"))
    results = [check_file(path, names) for path in files]
    for complaint in (line for wrong in results for line in wrong):
        print(complaint)
    failed = sum(1 for wrong in results if wrong)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 0 if results and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
