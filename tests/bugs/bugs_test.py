#!/usr/bin/env python3
"""Is every reported fault in configs/bugs found, and every remedy beside it let through?

    bugs_test.py PROGRAM [FOLDER]

A pair is NAME.yaml, the wrong recipe, and NAME.right.yaml, the same mesh, model and data with another
recipe; or with `faults` where a bug is none of the recipe (then class, culprits and words alone are known). Wrong: exit code 1 and exactly one fault, with the class, words and parameters of expected.json;
right: exit code 0, verdict pass, no fault. In both, the coefficient of every source on every rank must be
what the recipe says it is. For linear models that, and the value, is recomputed with fractions by
recipe_reference.py, which also has to agree with expected.json; for the language model it follows from
expected.json, the valid tokens and the holders that are counted here; a norm is recomputed from the gradients. Fewer
than FEWEST pairs, a config without its partner or a row missing in the README is a failure.
One line a config, then `N passed, N failed`.
"""
import fnmatch
import itertools
import json
import math
import re
import sys
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "suites" / "tools"))
import recipe_reference as reference  # noqa: E402
import score_gradients as score  # noqa: E402

FEWEST = 90
DEADLINE_S = 120
RELATIVE = 1e-12  # of a value whose factors are no powers of two; the coefficients stay exact
COMMENTS = 3
COPIED_BY_TP = ("*.norm.weight", "*.down.bias")


class Wrong(Exception):
    pass


class Names(score.Names):
    """Of sources, and of their parts: "dp=0,mb=1@use1" is what the second use of a parameter got from dp=0,mb=1."""

    def canonical(self, name):
        source, mark, use = name.partition("@")
        return super().canonical(source) + mark + use


def need(condition, reason):
    if not condition:
        raise Wrong(reason)


# ---- what has to come out


class Expectation:
    """Per parameter and rank: {source: coefficient}; `values` likewise, or None where nobody knows them."""

    def __init__(self, tokens, world):
        self.tokens, self.world = tokens, world
        self.coefficients = {}
        self.values = None

    def right(self, parameter):
        wanted = Fraction(1, self.tokens)
        return all(c == wanted for row in self.coefficients[parameter] if row for c in row.values())


def spelled_out(config):
    """The config as the reference knows it: `world` replaced by its axes, without the clipping after it all."""
    axes = [name for name, _ in reference.parse_mesh(config["mesh"])]
    for entry in config["recipe"].get("reduce", []):
        entry["over"] = axes if entry["over"] == ["world"] else entry["over"]
    recipe = {key: value for key, value in config["recipe"].items() if key not in ("clip", "norm")}
    return dict(config, recipe=recipe)


def expect_linear(config):
    """None where the recipe divides by zero."""
    step = reference.Step(spelled_out(config))
    try:
        state = step.run()
    except reference.DividedByZero:
        return None
    found = Expectation(step.tokens, len(step.ranks))
    valid = [source for source, (_, count) in step.sources.items() if count]
    found.coefficients["w"] = [{reference.source_name(step, s): state[rank][0][s] for s in valid} for rank in step.ranks]
    found.values = {"w": [state[rank][1] for rank in step.ranks]}
    return found


