#!/usr/bin/env python3
"""Measure a whole training run over HTTP and print figures. Nothing is judged.

usage: bench/wire.py [--sizes 400,200,200] [--latency MS] [--epochs N] [--runs N] [--flags "..."] [--before BINARY]

The program trains examples/codewords on simulated models (bench/server), whose log has one
line a call. Every run starts with a fresh server and a fresh run directory.

Printed per run: the time from the first request to the last reply, and that of the
whole command; calls a second over the former; active time over bound, where the bound is the sum over sequential
phases of latency x ceil(calls / 64); processor time and peak memory of the
program; and the time to resume the finished run.

With --before another build of the program runs in turn with this one, first one, then
the other: what differs is printed by pairs, since a machine is not as fast all the time.

With faults a phase lasts at least as long as the longest chain of attempts at
one of its calls, because an attempt follows the failure of the one before. The
floor is the bound with that in it: sum of latency x max(ceil(calls / 64), chain),
over attempts that the server was slow to answer. Below it gets only who sends
the same call twice at once, or begins a phase before the one before has ended.
"""

import argparse
import collections
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

from common import ROOT, build, read_items, serving, write_tasks


def splits(data):
    """Map the id of each item to its split: phases of one stage differ by it."""
    return {item["id"]: split for split in ("train", "val", "test") for item in read_items(data, split)}


GROUPS = {"analyst_error": "analysts", "analyst_success": "analysts", "slow_update": "epoch end", "meta_skill": "epoch end"}


def phases(calls, where):
    """Cut the calls, in order of their start, into phases as if each began when the
    one before had ended: what differs in stage, or for rollouts in split. Rollouts
    that are begun beside those of another split, with no other stage between, make
    two phases, however they mix."""
    out, rollouts = [], {}
    for c in sorted(calls, key=lambda c: c["T0"]):
        key = GROUPS.get(c["Stage"], c["Stage"])
        if key == "rollout":
            key = "rollout " + where.get(c.get("Item"), "?")
            if key not in rollouts:
                rollouts[key] = []
                out.append((key, rollouts[key]))
            rollouts[key].append(c)
            continue
        rollouts = {}
        if not out or out[-1][0] != key:
            out.append((key, []))
        out[-1][1].append(c)
    return out


def chain(calls, latency):
    """The most attempts at one call of a phase that took their time."""
    slow = collections.Counter((c["Hash"], c.get("Item")) for c in calls if c["T1"] - c["T0"] >= latency / 2)
    return max(slow.values(), default=1)


def train(argv, work):
    """Run the program; return its summary, its own resource usage and its time."""
    out, err = os.path.join(work, "out.json"), os.path.join(work, "err.txt")
    began = time.perf_counter()
    with open(out, "wb") as o, open(err, "wb") as e:
        child = subprocess.Popen(argv, stdout=o, stderr=e)
        _, status, usage = os.wait4(child.pid, 0)
    took = time.perf_counter() - began
    if status != 0:
        with open(err) as e:
            sys.exit(f"training failed ({os.waitstatus_to_exitcode(status)}):\n{e.read()[-2000:]}")
    with open(out) as o:
        return json.load(o), usage, took


def measure(args, server, data, binary, work):
    where, log = splits(data), os.path.join(work, "server.log")
    with serving(server, ["-log", log, "-latency", args.latency, *args.flags.split()]) as url:
        argv = [binary, "train", os.path.join(ROOT, "examples", "codewords"), "--run", os.path.join(work, "run"), "--json", "--yes",
                "--set", f"tasks.path={data}", "--set", f"models.target.base_url={url}",
                "--set", f"models.optimizer.base_url={url}", "--set", f"train.epochs={args.epochs}", "--set", "limits.concurrency=64"]
        summary, usage, wall = train(argv, work)
        again, _, resumed = train(argv, work)
        assert again["calls"] == summary["calls"], "the resumed run differs"
    with open(log) as f:
        calls = [json.loads(line) for line in f if line.strip()]
    active = max(c["T1"] for c in calls) - min(c["T0"] for c in calls)
    latency = args.latency / 1000
    waves = [(math.ceil(len(part) / 64), chain(part, latency)) for _, part in phases(calls, where)]
    bound, floor = (latency * sum(n) for n in ((w for w, _ in waves), (max(pair) for pair in waves)))
    return {
        "wall": wall, "calls": len(calls), "paid": summary["calls"]["total"], "active": active, "rate": len(calls) / active,
        "ratio": active / bound if bound else float("nan"), "floor": floor, "best": summary["test"]["best"]["hard"],
        "cpu": usage.ru_utime + usage.ru_stime, "rss": usage.ru_maxrss / 1024, "resume": resumed,
    }


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--sizes", default="400,200,200", help="train, selection and test tasks")
    p.add_argument("--latency", type=float, default=0)
    p.add_argument("--epochs", type=int, default=1)
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--flags", default="", help="further flags of the server")
    p.add_argument("--before", help="another build of the program, to run in turn with this one")
    args = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-wire-") as work:
        report(args, work)


def report(args, work):
    binary, server, data = build("./cmd/skillopt", work), build("./bench/server", work), os.path.join(work, "data")
    write_tasks(server, data, args.sizes, 7)
    rows, before = [], []
    for i in range(args.runs):
        turns = [(rows, binary, "")] if not args.before else [(before, os.path.abspath(args.before), "before "), (rows, binary, "after ")]
        for into, program, name in turns[:: 1 if i % 2 == 0 else -1]:
            with tempfile.TemporaryDirectory(dir=work) as place:
                r = measure(args, server, data, program, place)
            into.append(r)
            print(f"run {i + 1}: {name}{r['calls']} calls in {r['active']:.2f} s of {r['wall']:.2f}, {r['rate']:.0f} calls/s, active/bound {r['ratio']:.2f}, floor {r['floor']:.2f} s, "
                  f"cpu {r['cpu']:.2f} s, peak {r['rss']:.0f} MB, resume {r['resume']:.2f} s, best {r['best']:.3f}", flush=True)
    for key in ("rate", "ratio", "resume", "rss"):
        values = [r[key] for r in rows]
        print(f"{key}: min {min(values):.3g}  median {statistics.median(values):.3g}  max {max(values):.3g}")
    for key in ("rate", "cpu", "resume", "rss") if before else ():
        shares = [after[key] / other[key] for after, other in zip(rows, before)]
        print(f"{key}: median {statistics.median(r[key] for r in before):.4g} before, {statistics.median(r[key] for r in rows):.4g} after; "
              f"after/before by pairs {' '.join(f'{v:.3f}' for v in shares)}, median {statistics.median(shares):.3f}")


if __name__ == "__main__":
    main()
