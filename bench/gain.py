#!/usr/bin/env python3
"""Measure what training gains under a ceiling of calls, over HTTP, next to GEPA.

usage: bench/gain.py [--peer PATH] [--seeds 16] [--jobs 2] [--results FILE] [--table NAME ...]

The defaults that the program ships with are measured, without the test split, on simulated
models (bench/server) whose optimizers tire: see OPTIMIZERS in bench/common.py. PATH holds
GEPA's public sources: the folder of its pip package, or a checkout. GEPA runs with
reflection minibatches of 8 and of 30, on the same server, the same seeds and the same
tasks, and as many calls as this program made (in the tables small and few: as many as the
ceiling allows): what it has at the end of the nearest of its iterations counts. Calls that
are not within 5 % on average have an exclamation mark.

Tables: main (12 cells: ceilings, failures to see, flips), tired (6 cells), small (ceilings
of 100, 150 and 200 calls), few (12 to 30 tasks without splits), and reported: what runs of
this program, brought to their end, say of the best skill on the selection tasks, minus the
expected score there, in points.

A gain is the expected score of the best skill on the test tasks, worked out from the rules
that it holds, minus that of the first skill: no luck of a last evaluation is in it. Printed
for each cell: means over seeds, in parentheses standard errors, calls made, and the gain
minus that of the better GEPA, paired by seed; last the mean over the cells of a table.

With --variant NAME=SETTINGS (as of --set, split at spaces; NAME@BINARY=... for another
build) the gain of variants is measured too, minus that of the defaults.
"""

import argparse
import os
import statistics
import tempfile

import common

MINIBATCHES = (8, 30)


def cell(name, calls, optimizer="perfect", flip=0.1, sizes="60,30,60", budget="made"):
    return {"name": name, "calls": calls, "optimizer": optimizer, "flip": flip, "sizes": sizes, "budget": budget}


TABLES = {
    "main": [cell(f"{c} calls, {o}, flip {f}", c, o, f) for c in (350, 1000) for o in ("perfect", "need3") for f in (0, 0.1, 0.2)],
    "tired": [cell(f"{c} calls, {o}", c, o) for c in (350, 1000) for o in ("reads8", "writes3", "harm")],
    "small": [cell(f"{c} calls", c, budget="ceiling") for c in (100, 150, 200)],
    "few": [cell(f"{n} tasks, 300 calls", 300, sizes=f"{n},0,60", budget="ceiling") for n in (12, 16, 20, 30)],
    "reported": [cell(f"600 calls, flip {f}", 600, flip=f) for f in (0, 0.1, 0.2)],
}


def place_tasks(server, work, c, seed):
    """Writes the tasks of a cell and returns what the configuration names: the folder with
    its splits, or, where there are no selection tasks, one file without splits."""
    common.write_tasks(server, os.path.join(work, "data"), c["sizes"], seed)
    return "data/train/items.json" if c["sizes"].split(",")[1] == "0" else "data"


def flags(c, seed):
    return ["-seed", seed, "-flip", c["flip"], *common.OPTIMIZERS[c["optimizer"]]]


def measure_ours(server, binary, settings, c, seed):
    with tempfile.TemporaryDirectory() as work, common.serving(server, flags(c, seed)) as url:
        common.write_config(work, url, place_tasks(server, work, c, seed), "eval: {test: false}\n")
        got = common.train(binary, work, [f"limits.calls={c['calls']}", f"train.seed={seed}", *settings])
        return {"gain": common.gain(got["skill"], os.path.join(work, "data"), c["flip"]), **{k: got[k] for k in ("calls", "exit", "tasks")}}


def measure_reported(server, binary, settings, c, seed):
    """Returns how much too high the reported score is. Which items nobody solves is the
    server's secret, so there are none."""
    with tempfile.TemporaryDirectory() as work, common.serving(server, [*flags(c, seed), "-noise", 0]) as url:
        common.write_config(work, url, place_tasks(server, work, c, seed), "eval: {test: false}\n")
        settings = [f"limits.calls={c['calls']}", f"train.seed={seed}", *settings]
        got = common.train(binary, work, settings)
        if got["exit"] == 4:
            got = common.train(binary, work, settings, ["--finish"])
        items = common.read_items(os.path.join(work, "data"), "val")
        return got["summary"]["best"]["selection"]["hard"] - common.expected(got["skill"], items, c["flip"], noise=0)


