"""Drivers of other projects' optimizers, each run by the Python that has its package:

    peer.py gepa|skillopt|skillrl '{"url": ..., "work": ..., "seed": ...}'

They use the defaults that the packages ship with, and print the course of the training as
one JSON line: a list of pairs, the calls so far and the best skill by then, for each step.
"""

import contextlib
import http.client
import json
import os
import sys
import urllib.parse

from common import PROMPT, SKILL, calls_so_far, read_items


class Client:
    """Asks the server, over one connection, and counts."""

    def __init__(self, url):
        parts = urllib.parse.urlparse(url)
        self.connection, self.path, self.calls = http.client.HTTPConnection(parts.netloc), parts.path + "/chat/completions", 0

    def ask(self, model, messages):
        self.calls += 1
        self.connection.request("POST", self.path, json.dumps({"model": model, "messages": messages}), {"Content-Type": "application/json"})
        with self.connection.getresponse() as r:
            return json.load(r)["choices"][0]["message"]["content"]


def gepa(a):
    """Runs GEPA until it has made so many calls. A smaller budget would only end it earlier."""
    from gepa import optimize

    client, course = Client(a["url"]), []
    pool = read_items(a["data"], "train") + read_items(a["data"], "val")
    examples = {i["id"]: {"input": PROMPT.format(**i), "additional_context": {}, "answer": i["answers"][0]} for i in pool}

    def stop(state):
        scores = state.program_full_scores_val_set
        best = max(range(len(scores)), key=scores.__getitem__)
        course.append((client.calls, state.program_candidates[best]["skill"]))
        return client.calls >= a["calls"]

    optimize(
        seed_candidate={"skill": SKILL}, trainset=[examples[i] for i in a["train"]], valset=[examples[i] for i in a["val"]] or None,
        task_lm=lambda messages: client.ask("fake-target", messages),
        reflection_lm=lambda prompt: client.ask("fake-optimizer", [{"role": "user", "content": prompt}]),
        reflection_minibatch_size=min(a["minibatch"], len(a["train"])), stop_callbacks=stop, seed=a["seed"], logger=Quiet(),
    )
    return course


class Quiet:
    def log(self, message):
        pass


def noting(a, save, course):
    """Returns a function that saves the state after a step, and notes it in the course."""

    def note(*args):
        save(*args)
        best = os.path.join(a["out"], "best_skill.md")
        if os.path.exists(best):
            with open(best) as f:
                course.append((calls_so_far(a["url"]), f.read()))

    return note


def skillrl(a):
    from skillrl import SkillOptConfig, SkillOptTrainer
    from skillrl.envs.qa import SimpleQAEnv
    from skillrl.llm.openai_client import OpenAIChatClient

    env = SimpleQAEnv(initial_skill=SKILL, **{s + "_items": read_items(a["data"], s) for s in ("train", "val", "test")})
    models = {role + "_client": OpenAIChatClient(f"fake-{role}", api_key="none", base_url=a["url"]) for role in ("target", "optimizer")}
    trainer, course = SkillOptTrainer(config=SkillOptConfig(out_root=a["out"], seed=a["seed"], eval_test=False), env=env, **models), []
    trainer._persist_runtime_state = noting(a, trainer._persist_runtime_state, course)
    trainer.train()
    return course


def skillopt(a):
    """Trains with the files of the package's git tag, which its wheel lacks: prompts and
    the base of configurations. The environment is its own for questions."""
    import skillopt.prompts
    from scripts import train
    from skillopt.engine import trainer

    skillopt.prompts._PROMPTS_DIR = os.path.join(a["prompts"], "skillopt", "prompts")
    skillopt.prompts._REFLACT_DIR = os.path.join(a["prompts"], "skillopt")
    initial, config = os.path.join(a["work"], "initial.md"), os.path.join(a["work"], "skillopt.yaml")
    with open(initial, "w") as f:
        f.write(SKILL)
    wanted = {
        "_base_": os.path.join(a["prompts"], "configs", "_base_", "default.yaml"),
        "model": {
            "target": "fake-target", "optimizer": "fake-optimizer",
            "azure_openai_endpoint": a["url"], "azure_openai_auth_mode": "openai_compatible", "azure_openai_api_key": "none",
        },
        "train": {"seed": a["seed"]},
        "evaluation": {"eval_test": False},
        "env": {
            "name": "searchqa", "skill_init": initial, "split_mode": "split_dir", "split_dir": a["data"], "out_root": a["out"],
            "max_turns": 1, "workers": 24,
        },
    }
    with open(config, "w") as f:
        json.dump(wanted, f)
    course, sys.argv = [], ["skillopt-train", "--config", config]
    trainer._save_runtime_state = noting(a, trainer._save_runtime_state, course)
    train.main()
    return course


def main():
    with contextlib.redirect_stdout(sys.stderr):
        result = {"gepa": gepa, "skillopt": skillopt, "skillrl": skillrl}[sys.argv[1]](json.loads(sys.argv[2]))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
