#!/usr/bin/env python3
"""Hold forecasts against what runs take, in simulated worlds. Nothing is judged.

usage: bench/forecast.py [--binary B] [--configs N] [--seed S] [--json FILE]

For each of N worlds (`skillopt init --world`, its numbers drawn at random) two
configurations are drawn: epochs, size of batches, gate, its selection of modes. The
second is planned in an empty folder, then in one in which a run of the first has come to
its end, and trained. Printed: in how many of the configurations the forecast is within
20 % of what the run took, without and with the earlier run, with the share's standard
error; the mean distance, and how often the interval held.
"""

import argparse
import concurrent.futures
import json
import math
import os
import random
import shutil
import subprocess
import tempfile

FIGURES = ["calls", "input_tokens", "output_tokens"]


def world(r, seed):
    rate = lambda most: f"{r.uniform(0, most):.3f}"
    numbers = {"seed": seed, "tasks": r.randint(40, 300), "rules": r.randint(4, 30),
               "depth": r.randint(1, 3), "plain": rate(0.6), "skew": rate(1.5), "noise": rate(0.1), "flip": rate(0.2),
               "harm": rate(0.5), "fooled": rate(0.5), "note": rate(0.5), "optimizer": r.choice(["perfect", "perfect", "needs-3"])}
    return ",".join(f"{name}={value}" for name, value in numbers.items())


def config(r):
    gate = r.choice(["strict", "race", "race"])
    batch = r.choice(["auto", "auto", "auto", str(r.randint(5, 60))])
    minibatch = r.choice(["auto", "auto", "auto", str(r.randint(2, 20))])
    sets = [f"train.epochs={r.randint(1, 4)}", f"gate.mode={gate}", f"train.seed={r.randint(1, 10**6)}", f"split.seed={r.randint(1, 10**6)}",
            f"train.batch_size={batch}", f"reflect.minibatch_size={minibatch}"]
    return [a for s in sets for a in ("--set", s)]


def call(binary, *args):
    done = subprocess.run([binary, *args], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(args)}: exit {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def one(binary, seed):
    r = random.Random(seed)
    folder = tempfile.mkdtemp(prefix="forecast-")
    try:
        w = os.path.join(folder, "w")
        call(binary, "init", w, "--world", world(r, seed))
        first, second = config(r), config(r)
        runs = os.path.join(folder, "runs")
        plan = lambda: json.loads(call(binary, "train", w, "--plan", "--json", "--set", f"run.dir={runs}", *second))["forecast"]
        out = {"seed": seed, "without": plan()}
        call(binary, "train", w, "--yes", "--set", f"run.dir={runs}", "--run", os.path.join(runs, "first"), *first)
        out["with"] = plan()
        s = json.loads(call(binary, "train", w, "--yes", "--json", "--set", f"run.dir={runs}", "--run", os.path.join(runs, "second"), *second))
        out["took"] = {"calls": s["calls"]["total"], "input_tokens": s["tokens"]["input"], "output_tokens": s["tokens"]["output"]}
        return out
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--binary", default="skillopt")
    p.add_argument("--configs", type=int, default=40)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--json")
    a = p.parse_args()
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        rows = list(pool.map(lambda i: one(a.binary, 1000 * a.seed + i), range(a.configs)))
    if a.json:
        with open(a.json, "w") as f:
            json.dump(rows, f)
    print(f"{len(rows)} configurations, seed {a.seed}; (standard error)")
    for k in FIGURES:
        for when in ("without", "with"):
            off = [row[when][k]["expected"] / row["took"][k] - 1 for row in rows]
            held = sum(row[when][k]["low"] <= row["took"][k] <= row[when][k]["high"] for row in rows)
            share = sum(abs(x) <= 0.2 for x in off) / len(off)
            error = math.sqrt(share * (1 - share) / len(off))
            middle = sorted(abs(x) for x in off)[len(off) // 2]
            print(f"{k:14} {when:8} an earlier run: within 20 % in {round(share * len(off))} of {len(off)} ({share:.2f}, {error:.2f}); "
                  f"half within {100 * middle:.0f} %; furthest {100 * min(off):+.0f} % and {100 * max(off):+.0f} %; interval held in {held}")


if __name__ == "__main__":
    main()
