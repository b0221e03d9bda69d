"""What compare, ablate, prune and eval were forecast to take against what they took.

    go build -o skillopt ./cmd/skillopt
    python3 bench/forecast_measuring.py ./skillopt [compare]

Each setting is a command on the example of the quick start: forecast with --plan, carried
out, and both numbers of calls read from --json. The models are simulated.
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile


def call(program, *args):
    done = subprocess.run([program, *args, "--json"], capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"{args}: {done.stderr}")
    return json.loads(done.stdout)


def calls_of(run):
    """How many calls the record of a run has."""
    with sqlite3.connect(f"file:{run}/run.db?mode=ro", uri=True) as db:
        return db.execute("select count(*) from entries where kind = 'call' and stage = 'rollout'").fetchone()[0]


def settings(best, seed, better, config):
    """A name and a command line for each setting."""
    for split in ("selection", "test"):
        for repeat in ("1", "4"):
            yield f"eval {split} x{repeat}", ["eval", config, "--split", split, "--repeat", repeat]
    for name, a, b in (("seed-best", seed, best), ("seed-better", seed, better), ("best-best", best, best), ("better-best", better, best)):
        for split, margin in (("selection", "0.05"), ("all", "0.1")):
            yield f"compare {name} {split} {margin}", ["compare", a, b, "--config", config, "--split", split, "--margin", margin]
    for command in ("ablate", "prune"):
        for name, skill in (("best", best), ("better", better)):
            for passes, margin in (("10", "0.05"), ("3", "0.05"), ("5", "0.1")):
                yield f"{command} {name} passes {passes} {margin}", [command, skill, "--config", config, "--passes", passes, "--margin", margin]


def main(program, only=""):
    program = os.path.abspath(program)
    with tempfile.TemporaryDirectory() as dir:
        os.chdir(dir)
        subprocess.run([program, "init", "d"], check=True, capture_output=True)
        call(program, "train", "d", "--yes", "--run", "trained")
        os.makedirs("better")
        with open("d/SKILL.md") as f, open("better/SKILL.md", "w") as g:
            g.write(f.read().rstrip() + "\n- Put EUR and a space before amounts of money.\n- Separate the entries of a list with semicolons.\n- Answer politely.\n")
        best, seed, better = "trained/best_skill.md", "d/SKILL.md", "better/SKILL.md"
        near = held = n = 0
        print("| setting | expected | interval | calls |\n|---|---|---|---|")
        for name, line in settings(best, seed, better, "d"):
            if not name.startswith(only):
                continue
            n += 1
            common = ["--set", f"run.dir=runs{n}", "--set", "record.reuse=never"]
            calls = call(program, *line, "--plan", *common)["forecast"]["calls"]
            done = call(program, *line, "--yes", *common)
            took = calls_of(done["run_dir"])
            near += abs(calls["expected"] - took) <= 0.2 * took
            held += calls["low"] - 0.5 <= took <= calls["high"] + 0.5
            print(f"| {name} | {calls['expected']:.0f} | {calls['low']:.0f} to {calls['high']:.0f} | {took} |", flush=True)
        print(f"\n{n} settings: {near} within 20 %, {held} within the interval")


if __name__ == "__main__":
    main(*sys.argv[1:])
