#!/usr/bin/env python3
"""Runs the tests that are named after traps of sleep, and prints which holds which.

    bench/traps.py            run them, exit 1 if one fails or a trap has none
    bench/traps.py --list     only list them

A test is of a trap by its name: TestTrap70OneMessageTwice, or trap70 in the name of a script
of cmd/skillopt/testdata/script, or "trap 70" in a comment of one.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

# The traps that concern reading sessions; those of nights and of adoption come with them.
TRAPS = [*range(37, 45), 59, 62, 64, *range(68, 81), *range(87, 90)]
ROOT = pathlib.Path(__file__).resolve().parent.parent


def go_tests():
    for path in sorted(ROOT.glob("**/*_test.go")):
        for name in re.findall(r"^func (Test\w*[Tt]rap\d+\w*)\(", path.read_text(), re.M):
            yield path, name


def scripts():
    for path in sorted((ROOT / "cmd/skillopt/testdata/script").glob("*.txtar")):
        numbers = {int(n) for n in re.findall(r"[Tt]rap ?(\d+)", path.stem + "\n" + path.read_text())}
        if numbers:
            yield path, numbers


def run(packages, names):
    """The results of tests, by name: pass, fail or skip."""
    out = {}
    args = ["go", "test", "-json", "-count=1", "-run", "^(" + "|".join(names) + ")$", *packages]
    with subprocess.Popen(args, cwd=ROOT, stdout=subprocess.PIPE, text=True) as p:
        for line in p.stdout:
            if line.startswith("{"):
                e = json.loads(line)
                if e.get("Test") and e["Action"] in ("pass", "fail", "skip"):
                    out[e["Test"]] = e["Action"]
    return out


def main():
    held = collections.defaultdict(list)  # trap -> (test, where)
    tests = list(go_tests())
    for path, name in tests:
        for n in re.findall(r"\d+", re.match(r"Test\w*?[Tt]rap((?:s?\d+_?)+)", name).group(1)):
            held[int(n)].append((name, name, path.relative_to(ROOT)))
    chosen = list(scripts())
    for path, numbers in chosen:
        for n in numbers:
            held[n].append((f"TestScripts/{path.stem}", path.stem, path.relative_to(ROOT)))
    results = {}
    if "--list" not in sys.argv:
        packages = sorted({"./" + str(p.parent.relative_to(ROOT)) for p, _ in tests})
        if packages:
            results = run(packages, [n for _, n in tests])
        if chosen:
            results |= run(["./cmd/skillopt"], ["TestScripts$/^(" + "|".join(p.stem for p, _ in chosen) + ")"])
    bad = 0
    for n in TRAPS:
        if not held[n]:
            bad += 1
            print(f"trap {n:3}  no test")
        for key, name, where in held[n]:
            got = results.get(key, "-")
            bad += got in ("fail", "skip")
            print(f"trap {n:3}  {got:5} {name}  {where}")
    print(f"{len(TRAPS)} traps, {sum(1 for n in TRAPS if held[n])} with a test" + (f", {bad} without one or not passed" if bad else ""))
    return 1 if bad and "--list" not in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