def share(count, parts):
    """The chunk rule: how many of `count` each part gets."""
    each = -(-count // parts)
    return [max(0, min(each, count - i * each)) for i in range(parts)]


def sizes_of(config):
    return dict(reference.parse_mesh(config["mesh"]))


def coordinates(config):
    """One {axis: coordinate} a rank; the last axis is the fastest."""
    axes = reference.parse_mesh(config["mesh"])
    names = [name for name, _ in axes]
    return [dict(zip(names, place)) for place in itertools.product(*(range(size) for _, size in axes))]


def count_tokens(config, folder):
    """{(dp, cp, microbatch): valid tokens} of the first step: every byte of a sequence is predicted once."""
    data, size = config["data"], sizes_of(config)
    length = data["sequence"]
    lines = [line for line in (folder / data["text"]).read_bytes().split(b"\n") if line]
    cut = [len(line[at:at + length]) for line in lines for at in range(0, len(line), length)]
    batch = [cut[i % len(cut)] for i in range(data["batch"])]
    found, at = {}, 0
    for d, mine in enumerate(share(data["batch"], size.get("dp", 1))):
        for m, count in enumerate(share(mine, data["microbatches"])):
            start = 0
            for c, positions in enumerate(share(length, size.get("cp", 1))):
                found[d, c, m] = sum(min(max(n - start, 0), positions) for n in batch[at:at + count])
                start += positions
            at += count
    return found


def holders(config, parameter):
    """The ranks that hold a parameter: all, or those of its stage; a tied table lies on both ends."""
    places, stages = coordinates(config), sizes_of(config).get("pp", 1)
    if stages == 1:
        return list(range(len(places)))
    each, more = divmod(config["model"]["layers"], stages)
    stage_of = [s for s in range(stages) for _ in range(each + (s < more))]
    last = {stages - 1}
    if parameter.startswith("layers."):
        on = {stage_of[int(parameter.split(".")[1])]}
    elif parameter == "embed.weight":
        on = {0} | (last if config["model"]["tie_embeddings"] else set())
    else:
        on = last
    return [rank for rank, place in enumerate(places) if place["pp"] in on]


def uses(config, parameter):
    """A tied table has two, norms and row biases of sequence slices one on each tp rank."""
    size = sizes_of(config)
    if parameter == "embed.weight" and config["model"]["tie_embeddings"] and size.get("pp", 1) > 1:
        return 2
    sliced = config["model"].get("sequence_parallel", False) and any(fnmatch.fnmatchcase(parameter, glob) for glob in COPIED_BY_TP)
    return size.get("tp", 1) if sliced else 1


def table_of(entry, place):
    """The factors of expected.json on the rank at these coordinates."""
    for copy in entry.get("copies", []):
        if all(place[axis] == int(at) for axis, at in (part.split("=") for part in copy["at"].split(","))):
            return copy["factors"]
    return entry.get("factors")


def factor_of(factors, source):
    """The first pattern that fits."""
    return next(factor for pattern, factor in factors.items() if fnmatch.fnmatchcase(source, pattern))


def row_of(config, parameter, factors, counts):
    """{source: coefficient} of one rank; factors: patterns, or one for all."""
    row = {}
    for (d, c, m), count in counts.items():
        place = [("dp", d), ("cp", c), ("mb", m)]
        several = {"dp": True, "cp": sizes_of(config).get("cp", 1) > 1, "mb": config["data"]["microbatches"] > 1}
        name = ",".join(f"{axis}={at}" for axis, at in place if several[axis])
        for use in range(uses(config, parameter) if count else 0):
            part = name + (f"@use{use}" if use else "")
            factor = factor_of(factors, part) if isinstance(factors, dict) else factors
            row[part] = Fraction(factor) / sum(counts.values())
    return row


def expect_language(config, folder, entry, parameters):
    """The parameters that an entry names carry its factors; all others, and all without an entry, are right."""
    counts = count_tokens(config, folder)
    places = coordinates(config)
    found = Expectation(sum(counts.values()), len(places))
    for parameter in parameters:
        hit = entry is not None and any(fnmatch.fnmatchcase(parameter, glob) for glob in entry.get("parameters", []))
        rows = [None] * len(places)
        for rank in holders(config, parameter):
            factors = (table_of(entry, places[rank]) or entry["ratio"]) if hit else 1
            rows[rank] = row_of(config, parameter, factors, counts)
        found.coefficients[parameter] = rows
    return found


# ---- comparison


def check_rows(shown, rows, values, names, exact):
    """One entry of `gradients` against what each rank should hold."""
    due = [rank for rank, row in enumerate(rows) if row is not None]
    copies = shown.get("copies") or [dict(shown, ranks=due)]
    ranks = sorted(rank for copy in copies for rank in copy["ranks"])
    need(ranks == due, f"copies of ranks {ranks}, held by {due}")
    for copy in copies:
        for rank in copy["ranks"]:
            told = copy["coefficients"]
            complaint = score.compare_coefficients(told, rows[rank], names, empty_sources(told, rows[rank], names))
            need(not complaint, f"rank {rank}: {complaint}")
            if values is not None:
                complaint = score.compare_value(copy["value"], values[rank], None if exact else RELATIVE)
                need(not complaint, f"rank {rank}: {complaint}")


def empty_sources(told, row, names):
    """Sources that are told of but hold no valid token: nothing is expected of them."""
    known = {names.canonical(name) for name in row}
    return [name for name in told if names.canonical(name) not in known]


def check_gradients(report, expectation, names, exact):
    shown = report["gradients"]
    need(set(shown) == set(expectation.coefficients), f"gradients of {sorted(shown)}")
    for parameter, rows in expectation.coefficients.items():
        values = expectation.values[parameter] if expectation.values else None
        check_rows(shown[parameter], rows, values, names, exact)


def check_factor(finding, expectation, ratio):
    need(score.fraction(finding["ratio"]) == ratio, f"ratio {finding['ratio']}, want {ratio}")
    need(score.fraction(finding["expected"]) == Fraction(1, expectation.tokens), f"expected {finding['expected']}")
    need(score.fraction(finding["got"]) == ratio / expectation.tokens, f"got {finding['got']}")


def squares(values):
    return sum(float(value) ** 2 for value in values)


def check_norm(finding, report, config, count):
    """Each element once, against once for every rank that holds it, or one rank's own (then only: less)."""
    once = every = 0.0
    for parameter, shown in report["gradients"].items():
        copied = config["model"]["kind"] == "linear" or any(fnmatch.fnmatchcase(parameter, glob) for glob in COPIED_BY_TP)
        copies = len(holders(config, parameter)) // (1 if copied else sizes_of(config).get("tp", 1))
        once += squares(shown["value"])
        every += squares(shown["value"]) * copies
    wanted, got = float(finding["expected"]), float(finding["got"])
    need(math.isclose(wanted, math.sqrt(once), rel_tol=RELATIVE), f"expected {wanted}, want {math.sqrt(once)}")
    if count == "replicas":
        need(math.isclose(got, math.sqrt(every), rel_tol=RELATIVE), f"got {got}, want {math.sqrt(every)}")
    else:
        need(0 < got < wanted, f"got {got} is no part of {wanted}")


def check_finding(finding, entry, expectation, names):
    need(finding["class"] == entry["class"], f"class {finding['class']}, want {entry['class']}")
    said, axes = finding["explanation"] or "", finding["axes"]
    for choice in entry["words"]:
        need(any(re.search(rf"\b{word}\b", said) or word in axes for word in choice.split("|")),
             f"explanation {said!r} and axes {axes} do not name {choice}")
    for text in entry.get("says", []):
        need(text in finding["message"] or text in said, f"{finding['message']!r} and {said!r} do not say {text!r}")
    if "culprits" in entry:
        need(finding["culprits"] == entry["culprits"], f"culprits {finding['culprits']}")
    if expectation is None or "norm" in entry:
        return
    wrong = [p for p in expectation.coefficients if not expectation.right(p)]
    need(sorted(finding["parameters"]) == sorted(wrong), f"parameters {finding['parameters']}, want {wrong}")
    rows = expectation.coefficients[wrong[0]]
    told = finding["coefficients"]
    need(any(not score.compare_coefficients(told, row, names, empty_sources(told, row, names)) for row in rows if row),
         f"the finding's coefficients {told} are those of no rank")
    if "ratio" in entry:
        check_factor(finding, expectation, Fraction(entry["ratio"]))
    else:
        need(finding["ratio"] is None, f"ratio {finding['ratio']} where there is none")


def check_entry(entry, config, names):
    """expected.json against the reference, so that neither is copied from the program."""
    result, _ = reference.judge(spelled_out(config))
    for key in ("ratio", "coefficients", "copies"):
        if key not in entry:
            continue
        mine, theirs = entry[key], result.get(key)
        if key == "copies":
            need(theirs is not None and len(mine) == len(theirs), "other copies in the reference")
            for a, b in zip(mine, theirs):
                need(a["at"] == b["at"] and names.table(a["coefficients"]) == names.table(b["coefficients"]),
                     f"copy at {a['at']}: the reference has {b}")
        else:
            need(mine == theirs, f"{key} {mine}, the reference has {theirs}")
    need(result["verdict"] == "fail" and result["class"] == entry["class"], f"the reference says {result['class'] or 'pass'}")


# ---- the files


def check_comment(path, entry):
    """The public id, then three lines, the last of which says what meshemu says."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = [line for line in lines if line.startswith("#")]
    need(lines[:len(head)] == head and len(head) == 1 + COMMENTS, f"want {1 + COMMENTS} lines of comment")
    public = re.fullmatch(r"# ([\w.-]+/[\w.-]+#\d+)(, put right)?", head[0])
    need(public and bool(public[2]) == path.name.endswith(".right.yaml"), f"no public id: {head[0]}")
    word = "pass" if public[2] else entry["class"]
    need(head[-1].startswith(f"# meshemu: {word}"), f"the last line does not say {word}")
    return public[1]


def check_pair(wrong, right, entry, readme):
    """Same fault, same mesh, model and data; and a row in the README."""
    public = check_comment(wrong, entry)
    need(check_comment(right, entry) == public, "the two name different reports")
    first, second = reference.read_config(str(wrong)), reference.read_config(str(right))
    may_differ = "faults" if "faults" in first else "recipe"
    need({k: v for k, v in first.items() if k != may_differ} == {k: v for k, v in second.items() if k != may_differ},
         f"more than {may_differ} differs")
    need("faults" not in second, "a fault is injected into the right one")
    row = [line for line in readme if line.startswith(f"| [{wrong.stem}]({wrong.name})")]
    need(len(row) == 1 and public in row[0] and entry["class"] in row[0], "no row in README.md with id and class")


def run(program, path, code):
    try:
        got, report = score.run(program, str(path), DEADLINE_S)
    except score.Unusable as why:
        raise Wrong(str(why)) from why
    need(got == code, f"exit code {got}, want {code}")
    need(report["verdict"] == ("fail" if code else "pass"), f"verdict {report['verdict']}")
    return report, [f for f in report["findings"] if f["severity"] == "fault"]


def check_run(program, path, entry):
    """entry: what expected.json says of a wrong config; None for a right one."""
    config = reference.read_config(str(path))
    names, linear = Names(spelled_out(config)), config["model"]["kind"] == "linear"
    normal = entry is None or "norm" in entry  # every coefficient is right
    if linear and not normal:
        check_entry(entry, config, names)
    report, faults = run(program, path, 1 if entry else 0)
    need(len(faults) == (1 if entry else 0), f"faults {[f['class'] for f in faults]}")
    if "faults" in config:
        need(faults[0]["culprits"] == entry["culprits"], f"culprits {faults[0]['culprits']}")
        check_finding(faults[0], entry, None, names)
        return
    expectation = expect_linear(config) if linear else expect_language(config, path.parent, entry, list(report["gradients"]))
    if expectation:
        need(all(map(expectation.right, expectation.coefficients)) == normal, "the recipe is not what it is called")
        check_gradients(report, expectation, names, config["arithmetic"] == "exact")
        need(report["steps"][0]["tokens"] == expectation.tokens, f"{report['steps'][0]['tokens']} tokens")
    if entry:
        check_finding(faults[0], entry, expectation, names)
    if entry and "norm" in entry:
        check_norm(faults[0], report, config, entry["norm"])


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program = str(Path(sys.argv[1]).resolve())
    folder = Path(sys.argv[2] if len(sys.argv) == 3 else HERE.parent.parent / "configs" / "bugs").resolve()
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    readme = (folder / "README.md").read_text(encoding="utf-8").splitlines()
    counts = {True: 0, False: 0}

    def case(name, check, *arguments):
        try:
            check(*arguments)
            print(f"PASS {name}", flush=True)
            counts[True] += 1
        except (Wrong, OSError, KeyError, TypeError, ValueError, AssertionError, reference.ConfigError) as error:
            print(f"FAIL {name}: {type(error).__name__}: {error}", flush=True)
            counts[False] += 1

    def check_folder():
        names = {path.name[:-len(".right.yaml")] for path in folder.glob("*.right.yaml")}
        stray = names ^ {path.stem for path in folder.glob("*.yaml") if not path.name.endswith(".right.yaml")}
        need(not stray, f"without a partner: {sorted(stray)}")
        need(names == set(expected), f"not in both folder and expected.json: {sorted(names ^ set(expected))}")
        need(len(names) >= FEWEST, f"{len(names)} pairs, want {FEWEST}")

    case("folder", check_folder)
    for name, entry in expected.items():
        wrong, right = folder / f"{name}.yaml", folder / f"{name}.right.yaml"
        case(f"{name} is a pair", check_pair, wrong, right, entry, readme)
        case(name, check_run, program, wrong, entry)
        case(f"{name}.right", check_run, program, right, None)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
