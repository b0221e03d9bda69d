#!/usr/bin/env python3
"""Measure what training gains under a ceiling of calls, over HTTP, and print a table.
Nothing is judged.

usage: bench/gain.py --server BINARY --gendata SCRIPT [--binary B] [--seeds N] [--calls 350,1000]
                     [--need 1,3] [--flips 0,0.1,0.2] [--sizes 60,30,60] [--variant NAME=SETTINGS ...]

BINARY is the test server of bench/wire.py, with -need (failures of a kind that its
optimizer must see in one prompt), -flip (chance of a wrong answer) and -seed; SCRIPT
writes its data: OUT TRAIN VAL TEST KINDS SEED. A variant is a name and settings as of
`--set`, split at spaces; without one the defaults are measured.

Every cell is measured on the same data seeds, each with a server of its own. A
score is the expected score of the best skill on the test tasks, worked out from the
rules that it holds: no luck of a last evaluation is in it, and the ceiling pays for
training alone. Printed for each cell: the mean over seeds, its standard error, the mean
of the calls that were made; for further variants also the difference to the first, by
seed, with its standard error. With --reported each run is ended by --finish, and what it
says of the best skill on the selection tasks is held against the expected score there.
"""

import argparse
import concurrent.futures
import json
import math
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FREE_KINDS, NOISE = 2, 0.05  # defaults of the server

SKILL = "# Code words\n\nAnswer the question about the item.\n"
CONFIG = """
skill: SKILL.md
tasks:
  path: data
  prompt: "{{context}}\\n\\n{{question}}\\n\\nPut the answer, and nothing else, between <answer> and </answer>."
  extract: {tag: answer}
  checks: [{type: equals, value: $gold, normalize: casefold}]
models:
  target: {provider: openai, model: fake-target, api_key_env: "", base_url: "URL", headers: {X-Stage: "{{stage}}"}}
  optimizer: {provider: openai, model: fake-optimizer, api_key_env: "", base_url: "URL", headers: {X-Stage: "{{stage}}"}}
train: {epochs: 30}
eval: {test: false}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def serve(binary, flags):
    port = free_port()
    server = subprocess.Popen([binary, "-addr", f"127.0.0.1:{port}", "-latency", "0"] + flags, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=1).read()
            return server, f"http://127.0.0.1:{port}/v1"
        except OSError:
            time.sleep(0.05)
    sys.exit("the server does not answer")


def expected(text, data, flip, split="test", noise=NOISE):
    """The score that a skill is to be expected to have on the items of a split."""
    rules, wrong = set(re.findall(r"RULE-(K\d+)", text)), set(re.findall(r"ANTI-(K\d+)", text))
    with open(os.path.join(data, split, "items.json")) as f:
        kinds = [item["task_type"] for item in json.load(f)]
    solved = [(int(k[1:]) < FREE_KINDS or k in rules) and k not in wrong for k in kinds]
    return (1 - noise) * (1 - flip) * sum(solved) / len(kinds)


def measure(args, binary, settings, calls, need, flip, seed):
    with tempfile.TemporaryDirectory() as work:
        data = os.path.join(work, "data")
        subprocess.run([sys.executable, args.gendata, data] + args.sizes.split(",") + ["12", str(seed)], check=True)
        noise = 0 if args.reported else NOISE  # which items can never be solved is the server's secret
        server, url = serve(args.server, ["-need", str(need), "-flip", str(flip), "-seed", str(seed), "-noise", str(noise)])
        try:
            for name, text in (("SKILL.md", SKILL), ("config.yaml", CONFIG.replace("URL", url))):
                with open(os.path.join(work, name), "w") as f:
                    f.write(text)
            argv = [binary, "train", work, "--run", os.path.join(work, "run"), "--json", "--yes", "--accept-seed", "--set", f"limits.calls={calls}", "--set", f"train.seed={seed}"]
            for s in settings:
                argv += ["--set", s]
            done = subprocess.run(argv, capture_output=True, text=True)
            if done.returncode not in (0, 4):
                sys.exit(f"training failed ({done.returncode}):\n{done.stderr[-3000:]}")
            made, told = json.loads(done.stdout)["calls"]["total"], None
            with open(os.path.join(work, "run", "best_skill.md")) as f:
                skill = f.read()
            if args.reported:
                if done.returncode:  # a ceiling was met
                    done = subprocess.run(argv + ["--finish"], capture_output=True, text=True, check=True)
                with open(os.path.join(work, "run", "best_skill.md")) as f:
                    skill = f.read()
                told = json.loads(done.stdout)["best"]["selection"]["hard"] - expected(skill, data, flip, "val", noise)
            return expected(skill, data, flip, noise=noise), made, told
        finally:
            server.terminate()
            server.wait()


def se(values):
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else float("nan")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--server", required=True)
    p.add_argument("--gendata", required=True)
    p.add_argument("--binary", help="skillopt; built from here if it is not given")
    p.add_argument("--seeds", type=int, default=6)
    p.add_argument("--first-seed", type=int, default=1)
    p.add_argument("--calls", default="350,1000")
    p.add_argument("--need", default="1,3")
    p.add_argument("--flips", default="0,0.1,0.2")
    p.add_argument("--sizes", default="60,30,60")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--reported", action="store_true", help="hold what runs report against the truth")
    p.add_argument("--variant", action="append", default=[], help="NAME=a.b=c d.e=f, or NAME@BINARY=...")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as place:
        binary = args.binary or os.path.join(place, "skillopt")
        if not args.binary:
            subprocess.run(["go", "build", "-o", binary, "./cmd/skillopt"], cwd=ROOT, check=True)
        variants = []
        for v in args.variant or ["defaults="]:
            name, _, settings = v.partition("=")
            name, _, other = name.partition("@")
            variants.append((name, other or binary, settings.split()))
        seeds = range(args.first_seed, args.first_seed + args.seeds)
        print(f"{args.seeds} seeds, {args.sizes} tasks", flush=True)
        print("calls need flip  variant            score   s.e.   made  ahead of the first", flush=True)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for calls in args.calls.split(","):
                for need in args.need.split(","):
                    for flip in args.flips.split(","):
                        first = None
                        for name, program, settings in variants:
                            got = list(pool.map(lambda s: measure(args, program, settings, int(calls), int(need), float(flip), s), seeds))
                            scores = [g[0] for g in got]
                            line = f"{calls:>5} {need:>4} {flip:>4}  {name:<18} {statistics.mean(scores):.3f}  {se(scores):.3f}  {statistics.mean(g[1] for g in got):5.0f}"
                            if args.reported:
                                told = [g[2] for g in got]
                                line += f"  reported {statistics.mean(told):+.3f} ± {se(told):.3f} too high"
                            if first:
                                ahead = [b - a for a, b in zip(first, scores)]
                                line += f"  {statistics.mean(ahead):+.3f} ± {se(ahead):.3f}"
                            first = first or scores
                            print(line, flush=True)


if __name__ == "__main__":
    main()
