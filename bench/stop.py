#!/usr/bin/env python3
"""Measure what rules of train.stop save, and what they cost, in simulated worlds.

usage: bench/stop.py [--binary B] [--seeds N] [--jobs J] [--json FILE] [--world NAME ...]

For each of N seeds a world is drawn, and the same training is run to its last step and
under each rule; seeds of the quick start (`skillopt init`) are those of training and of the
split. Printed, as a table for docs/budgets.md: in how many of the runs the rule held, the
calls that were saved, over all runs and over those that the rule stopped, and the score of
the best skill on the test tasks minus that of the full run, with 95 % intervals: means of
paired differences over seeds, 1.96 standard errors. Equal seeds give equal scores; calls
may differ by one or two, since equal requests in flight are sent once. Nothing is judged.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import common

WORLDS = {
    "quick start": None,
    "exact": "noise=0,flip=0,rules=8",
    "flaky": "noise=0,flip=0.02,rules=8",
    "unsolvable": "noise=0.03,flip=0.02,rules=12",
}

FULL = ["train.stop.perfect=false"]
RULES = {
    "perfect (default)": [],
    "score: 0.95": FULL + ["train.stop.score=0.95"],
    "patience: 3": FULL + ["train.stop.patience=3"],
    "patience: 5": FULL + ["train.stop.patience=5"],
    "evidence: true": FULL + ["train.stop.evidence=true"],
}


def train(binary, world, runs, name, sets):
    argv = [binary, "train", world, "--yes", "--json", "--accept-seed", "--run", os.path.join(runs, name)]
    for s in sets:
        argv += ["--set", s]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(argv)}: exit {done.returncode}: {done.stderr[-800:]}")
    s = json.loads(done.stdout)
    return {"calls": s["calls"]["total"], "test": s["test"]["best"]["hard"], "steps": s["steps"], "stop": s.get("stop")}


def one(binary, flags, seed, more):
    folder = tempfile.mkdtemp(prefix="stop-")
    try:
        w = os.path.join(folder, "w")
        make = [binary, "init", w] if flags is None else [binary, "init", w, "--world", f"seed={seed},{flags}"]
        subprocess.run(make, check=True, capture_output=True)
        seeds = [f"train.seed={seed}", f"split.seed={seed}"] + more
        out = {"seed": seed, "full": train(binary, w, os.path.join(folder, "full"), "full", seeds + FULL)}
        for i, (name, sets) in enumerate(RULES.items()):
            out[name] = train(binary, w, os.path.join(folder, str(i)), "run", seeds + sets)
        return out
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def interval(xs):
    mean = statistics.mean(xs)
    return mean, 1.96 * common.se(xs)


def points(xs):
    mean, half = interval(xs)
    return f"{100 * mean:+.1f} ± {100 * half:.1f}" if any(xs) else "0 in each"


def row(world, name, rows):
    stopped = [r for r in rows if r[name]["stop"]]
    saved = [1 - r[name]["calls"] / r["full"]["calls"] for r in rows]
    of = [1 - r[name]["calls"] / r["full"]["calls"] for r in stopped]
    cells = [world, name, f"{len(stopped)} of {len(rows)}", f"{abs(round(100 * statistics.mean(saved))) if abs(statistics.mean(saved)) < 0.005 else round(100 * statistics.mean(saved))} %"]
    cells.append(f"{100 * statistics.mean(of):.0f} % ({100 * min(of):.0f} to {100 * max(of):.0f})" if of else "-")
    cells.append(points([r[name]["test"] - r["full"]["test"] for r in rows]))
    cells.append(points([r[name]["test"] - r["full"]["test"] for r in stopped]) if len(stopped) > 1 else "-")
    return "| " + " | ".join(cells) + " |"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--binary", help="skillopt; built from here if it is not given")
    p.add_argument("--seeds", type=int, default=60)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--json")
    p.add_argument("--world", action="append", choices=list(WORLDS), help="only this one")
    p.add_argument("--set", action="append", default=[], help="setting of every run")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as place:
        binary = a.binary or common.build("./cmd/skillopt", place)
        kept = {}
        print("| world | rule | stopped | calls saved | of those stopped | test score, points | of those stopped |")
        print("|---|---|---|---|---|---|---|")
        with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
            for world in a.world or WORLDS:
                rows = list(pool.map(lambda s: one(binary, WORLDS[world], s, a.set), range(1, a.seeds + 1)))
                kept[world] = rows
                for name in RULES:
                    print(row(world, name, rows), flush=True)
    if a.json:
        with open(a.json, "w") as f:
            json.dump(kept, f, indent=1)


if __name__ == "__main__":
    main()
