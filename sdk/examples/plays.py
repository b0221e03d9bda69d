"""A program that asks the target by itself, and the judge whether the answer is polite."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import skillenv  # noqa: E402


class Polite(skillenv.World):
    plays = True

    @staticmethod
    def tasks():
        return [{"id": "refuse", "prompt": "Refuse an invitation to dinner."}, {"id": "ask", "prompt": "Ask for the salt."}]

    def start(self, task, seed):
        said = self.generate([{"role": "system", "content": self.skill}, {"role": "user", "content": task["prompt"]}])
        verdict = self.generate([{"role": "user", "content": "Is this polite? Answer yes or no.\n\n" + said}], role="judge")
        return skillenv.seen(said, done=True, score=verdict.strip().lower().startswith("yes"))


skillenv.serve(Polite, "polite", "1")
