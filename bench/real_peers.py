#!/usr/bin/env python3
"""Measure what DSPy gains on the sets of bench/real.py, with the same model, tasks and calls.

usage: bench/real_peers.py --kept DIR [--cache DIR] [--set NAME ...] [--method bootstrap] [--results FILE]

DIR is what `bench/real.py --keep DIR` has left: its runs say which tasks are train, selection
and test tasks. The first run installs DSPy into an environment of its own below the cache.
The program is one Predict with the text of the seed skill, the metric is that of the set,
and what is called best is scored once on the test tasks. bootstrap is
BootstrapFewShotWithRandomSearch with 8 labelled and 4 bootstrapped examples and 4
candidates, mipro is MIPROv2 (light), gepa is GEPA with 250 metric calls; the model is
its own optimizer. Calls are counted without those of the test.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import common
import real
import real_sets

DSPY = "dspy[optuna]==3.4.1"


def ids(kept, name):
    """Returns the ids of the selection and of the test tasks of a kept run."""
    run = os.path.join(kept, f"1.5b-{name}-42", "run")
    with open(os.path.join(run, "steps", "step_0000", "selection.json")) as f:
        selection = {o["id"] for o in json.load(f)}
    with open(os.path.join(run, "test_outcomes.json")) as f:
        return selection, {o["id"] for o in json.load(f)["seed"]}


def optimize(name, method, url, kept):
    """Has DSPy optimize on a set, in the Python that has it, and prints what came out."""
    import dspy

    selection, test = ids(kept, name)
    parts = {"train": [], "selection": [], "test": []}
    for t in real_sets.tasks(name):
        part = "selection" if t["id"] in selection else "test" if t["id"] in test else "train"
        parts[part].append(dspy.Example(note=t["prompt"], answer=t["gold"]).with_inputs("note"))
    calls = []

    class Counted(dspy.LM):
        def forward(self, *args, **kwargs):
            calls.append(1)
            return super().forward(*args, **kwargs)

    lm = Counted("openai/m", api_base=url, api_key="none", temperature=0, max_tokens=80 if method == "bootstrap" else 400, cache=False, num_retries=2)
    dspy.configure(lm=lm)
    program = dspy.Predict(dspy.Signature("note -> answer", real_sets.skills(name)[0]))
    solved = lambda example, prediction, *_: (prediction.answer or "").strip() == example.answer
    if method == "bootstrap":
        o = dspy.BootstrapFewShotWithRandomSearch(metric=solved, max_labeled_demos=8, max_bootstrapped_demos=4, num_candidate_programs=4, num_threads=1)
        best = o.compile(program, trainset=parts["train"], valset=parts["selection"])
    elif method == "mipro":
        best = dspy.MIPROv2(metric=solved, auto="light", num_threads=1).compile(program, trainset=parts["train"], valset=parts["selection"])
    else:
        said = lambda example, prediction, *_: dspy.Prediction(score=float(solved(example, prediction)), feedback=f"expected {example.answer}")
        best = dspy.GEPA(metric=said, max_metric_calls=real.CALLS, reflection_lm=lm, num_threads=1).compile(program, trainset=parts["train"], valset=parts["selection"])
    spent, right = len(calls), 0
    for example in parts["test"]:
        try:
            right += solved(example, best(**example.inputs()))
        except Exception as e:  # a reply that DSPy cannot read is a failed task
            print(type(e).__name__, file=sys.stderr)
    print(json.dumps({"test": right / len(parts["test"]), "calls": spent}))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--cache", default=os.path.expanduser("~/.cache/skillopt-real"))
    p.add_argument("--kept", required=True)
    p.add_argument("--set", action="append", choices=list(real_sets.SETS))
    p.add_argument("--method", action="append", choices=["bootstrap", "mipro", "gepa"])
    p.add_argument("--results")
    p.add_argument("--at", help=argparse.SUPPRESS)  # the server, of the process that has DSPy
    args = p.parse_args()
    if args.at:
        return optimize(args.set[0], args.method[0], args.at, args.kept)
    python, results = real.environment(args.cache, "dspy", DSPY), common.Results(args.results)
    with real.served(real.engine(args.cache), real.fetch_model(args.cache, "1.5b")) as url:
        for method in args.method or ["bootstrap"]:
            for name in args.set or real_sets.SETS:

                def measure():
                    start = time.monotonic()
                    done = subprocess.run([python, __file__, "--at", url, "--kept", args.kept, "--set", name, "--method", method], stdout=subprocess.PIPE, text=True, check=True)
                    return {**json.loads(done.stdout.splitlines()[-1]), "minutes": (time.monotonic() - start) / 60}

                r = results.get({"method": method, "set": name}, measure)
                print(f"{method:10} {name:8} test {r['test']:.2f}  {r['calls']} calls  {r['minutes']:.1f} minutes", flush=True)


if __name__ == "__main__":
    main()
