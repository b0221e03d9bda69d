#!/usr/bin/env python3
"""Measure what worked examples bring and cost in simulated worlds.

usage: bench/examples.py [--calls 500] [--seeds 12] [--learns 0] [--jobs 2] [--results FILE]

For each kind of optimizer and seed a world (20 rules, 60/30/310 tasks, 10 % of the answers
forget the skill) is trained twice under a ceiling of calls, the test left out: with
edits.examples auto, and off. --learns M: the target also follows a rule that M examples
show. Printed are mean scores on the 310 test tasks, the difference, paired by seed, with
its standard error, calls, and how many runs ship examples.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile

import common

OPTIMIZERS = "perfect needs-3 reads-8 reads-first-8 writes-3 misses-half drops-fifth harmful".split()


def run(binary, work, *args):
    p = subprocess.run([binary, *args, "--json"], cwd=work, capture_output=True, text=True)
    if p.returncode != 0:
        raise SystemExit(f"{' '.join(args)} ended with {p.returncode}: {p.stderr[-2000:]}")
    return json.loads(p.stdout)


def measure(binary, optimizer, seed, calls, learns):
    """Returns score, calls and examples of a world, with and without them."""
    with tempfile.TemporaryDirectory() as work:
        made = ["init", "w", "--world", f"seed={seed},flip=0.1,rules=20,tasks=400,optimizer={optimizer}"]
        subprocess.run([binary, *made], cwd=work, check=True, capture_output=True)
        world = os.path.join(work, "w", "world.yaml")
        with open(world) as f:
            text = f.read()
        with open(world, "w") as f:
            f.write(text.replace("examples: 0 ", f"examples: {learns} "))
        sets = [a for o in ("split.ratio=60:30:310", "train.epochs=auto", f"train.seed={seed}", "record.reuse=never") for a in ("--set", o)]
        out = {}
        for examples in ("auto", "off"):
            own = ["--set", f"limits.calls={calls}", "--set", "eval.test=false", "--set", f"edits.examples={examples}"]
            s = run(binary, work, "train", "w", "--yes", "--run", examples, *sets, *own)
            e = run(binary, work, "eval", f"{examples}/best_skill.md", "--config", "w", "--split", "test", "--accept-seed", "--run", "eval-" + examples, *sets)
            out[examples] = {"score": e["splits"]["test"]["hard"], "calls": s["calls"]["total"], "examples": s.get("examples", 0)}
        return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    common.add_common(p, 12)
    p.add_argument("--calls", type=int, default=500)
    p.add_argument("--learns", type=int, default=0)
    args = p.parse_args()
    results, whole = common.Results(args.results), []
    with tempfile.TemporaryDirectory() as place:
        binary = os.path.abspath(args.binary) if args.binary else common.build("./cmd/skillopt", place)
        for optimizer in OPTIMIZERS:
            key = {"binary": common.identity(binary), "optimizer": optimizer, "calls": args.calls, "learns": args.learns}
            got = common.by_seed(
                args.jobs,
                lambda seed: results.get({**key, "seed": seed}, lambda: measure(binary, optimizer, seed, args.calls, args.learns)),
                range(args.first_seed, args.first_seed + args.seeds),
            )
            ways = {way: [g[way] for g in got] for way in ("auto", "off")}
            ahead = [a["score"] - b["score"] for a, b in zip(ways["auto"], ways["off"])]
            whole += ahead
            line = f"{optimizer:14}"
            for way, runs in ways.items():
                line += f"  {way} {common.shown([r['score'] for r in runs])} {statistics.mean(r['calls'] for r in runs):.0f}"
            print(f"{line}  {common.shown(ahead, '+')}  {sum(r['examples'] > 0 for r in ways['auto'])} with examples", flush=True)
    print(f"mean {common.shown(whole, '+')}")


if __name__ == "__main__":
    main()
