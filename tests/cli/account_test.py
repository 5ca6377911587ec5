#!/usr/bin/env python3
"""The accounting commands where a golden text does not reach: presets, pictures, prompts, big meshes.

    account_test.py MESHEMU

Prints one line a fact, then `N passed, N failed`.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

PROGRAM = os.path.abspath(sys.argv[1])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MODELS = os.path.join(ROOT, "configs", "models")
PUBLISHED = {               # parameters, ranks of the mesh in the file
    "gpt2_124m": (124439808, 8),
    "gpt3_175b": (174604259328, 768),
    "llama3_8b": (8030261248, 8),
    "llama3_70b": (70553706496, 64),
    "llama3_405b": (405853388800, 16384),
    "bloom_176b": (176247271424, 384),
    "gpt_neox_20b": (20554567680, 96),
    "deepseek_v3": (671026419200, 2048),
}


def want(condition, what):
    if not condition:
        raise AssertionError(what)


def run(*words, text=None):
    return subprocess.run([PROGRAM, *words], input=text, capture_output=True, timeout=120, check=False,
                          **({} if isinstance(text, bytes) else {"text": True}))


def account(path, *more):
    done = run("account", path, "--json", "-", *more)
    want(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def every_preset_has_its_published_count(_):
    names = sorted(name[:-5] for name in os.listdir(MODELS) if name.endswith(".yaml"))
    want(names == sorted(PUBLISHED), names)
    for name, (elements, world) in PUBLISHED.items():
        report = account(os.path.join(MODELS, name + ".yaml"))
        want(report["unique"]["elements"] == elements, f"{name}: {report['unique']}")
        want(report["mesh"]["world"] == world, f"{name}: {report['mesh']}")
        causes = sum(cause["elements"] for cause in report["causes"])
        want(report["aggregate"]["elements"] - elements == causes, name)


def a_count_that_was_printed_elsewhere_is_copies_over_tp(folder):
    with open(os.path.join(MODELS, "gpt_neox_20b.yaml"), encoding="utf-8") as preset:
        one_replica = preset.read().replace("dp=12", "dp=1")
    report = account(write(folder, "neox.yaml", one_replica))
    want(report["causes"] == [{"name": "tp_copies", "elements": 20556201984 - 20554567680}], report["causes"])


def the_worked_example_holds(_):
    report = account(os.path.join(ROOT, "configs", "ownership.yaml"))
    weights = report["categories"][0]
    want(weights["refuted_by"]["axis"] == "dp", weights)
    want({row["elements"] for row in report["ranks"]} == {6704}, report["ranks"])
    want(report["causes"][-1] == {"name": "dp_copies", "elements": 13408}, report["causes"])


def a_large_mesh_is_told_in_classes(folder):
    text = ("mesh: dp=768,pp=16,tp=8\nmodel: {kind: transformer, layers: 126, hidden: 16384, heads: 128, "
            "kv_heads: 8, ffn: 53248, gated: true, vocab: 128256, sequence: 8192}\n"
            "batch: {microbatches: 32}\n")
    path = write(folder, "large.yaml", text)
    report = account(path)
    want(report["mesh"]["world"] == 98304 and len(report["ranks"]) <= 16, len(report["ranks"]))
    want(sum(row.get("count", 1) for row in report["ranks"]) == 98304, report["ranks"])
    for field in ("elements", "weight", "activations", "total"):
        total = sum(row[field] * row.get("count", 1) for row in report["ranks"])
        want(total == report["aggregate"][field], field)
    for row in report["ranks"]:
        alone = account(path, "--rank", str(row["rank"]))["ranks"]
        row.pop("count", None)
        want(alone == [row], f"{alone} is not {row}")


def a_picture_is_xml_with_four_bars_a_category(folder):
    path = os.path.join(folder, "chart.svg")
    done = run("account", os.path.join(MODELS, "gpt3_175b.yaml"), "--svg", path)
    want(done.returncode == 0 and "Dividing by 768 ranks is refuted" in done.stdout, done.stderr)
    picture = xml.parse(path).getroot()
    bars = [e for e in picture.iter("{http://www.w3.org/2000/svg}rect")]
    want(len(bars) == 1 + 5 * 4, len(bars))
    want(all(float(bar.get("width")) > 0 for bar in bars[1:]), "an empty bar")
    want(run("account", os.path.join(MODELS, "gpt3_175b.yaml"), "--svg", "-").returncode == 2, "--svg -")


def odds_are_fractions_in_lowest_terms_however_long(folder):
    path = write(folder, "odds.yaml", "mesh: dp=4,tp=128\nmodel: {kind: mlp_lm, hidden: 128}\n")
    rows = account(path, "--survive", "300")["survival"]
    want(len(rows) == 300 and len(rows[150]["weights"]["exact"]) > 100, rows[150])
    want(all(row["weights"]["probability"] >= later["weights"]["probability"]
             for row, later in zip(rows, rows[1:])), "the odds grow with the losses")
    want(rows[2]["weights"]["exact"] == "1/1" and rows[3]["weights"]["exact"] != "1/1", rows[3])


def the_prompt_does_what_it_is_told(_):
    done = run("lab", text="reset\npredict 4\nset majority 3\nstep\n!4\nset n=8 k=3\nstep\nhistory\nquit\nstep\n")
    want(done.returncode == 0 and not done.stderr, done)
    want(done.stdout.count("4 processes forked, 0 killed: 4 up") == 2, done.stdout)
    want("prediction: 4, right" in done.stdout and "majority: 3 needed, reached" in done.stdout, done.stdout)
    want(done.stdout.count("8 processes forked, 3 killed: 5 up") == 1, done.stdout)
    want("   8  history\n" in done.stdout, done.stdout)


def odd_input_does_not_end_the_prompt(_):
    noise = random.Random(1)
    words = ["set", "n", "k", "=", "mesh", "dp=2", "dp=0", "!", "!!", "!1", "reset", "predict", "-1", "\t", "majority",
             "99999999999999999999", "show", "none", "\0", "é", "help", "x" * 600]
    lines = [" ".join(noise.choices(words, k=noise.randint(0, 6))) for _ in range(500)]
    data = "\n".join(lines).encode() + bytes(noise.randrange(256) for _ in range(5000)) + b"\nreset\nstep"
    done = run("lab", text=data)
    want(done.returncode == 0 and b"4 processes forked, 0 killed: 4 up" in done.stdout, done.stdout[-300:])


def a_lab_of_1024_processes_leaves_none_behind(_):
    done = run("lab", "--n", "1024", "--k", "1000", "--step", "--json", "-")
    want(done.returncode == 0, done.stderr)
    report = json.loads(done.stdout)
    want(report["up"] == 24 and len(set(report["pids"])) == 1024, report["up"])
    want(not any(os.path.exists(f"/proc/{pid}") for pid in report["pids"]), "a replica is left")


FACTS = (every_preset_has_its_published_count, a_count_that_was_printed_elsewhere_is_copies_over_tp,
         the_worked_example_holds, a_large_mesh_is_told_in_classes, a_picture_is_xml_with_four_bars_a_category,
         odds_are_fractions_in_lowest_terms_however_long, the_prompt_does_what_it_is_told,
         odd_input_does_not_end_the_prompt, a_lab_of_1024_processes_leaves_none_behind)


def main():
    failed = 0
    for fact in FACTS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                fact(folder)
                print(f"PASS {fact.__name__.replace('_', ' ')}")
            except (AssertionError, OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"FAIL {fact.__name__.replace('_', ' ')}: {error}")
    print(f"{len(FACTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