def measure_gepa(server, peer, minibatch, c, seed, calls, tasks):
    """Returns the course of a training with GEPA."""
    with tempfile.TemporaryDirectory() as work, common.serving(server, flags(c, seed)) as url:
        place_tasks(server, work, c, seed)
        data = os.path.join(work, "data")
        ids = {s: [i["id"] for i in common.read_items(data, s)] for s in ("train", "val")}
        if not ids["val"]:
            ids["train"] = tasks or ids["train"]  # they teach and judge, which is GEPA's default
        arguments = {"url": url, "data": data, "seed": seed, "calls": calls, "minibatch": minibatch, **ids}
        return common.run_peer("gepa", c["flip"], arguments, {"PYTHONPATH": os.pathsep.join([os.path.join(peer, "src"), peer])})


class Study:
    """What measures a cell for a seed."""

    def __init__(self, args, binary, server):
        self.args, self.server, self.results = args, server, common.Results(args.results)
        self.variants = [("defaults", binary, [])]
        for v in args.variant:
            name, _, settings = v.partition("=")
            name, _, other = name.partition("@")
            self.variants.append((name, os.path.abspath(other) if other else binary, settings.split()))
        self.names = {p: common.identity(p) for p in {server, *(b for _, b, _ in self.variants)}}

    def measure(self, c, seed):
        """Returns what each contestant gained and took."""
        base = {"server": self.names[self.server], "seed": seed, **{k: c[k] for k in ("optimizer", "flip", "sizes")}}
        out = {}
        for name, binary, settings in self.variants:
            key = {**base, "calls": c["calls"], "binary": self.names[binary], "settings": settings}
            out[name] = self.results.get(key, lambda: measure_ours(self.server, binary, settings, c, seed))
        if self.args.peer:
            first = out["defaults"]
            tasks = first["tasks"] if c["sizes"].split(",")[1] == "0" else []
            out["allowed"] = {"calls": first["calls"] if c["budget"] == "made" else c["calls"]}
            most = max(other["calls"] for table in TABLES.values() for other in table if other["sizes"] == c["sizes"])
            for size in MINIBATCHES:
                course = self.results.get({**base, "gepa": size, "tasks": tasks}, lambda: measure_gepa(self.server, self.args.peer, size, c, seed, most, tasks))
                calls, gain = min(course, key=lambda end: abs(end[0] - out["allowed"]["calls"]))
                out[f"gepa {size}"] = {"calls": calls, "gain": gain}
        return out

    def row(self, c, seeds):
        """Prints a cell and returns the differences by which the defaults lead."""
        got = common.by_seed(self.args.jobs, lambda seed: self.measure(c, seed), seeds)
        gains = {name: [g[name]["gain"] for g in got] for name in got[0] if name != "allowed"}
        line = f"{c['name']:28}"
        for name, values in gains.items():
            made = [g[name]["calls"] for g in got]
            line += f"  {name} {common.shown(values)} {common.shown_calls(made, [g['allowed']['calls'] for g in got] if name.startswith('gepa') else made)}"
            if name in [v[0] for v in self.variants[1:]]:
                line += f" {common.shown(common.differences(values, gains['defaults']), '+')}"
        ahead = None
        if self.args.peer:
            better = max((f"gepa {size}" for size in MINIBATCHES), key=lambda n: statistics.mean(gains[n]))
            ahead = common.differences(gains["defaults"], gains[better])
            line += f"  ahead of {better} {common.shown(ahead, '+')}"
        print(line, flush=True)
        return ahead


    def reported(self, c, seeds):
        """Prints by how many points the scores that runs report are too high."""
        for name, binary, settings in self.variants:
            key = {"server": self.names[self.server], "binary": self.names[binary], "settings": settings, "reported": c}
            got = common.by_seed(
                self.args.jobs, lambda seed: self.results.get({**key, "seed": seed}, lambda: measure_reported(self.server, binary, settings, c, seed)), seeds
            )
            print(f"{c['name']:28}  {name} {100 * statistics.mean(got):+.1f} ({100 * common.se(got):.1f}) points too high", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    common.add_common(p, 16)
    p.add_argument("--peer", help="GEPA's sources")
    p.add_argument("--table", action="append", choices=list(TABLES))
    p.add_argument("--variant", action="append", default=[], help="NAME=a.b=c d.e=f, or NAME@BINARY=...")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as place:
        study = Study(args, *common.programs(args, place))
        for table in args.table or TABLES:
            print(f"\n{table}: gain (standard error) calls, {args.seeds} seeds from {args.first_seed}", flush=True)
            row = study.reported if table == "reported" else study.row
            rows = [row(c, range(args.first_seed, args.first_seed + args.seeds)) for c in TABLES[table]]
            if args.peer and table != "reported":
                common.print_mean("GEPA", rows)


if __name__ == "__main__":
    main()
