#!/usr/bin/env python3
"""Does every include go down the map?

The map in CONTRIBUTING.md gives each folder of emu/ a row, and emu_folder(NAME USES ...) in
CMakeLists.txt the folders it may use. Checked: every folder has a row, what it uses lies in lower
rows, and each #include "folder/file.h" names an existing file of its own folder or of one it uses.
Looking at nothing is a failure. One line a complaint, then `N passed, N failed`; a file or a
table row is one check.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^ *(\d+) +([a-z]+) {2,}\S")
FOLDER = re.compile(r"^emu_folder\((\w+)((?: [^)]*)?)\)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def read_rows(text):
    """Folder -> row, from the fenced block that starts with ```map."""
    block = re.search(r"^```map\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = block[1].splitlines() if block else []
    return {found[2]: int(found[1]) for found in map(ROW.match, lines) if found}


def read_uses(text):
    """Folder -> folders it may use."""
    uses = {}
    for name, rest in FOLDER.findall(text):
        words = rest.split()
        start = words.index("USES") + 1 if "USES" in words else len(words)
        end = min([words.index(word) for word in ("LIBS", "VARIANTS") if word in words] + [len(words)])
        uses[name] = words[start:end]
    return uses


def check_table(rows, uses):
    """Complaints for each folder of the table."""
    for name, used in uses.items():
        wrong = []
        if name not in rows:
            wrong.append(f"CMakeLists.txt: {name} has no row on the map")
        for other in used:
            if other not in rows or other not in uses:
                wrong.append(f"CMakeLists.txt: {name} uses {other}, which does not exist")
            elif name in rows and rows[other] >= rows[name]:
                wrong.append(f"CMakeLists.txt: {name} (row {rows[name]}) uses {other} (row {rows[other]})")
        yield wrong


def check_file(path, folder, uses):
    """Complaints about the includes of one file."""
    text = path.read_text(encoding="utf-8")
    wrong = []
    for found in INCLUDE.finditer(text):
        target = found[1]
        line = text.count("\n", 0, found.start(1)) + 1
        where = f"{path.relative_to(ROOT)}:{line}"
        used = target.split("/")[0] if "/" in target else folder
        if used != folder and used not in uses.get(folder, []):
            wrong.append(f"{where}: {folder} must not include {target}")
        elif not (ROOT / "emu" / target).is_file() and not (path.parent / target).is_file():
            wrong.append(f"{where}: {target} does not exist")
    return wrong


def check_public(path):
    """Public headers see each other alone, as <meshemu/...>."""
    return [f"{path.relative_to(ROOT)}: a public header must not include {target}"
            for target in INCLUDE.findall(path.read_text(encoding="utf-8"))]


def main():
    rows = read_rows((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    uses = read_uses((ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    sources = sorted(path for path in (ROOT / "emu").rglob("*") if path.suffix in (".c", ".h"))
    public = sorted((ROOT / "include").rglob("*.h"))
    if not rows or not uses or not sources or not public:
        print(f"nothing to look at: {len(rows)} rows, {len(uses)} folders, {len(sources)} sources, {len(public)} headers")
        print("0 passed, 1 failed")
        return 1
    results = list(check_table(rows, uses))
    for path in sources:
        folder = path.relative_to(ROOT / "emu").parts[0]
        known = [] if folder in uses else [f"{path.relative_to(ROOT)}: no emu_folder({folder}) in CMakeLists.txt"]
        results.append(known + check_file(path, folder, uses))
    results += [check_public(path) for path in public]
    for complaint in (line for wrong in results for line in wrong):
        print(complaint)
    failed = sum(1 for wrong in results if wrong)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
