#!/usr/bin/env python3
"""meshemu account against the independent reference, on random configs: every field of every rank.

    account_random.py MESHEMU [CASES]

Activations, traffic and survival too, which the property tests in C do not look at. A config that
the reference refuses must be refused with exit code 2. Prints `N passed, N failed`.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "suites", "tools"))
import account_reference as reference  # noqa: E402


def mesh(rng):
    axes = [(name, rng.choice((1, 1, 2, 2, 3, 4))) for name in ("dp", "tp", "cp", "pp", "x")]
    rng.shuffle(axes)
    return ",".join(f"{name}={size}" for name, size in axes[:rng.randint(1, 5)])


def transformer(rng, tp, pp):
    heads = tp * rng.choice((1, 2, 4)) if rng.random() < 0.95 else 3
    model = {"kind": "transformer", "layers": pp + rng.randint(0, 5), "hidden": heads * rng.choice((2, 8)),
             "heads": heads, "kv_heads": rng.choice((heads, 1, max(1, heads // 2))), "ffn": tp * rng.randint(1, 9),
             "vocab": rng.randint(1, 300), "vocab_multiple": rng.randint(1, 4), "sequence": rng.randint(1, 64),
             "positions": rng.choice(("rotary", "learned", "none")), "norm": rng.choice(("rms", "layer"))}
    for name in ("gated", "bias", "qkv_bias", "qk_norm", "tie_embeddings", "embedding_norm"):
        model[name] = rng.random() < 0.5
    if rng.random() < 0.3:
        model["experts"] = {"count": rng.randint(2, 5), "active": rng.randint(1, 2), "shared": rng.randint(0, 2),
                            "ffn": tp * rng.randint(1, 3), "from_layer": rng.randint(0, model["layers"])}
    if rng.random() < 0.2:
        model["latent"] = {"kv": rng.randint(1, 9), "nope": rng.randint(1, 9), "rope": rng.randint(0, 9),
                           "value": rng.randint(1, 9)}
    return model


def config(rng):
    out = {"mesh": mesh(rng)}
    sizes = dict(part.split("=") for part in out["mesh"].split(","))
    tp, pp = int(sizes.get("tp", 1)), int(sizes.get("pp", 1))
    kind = rng.random()
    if kind < 0.75:
        out["model"] = transformer(rng, tp, pp)
    elif kind < 0.9:
        out["model"] = {"kind": "mlp_lm", "context": rng.randint(1, 4), "embed": rng.randint(1, 9),
                        "hidden": tp * rng.randint(1, 9), "layers": rng.randint(1, 6),
                        "tie_embeddings": rng.random() < 0.5}
    else:
        out["model"] = {"kind": "linear", "features": rng.randint(1, 999)}
    if rng.random() < 0.8:
        out["precision"] = {"weight": 2, "gradient": rng.choice((2, 4)), "master": 4, "moments": 8,
                            "activation": rng.choice((1, 2, 4))}
    out["optimizer"] = {"kind": rng.choice(("adamw", "sgd", "momentum")),
                        "shard": rng.choice(("none", "zero1", "zero2", "zero3")),
                        "over": rng.choice((["dp", "cp"], ["dp"], ["cp"]))}
    out["batch"] = {"micro": rng.randint(1, 5), "microbatches": rng.randint(1, 6)}
    out["recompute"] = rng.choice(("none", "selective", "full"))
    for name in ("sequence_parallel", "flash", "dropout"):
        out[name] = rng.random() < 0.5
    return out


def differences(got, want, path=""):
    """Where the report lacks or changes what the reference says. Causes are compared by name."""
    if path == ".causes":
        got, want = ({c["name"]: c["elements"] for c in side} for side in (got, want))
    if isinstance(want, dict):
        for key, value in want.items():
            if key not in got:
                yield f"{path}.{key} is missing"
            else:
                yield from differences(got[key], value, f"{path}.{key}")
    elif isinstance(want, list):
        if len(got) != len(want):
            yield f"{path} has {len(got)} entries, want {len(want)}"
        for i, (a, b) in enumerate(zip(got, want)):
            yield from differences(a, b, f"{path}[{i}]")
    elif isinstance(want, float):
        if abs(got - want) > 1e-9 * max(1.0, abs(want)):
            yield f"{path} {got}, want {want}"
    elif got != want:
        yield f"{path} {got}, want {want}"


def padding_decides(case):
    """Shards of padding alone are no loss; the reference takes a padded table for whole."""
    return "vocab" in case["model"] or case["model"]["kind"] == "mlp_lm"


def check(binary, path, case, lost):
    try:
        want = reference.report(case, survive=lost)
    except reference.ConfigError:
        want = None
    with open(path, "w", encoding="utf-8") as out:
        json.dump(case, out)
    done = subprocess.run([binary, "account", path, "--survive", str(lost), "--json", "-"],
                          capture_output=True, text=True, timeout=60, check=False)
    if want is None:
        return [] if done.returncode == 2 else [f"exit {done.returncode}, want a refusal"]
    if done.returncode == 2 and "sets are of two sizes" in done.stderr:
        return []               # a model so small that the rule of equal sets does not hold for it
    if done.returncode != 0:
        return [f"exit {done.returncode}: {done.stderr}"]
    if case["optimizer"]["shard"] != "none" and padding_decides(case):
        for row in want["survival"]:
            del row["weights"], row["optimizer"]
    return list(differences(json.loads(done.stdout), want))


def main():
    binary, cases = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 300
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(cases):
            rng = random.Random(seed)
            case = config(rng)
            world = reference.Mesh(case["mesh"]).world
            wrong = check(binary, os.path.join(folder, "case.yaml"), case, rng.randint(1, min(world, 6)))
            if wrong:
                failed += 1
                print(f"FAIL {seed}: {wrong[:3]}\n  {json.dumps(case)}")
    print(f"{cases - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
