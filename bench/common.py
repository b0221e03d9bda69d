"""What the measurements over HTTP share: building, the test server, its tasks, runs of
this program, the expected score of a skill, results that outlive a kill, and statistics.
"""

import concurrent.futures
import contextlib
import hashlib
import json
import math
import os
import re
import statistics
import subprocess
import sys
import threading
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FREE_KINDS, NOISE = 2, 0.05  # of the server
SKILL = "# Code words\n\nAnswer the question about the item.\n"
PROMPT = "{context}\n\n{question}\n\nPut the answer, and nothing else, between <answer> and </answer>."

# OPTIMIZERS are the kinds of optimizer, as flags of the server.
OPTIMIZERS = {
    "perfect": [],
    "need3": ["-need", "3"],
    "reads8": ["-attend", "8", "-attend-how", "random"],
    "first8": ["-attend", "8", "-attend-how", "first"],
    "writes3": ["-cap", "3"],
    "misses": ["-hit", "0.5"],
    "drops": ["-drop", "0.2"],
    "harm": ["-harm", "0.8"],
}

CONFIG = """
skill: SKILL.md
tasks:
  path: TASKS
  prompt: PROMPT
  extract: {tag: answer}
  checks: [{type: equals, value: $gold, normalize: casefold}]
models:
  target: {provider: openai, model: fake-target, api_key_env: "", base_url: "URL", headers: {X-Stage: "{{stage}}"}}
  optimizer: {provider: openai, model: fake-optimizer, api_key_env: "", base_url: "URL", headers: {X-Stage: "{{stage}}"}}
"""


def build(package, into):
    """Builds a package of this repository and returns the path of the program, whose content
    is the same at every commit with the same sources."""
    out = os.path.join(into, os.path.basename(package))
    subprocess.run(["go", "build", "-trimpath", "-buildvcs=false", "-o", out, package], cwd=ROOT, check=True, env={**os.environ, "CGO_ENABLED": "0"})
    return out


def identity(path):
    """Returns a short name of the content of a file."""
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()[:12]


@contextlib.contextmanager
def serving(server, flags):
    """Serves simulated models and yields the base URL."""
    process = subprocess.Popen([server] + [str(f) for f in flags], stdout=subprocess.PIPE, text=True)
    try:
        url = process.stdout.readline().strip()
        if not url:
            raise RuntimeError(f"the server did not start: {' '.join(map(str, flags))}")
        yield url
    finally:
        process.terminate()
        process.wait()


