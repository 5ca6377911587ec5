#!/usr/bin/env python3
"""Runs commands and compares what they print, and their exit code, with what is written down.

    run_cases.py MESHEMU FILE.cases...

A file holds cases:

    === the fact, in words
    --- file bad.yaml          a file in the folder where the command runs (any number)
    mesh: dp=0
    --- env NAME=VALUE         a variable of its environment (any number)
    --- run                    the arguments of meshemu, split as a shell splits words
    mesh bad.yaml
    --- exit 2                 0 where it is left out
    --- out                    standard output; nothing where it is left out
    --- err                    standard error, likewise

In out and err `*` stands for any text within a line, `?` for any character, a line of `...` for any
lines. Lines that start with `#` before the first case are comments. The last line printed is
`N passed, N failed`.
"""
import fnmatch
import os
import re
import shlex
import subprocess
import sys
import tempfile

TIMEOUT_S = 60
SECTIONS = ("file", "env", "run", "exit", "out", "err")


class Case:
    def __init__(self, where, name):
        self.where, self.name = where, name
        self.env = {}
        self.files, self.run, self.exit, self.out, self.err = {}, None, 0, [], []

    def open_section(self, words):
        """The list that takes the section's lines."""
        if words[0] == "exit":
            self.exit = int(words[1])
            return []
        if words[0] == "env":
            name, _, value = words[1].partition("=")
            self.env[name] = value
            return []
        if words[0] == "file":
            return self.files.setdefault(words[1], [])
        if words[0] == "run":
            self.run = []
        return getattr(self, words[0])


def read_cases(path):
    cases, lines = [], None
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f.read().splitlines(), 1):
            if line.startswith("=== "):
                cases.append(Case(f"{os.path.basename(path)}:{number}", line[4:]))
                lines = None
            elif line.startswith("--- "):
                words = line[4:].split()
                if not cases or words[0] not in SECTIONS:
                    sys.exit(f"{path}:{number}: no such section: {line}")
                lines = cases[-1].open_section(words)
            elif lines is not None:
                lines.append(line)
            elif line and not line.startswith("#"):
                sys.exit(f"{path}:{number}: a line outside of any section: {line}")
    return cases


def matches(got, want):
    """Do the lines match the patterns? `...` takes as few lines as it can."""
    if not want:
        return not got
    if want[0] == "...":
        return any(matches(got[i:], want[1:]) for i in range(len(got) + 1))
    pattern = re.sub(r"\[", "[[]", want[0])
    return bool(got) and fnmatch.fnmatchcase(got[0], pattern) and matches(got[1:], want[1:])


def trimmed(lines):
    """Without empty lines at the end: they part the cases."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def run_case(program, case):
    """What is wrong, as lines; none: the case passes."""
    if not case.run:
        return ["no command"]
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in case.files.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write("\n".join(trimmed(lines)) + "\n")
        environment = {**os.environ, "COLUMNS": "80", **case.env}
        try:
            done = subprocess.run([program] + shlex.split(" ".join(case.run)), cwd=folder,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S,
                                  env=environment, check=False)
        except subprocess.TimeoutExpired:
            return [f"no end within {TIMEOUT_S} s"]
    wrong = []
    if done.returncode != case.exit:
        wrong.append(f"exit code {done.returncode}, want {case.exit}")
    for what, got, want in (("out", done.stdout, case.out), ("err", done.stderr, case.err)):
        lines = trimmed(got.decode("utf-8", "replace").split("\n"))
        if not matches(lines, trimmed(want)):
            wrong += [f"{what} is:"] + ["  | " + line for line in lines[:40]]
    return wrong


def main():
    program, passed, failed = os.path.abspath(sys.argv[1]), 0, 0
    for path in sys.argv[2:]:
        for case in read_cases(path):
            wrong = run_case(program, case)
            passed, failed = passed + (not wrong), failed + bool(wrong)
            print("FAIL" if wrong else "PASS", case.where, case.name)
            for line in wrong:
                print("    " + line)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
