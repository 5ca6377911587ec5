#!/usr/bin/env python3
"""Do the pages tell the truth?

    pages_test.py MESHEMU

For every Markdown page: links to files lead somewhere. For every finding class of the public header:
a row of emu/check/README.md. For every command that the program lists: a mention in README.md. For
every `$ meshemu ...` in a block of the pages in SHOWN: the command, run in a folder where `configs`
is, prints what follows it. There `...` alone stands for any lines, `*` for any text. Not compared: times, and
what the row of a rank says behind its coordinate (who was where depends on the moment). Numbers with a
point agree to one part in a hundred, those below 1e-3 always. What `$ cat FILE` shows is the file, and
is made where there is none. The last line is `N passed, N failed`.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHOWN = ("README.md", "emu/plan/README.md", "emu/account/README.md")
SKIPPED = {"build", ".git", "suites"}
MEMBER = re.compile(r" +>? +\d+ +\w+=\d+[,\w=]* ")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]\d+)?")
TIMEOUT_S = 300


def pages():
    return sorted(p for p in ROOT.rglob("*.md") if not SKIPPED & set(p.relative_to(ROOT).parts))


def broken_links(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path = target.split("#")[0]
        if path and "://" not in path and not (page.parent / path).exists():
            yield f"{page.relative_to(ROOT)}: no {target}"


def classes_without_a_row():
    header = (ROOT / "include/meshemu/finding.h").read_text(encoding="utf-8")
    names = re.findall(r"^ +X\(([A-Z_]+)\)", header, flags=re.M)
    rows = [line for line in (ROOT / "emu/check/README.md").read_text(encoding="utf-8").splitlines()
            if line.startswith("|")]
    assert len(names) > 30
    return [f"emu/check/README.md: no row for {name}" for name in names
            if not any(f"`{name}`" in row for row in rows)]


def commands_not_in_readme(program):
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  ([a-z]+) ", text.split("Commands:")[1].split("Options:")[0], flags=re.M)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(names) > 5
    return [f"README.md: nothing about meshemu {name}" for name in names if f"meshemu {name}" not in readme]


def shown(page):
    """(command, lines that follow it) of each block."""
    for block in re.findall(r"^```[a-z]*\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S):
        command, lines = None, []
        for line in block.splitlines() + ["$ "]:
            if not line.startswith("$ "):
                lines.append(line)
                continue
            if command:
                yield command, lines
            command, lines = line[2:], []


def same_word(want, got):
    if want == got:
        return True
    if not (NUMBER.fullmatch(want) and NUMBER.fullmatch(got)):
        return False
    a, b = float(want), float(got)
    return abs(a - b) <= 0.01 * abs(a) and "." in want or max(abs(a), abs(b)) < 1e-3


def same_line(want, got):
    if "found after:" in want:
        return "found after:" in got
    if MEMBER.match(want):
        return MEMBER.match(got) is not None and want.split("=")[0] == got.split("=")[0]
    if "*" in want:
        return re.fullmatch(".*".join(map(re.escape, want.split("*"))), got) is not None
    a, b = want.split(), got.split()
    return len(a) == len(b) and all(map(same_word, a, b))


def differs(want, got):
    """The first line of `want` that is not there; None: all are."""
    i, anywhere = 0, False
    for line in want:
        if line == "...":
            anywhere = True
            continue
        while anywhere and i < len(got) and not same_line(line, got[i]):
            i += 1
        if i >= len(got) or not same_line(line, got[i]):
            return line + (f"\n    printed: {got[i]}" if i < len(got) else "\n    printed: nothing more")
        i, anywhere = i + 1, False
    return None


def untrue(page, program):
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "configs", os.path.join(folder, "configs"))
        for command, want in shown(page):
            words = shlex.split(command)
            path = os.path.join(folder, words[-1])
            if words[0] == "cat" and not os.path.exists(path):
                Path(path).write_text("\n".join(want) + "\n", encoding="utf-8")
            elif words[0] == "cat":
                yield command, differs(want, Path(path).read_text(encoding="utf-8").splitlines())
            elif words[0] == "meshemu" and len(words) > 2:
                done = subprocess.run([program] + words[1:], cwd=folder, stdin=subprocess.DEVNULL, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False)
                yield command, differs([line for line in want if line.strip()],
                                       [line for line in done.stdout.splitlines() if line.strip()])


def main():
    program = os.path.abspath(sys.argv[1])
    wrong = [complaint for page in pages() for complaint in broken_links(page)]
    wrong += classes_without_a_row() + commands_not_in_readme(program)
    count = len(pages()) + 2
    for name in SHOWN:
        for command, line in untrue(ROOT / name, program):
            count += 1
            if line is not None:
                wrong.append(f"{name}: {command}\n    is not so: {line}")
    for complaint in wrong:
        print(complaint)
    print(f"{max(0, count - len(wrong))} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
