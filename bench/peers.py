#!/usr/bin/env python3
"""Measure what training gains next to the packages SkillOpt and skillrl, over HTTP.

usage: PYTHON bench/peers.py --prompts DIR [--seeds 16] [--jobs 2] [--results FILE] [--table NAME ...]

PYTHON has `pip install skillopt==0.2.0 skillrl==1.0.0`. DIR is a checkout of the tag v0.2.0
of github.com/microsoft/SkillOpt: its wheel lacks the prompts and configurations.

All three run with the defaults that they ship with, on one server (bench/server), on 60
train, 30 selection and 60 test tasks, flip 0.1, harm 0.25. The packages know no ceiling of
calls: they run to their end, and the best skill of the last step that was within it counts.
SkillOpt's threads make its results vary from run to run, by about .05 a seed.

Tables: off (nobody reads the test split; all have the ceiling), on (this program does its
final evaluation with the test split; the packages get the calls that it had made before),
spent (this program alone: exit code and share of the ceiling that was spent, test split on).

A gain is the expected score of the best skill on the test tasks minus that of the first
skill. In parentheses are standard errors; differences are paired by seed.
"""

import argparse
import os
import statistics
import tempfile

import common

PEERS = ("skillopt", "skillrl")
OPTIMIZERS = ("perfect", "first8", "writes3", "need3")
CEILINGS = {"off": (350, 1000), "on": (350, 1000), "spent": (150, 250, 350, 450, 600, 1000)}
FLIP, SIZES = 0.1, "60,30,60"


class Study:
    """What measures one contestant for a seed."""

    def __init__(self, args, binary, server):
        self.args, self.binary, self.server, self.results = args, binary, server, common.Results(args.results)
        self.base = {"server": common.identity(server)}

    def flags(self, optimizer, seed):
        return ["-seed", seed, "-flip", FLIP, *common.OPTIMIZERS[optimizer]]

    def ours(self, optimizer, calls, test, seed):
        def measure():
            with tempfile.TemporaryDirectory() as work, common.serving(self.server, self.flags(optimizer, seed)) as url:
                data = os.path.join(work, "data")
                common.write_tasks(self.server, data, SIZES, seed)
                common.write_config(work, url, "data", "" if test else "eval: {test: false}\n")
                got = common.train(self.binary, work, [f"limits.calls={calls}", f"train.seed={seed}"])
                return {"gain": common.gain(got["skill"], data, FLIP), **{k: got[k] for k in ("calls", "before_final", "exit")}}

        key = {**self.base, "binary": common.identity(self.binary), "optimizer": optimizer, "calls": calls, "test": test, "seed": seed}
        return self.results.get(key, measure)

    def peer(self, name, optimizer, allowed, seed):
        """Returns what a peer gained within so many calls."""

        def measure():
            with tempfile.TemporaryDirectory() as work, common.serving(self.server, self.flags(optimizer, seed)) as url:
                data = os.path.join(work, "data")
                common.write_tasks(self.server, data, SIZES, seed)
                arguments = {"url": url, "data": data, "work": work, "out": os.path.join(work, "out"), "seed": seed}
                return common.run_peer(name, FLIP, {**arguments, "prompts": os.path.abspath(self.args.prompts)})

        course = self.results.get({**self.base, "peer": name, "optimizer": optimizer, "seed": seed}, measure)
        within = [gain for calls, gain in course if calls <= allowed]
        return {"gain": within[-1] if within else 0.0, "calls": min(allowed, course[-1][0])}

    def contest(self, optimizer, calls, test, seed):
        """Returns the results of all three, by name."""
        ours = self.ours(optimizer, calls, test, seed)
        allowed = ours["before_final"] if test else calls
        return {"ours": ours, **{name: self.peer(name, optimizer, allowed, seed) for name in PEERS}}


def print_contests(study, table, seeds, optimizers):
    ahead = {name: [] for name in PEERS}
    for optimizer in optimizers:
        for calls in CEILINGS[table]:
            got = common.by_seed(study.args.jobs, lambda seed: study.contest(optimizer, calls, table == "on", seed), seeds)
            gains = {name: [g[name]["gain"] for g in got] for name in got[0]}
            line = f"{optimizer:8} {calls:>5}"
            for name, values in gains.items():
                line += f"  {name} {common.shown(values)} {statistics.mean(g[name]['calls'] for g in got):.0f}"
            for name in PEERS:
                ahead[name].append(common.differences(gains["ours"], gains[name]))
                line += f"  ahead of {name} {common.shown(ahead[name][-1], '+')}"
            print(line, flush=True)
    for name, rows in ahead.items():
        common.print_mean(name, rows)


def print_spent(study, seeds, optimizers):
    for optimizer in optimizers:
        for calls in CEILINGS["spent"]:
            got = common.by_seed(study.args.jobs, lambda seed: study.ours(optimizer, calls, True, seed), seeds)
            codes = [g["exit"] for g in got]
            exits = ", ".join(f"{codes.count(c)} x {c}" for c in sorted(set(codes)))
            shares = [g["calls"] / calls for g in got]
            print(
                f"{optimizer:8} {calls:>5}  exit {exits}  spent {100 * statistics.mean(shares):.0f} % ({100 * min(shares):.0f} to {100 * max(shares):.0f})"
                f"  gain {common.shown([g['gain'] for g in got])}",
                flush=True,
            )


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    common.add_common(p, 16)
    p.add_argument("--prompts", required=True, help="checkout of SkillOpt's tag")
    p.add_argument("--table", action="append", choices=list(CEILINGS))
    p.add_argument("--optimizer", action="append", choices=list(common.OPTIMIZERS))
    args = p.parse_args()
    seeds, optimizers = range(args.first_seed, args.first_seed + args.seeds), args.optimizer or OPTIMIZERS
    with tempfile.TemporaryDirectory() as place:
        study = Study(args, *common.programs(args, place))
        for table in args.table or CEILINGS:
            print(f"\n{table}: gain (standard error) calls, {args.seeds} seeds from {args.first_seed}", flush=True)
            if table == "spent":
                print_spent(study, seeds, optimizers)
            else:
                print_contests(study, table, seeds, optimizers)


if __name__ == "__main__":
    main()
