#!/usr/bin/env python3
"""Record text games with the Python package alfworld, as lines of JSON, for `skillopt bench verify alfworld`.

    python3 -m venv venv && venv/bin/pip install alfworld==0.4.2
    venv/bin/python tools/record_alfworld.py FOLDER > recording.jsonl

Every game.tw-pddl or *.tw-pddl below FOLDER is played by its walkthrough, and by random commands. A line is one
moment: game (its path below FOLDER), run (walkthrough or random), step, and what the package answered: obs,
admissible, won; from step 1 also action and score. A game that the package refuses has one line with error.
"""
import argparse
import json
import os
import random
import sys

import fast_downward
import textworld
from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
from textworld.envs.pddl import PddlEnv


def games(folder):
    found = []
    for at, _, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(at, n), folder) for n in names if n.endswith(".tw-pddl")]
    return sorted(found)


def emit(**moment):
    print(json.dumps(moment, ensure_ascii=False, sort_keys=True), flush=True)


def shown(state):
    return {"obs": state.feedback, "admissible": state["admissible_commands"], "won": state["won"]}


def play(env, game, run, choose):
    """Play one run: choose(step, admissible) returns the next command, or None at the end."""
    state = env.reset()
    emit(game=game, run=run, step=0, **shown(state))
    step = 0
    while True:
        step += 1
        action = choose(step, state["admissible_commands"])
        if action is None:
            return
        state, score, _ = env.step(action)
        emit(game=game, run=run, step=step, action=action, score=score, **shown(state))


def by_walkthrough(commands):
    return lambda step, _: commands[step - 1] if step <= len(commands) else None


def at_random(rng, steps):
    def choose(step, admissible):
        if step > steps:
            return None
        if step % 10 == 0:
            return "sing loudly"  # nothing that is possible
        return rng.choice(admissible)

    return choose


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=1, help="of the random commands")
    parser.add_argument("--steps", type=int, default=20, help="random commands to a game")
    parser.add_argument("--only", default="", help="games whose path contains this")
    options = parser.parse_args()
    for game in games(options.folder):
        if options.only not in game:
            continue
        path = os.path.join(options.folder, game)
        inner = PddlEnv(textworld.EnvInfos(won=True, admissible_commands=True))
        try:
            env = AlfredDemangler(inner)
            env.load(path)
            with open(path) as f:
                walkthrough = json.load(f).get("walkthrough") or []
            play(env, game, "walkthrough", by_walkthrough(walkthrough))
            play(env, game, "random", at_random(random.Random(f"{options.seed} {game}"), options.steps))
        except (Exception, SystemExit) as error:  # the package leaves by either
            emit(game=game, run="error", error=f"{type(error).__name__}: {error}")
        else:  # each has a copy of the library in the temporary folder; one that refused a game cannot be closed
            fast_downward.close_lib(inner.downward_lib)
        print(game, file=sys.stderr)
    sys.stdout.flush()
    os._exit(0)  # the usual way out crashes in a library that was closed


if __name__ == "__main__":
    main()