def calls_so_far(url):
    """Returns how many calls the server has answered."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/calls", timeout=10) as r:
        return int(r.read())


def write_tasks(server, folder, sizes, seed):
    """Writes train, val and test items below a folder."""
    subprocess.run([server, "data", folder, "-sizes", sizes, "-seed", str(seed)], check=True)


def read_items(folder, split):
    with open(os.path.join(folder, split, "items.json")) as f:
        return json.load(f)


def expected(text, items, flip, noise=NOISE):
    """Returns the expected score of a skill on items: no luck of an evaluation is in it."""
    rules, wrong = set(re.findall(r"RULE-(K\d+)", text)), set(re.findall(r"ANTI-(K\d+)", text))
    solved = [(int(k[1:]) < FREE_KINDS or k in rules) and k not in wrong for k in (item["task_type"] for item in items)]
    return (1 - noise) * (1 - flip) * sum(solved) / len(solved)


def gain(text, folder, flip, noise=NOISE):
    """Returns the expected score of a skill on the test items, minus that of the first skill."""
    items = read_items(folder, "test")
    return expected(text, items, flip, noise) - expected(SKILL, items, flip, noise)


def write_config(work, url, tasks, more=""):
    """Writes the first skill and the configuration of a run."""
    prompt = json.dumps(PROMPT.replace("{", "{{").replace("}", "}}"))
    for name, text in (("SKILL.md", SKILL), ("config.yaml", CONFIG.replace("URL", url).replace("TASKS", tasks).replace("PROMPT", prompt) + more)):
        with open(os.path.join(work, name), "w") as f:
            f.write(text)


def train(binary, work, settings, more=()):
    """Trains and returns the exit code, the summary, the best skill, the calls made, those
    before the final evaluation, and the tasks that were learned from. A ceiling that was
    met (exit code 4) is a result, and so is one that allows no step (2)."""
    run, events = os.path.join(work, "run"), os.path.join(work, "events.jsonl")
    argv = [binary, "train", work, "--run", run, "--json", "--yes", "--accept-seed", "--events", events]
    for s in settings:
        argv += ["--set", s]
    done = subprocess.run(argv + list(more), capture_output=True, text=True)
    if done.returncode == 2 and "limits.calls" in done.stdout:
        return {"exit": 2, "skill": SKILL, "calls": 0, "before_final": 0, "tasks": [], "summary": None}
    if done.returncode not in (0, 4):
        raise RuntimeError(f"training failed ({done.returncode}): {' '.join(argv)}\n{done.stderr[-3000:]}")
    with open(os.path.join(run, "summary.json")) as f:
        summary = json.load(f)
    with open(os.path.join(run, "best_skill.md")) as f:
        skill = f.read()
    last, tasks = 0, set()
    with open(events) as f:
        for line in f:
            if '"event":"outcome"' in line:
                e = json.loads(line)
                last += e["key"].startswith("final/")
                if not e["key"].startswith("final/test"):
                    tasks.add(e["task"])
    calls = summary["calls"]["total"]
    return {"exit": done.returncode, "skill": skill, "calls": calls, "before_final": calls - last, "tasks": sorted(tasks), "summary": summary}


class Results:
    """Results by key, in a file of JSON lines if one is given: what is there is not
    measured again."""

    def __init__(self, path):
        self.path, self.lock, self.known = path, threading.Lock(), {}
        if path and os.path.exists(path):
            with open(path) as f:
                lines = f.read().split("\n")
            if lines[-1]:  # a line that a kill has cut
                with open(path, "w") as f:
                    f.write("\n".join(lines[:-1] + [""]))
            for line in lines[:-1]:
                row = json.loads(line)
                self.known[json.dumps(row["key"], sort_keys=True)] = row["value"]

    def get(self, key, measure):
        """Returns the value of a key; measures and keeps it if it is not known."""
        name = json.dumps(key, sort_keys=True)
        with self.lock:
            if name in self.known:
                return self.known[name]
        value = measure()
        with self.lock:
            self.known[name] = value
            if self.path:
                with open(self.path, "a") as f:
                    f.write(json.dumps({"key": key, "value": value}) + "\n")
        return value


def by_seed(jobs, measure, seeds):
    """Measures each seed, so many at a time, and returns the values in order."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(measure, seeds))


def se(values):
    """Returns the standard error of a mean."""
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else float("nan")


def shown(values, sign=""):
    """Shows a mean with its standard error."""
    return f"{statistics.mean(values):{sign}.3f} ({se(values):.3f})"


def shown_calls(calls, allowed):
    """Shows the mean of the calls that were made, marked if it is not within 5 % of those
    that were allowed."""
    made = statistics.mean(calls)
    return f"{made:.0f}" + ("" if abs(made - statistics.mean(allowed)) <= 0.05 * statistics.mean(allowed) else "!")


def print_mean(what, rows):
    """Prints the mean over cells of differences; the error takes cells as independent."""
    error = math.sqrt(sum(se(r) ** 2 for r in rows)) / len(rows)
    print(f"mean over {len(rows)} cells: ahead of {what} {statistics.mean(statistics.mean(r) for r in rows):+.3f} ({error:.3f})", flush=True)


def differences(ours, theirs):
    return [a - b for a, b in zip(ours, theirs)]


def run_peer(name, flip, arguments, env=None):
    """Runs a driver of bench/peer.py and returns the course of its training: pairs of the
    calls so far and the gain of the best skill by then."""
    argv = [sys.executable, os.path.join(ROOT, "bench", "peer.py"), name, json.dumps(arguments)]
    done = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, **(env or {})})
    if done.returncode != 0:
        raise RuntimeError(f"{name} failed ({done.returncode}):\n{done.stderr[-3000:]}")
    return [[calls, gain(skill, arguments["data"], flip)] for calls, skill in json.loads(done.stdout.splitlines()[-1])]


def add_common(parser, seeds):
    """Adds the options of every table to a parser."""
    parser.add_argument("--binary", help="skillopt; built from here if it is not given")
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--first-seed", type=int, default=501)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", help="a file of JSON lines: what it holds is not measured again")


def programs(args, place):
    """Returns the paths of this program and of the server, both absolute."""
    binary = os.path.abspath(args.binary) if args.binary else build("./cmd/skillopt", place)
    return binary, build("./bench/server", place)
