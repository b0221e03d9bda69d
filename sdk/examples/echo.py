"""An echo world: the target shall say what the task asks for."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import skillenv  # noqa: E402


class Echo(skillenv.World):
    pure = True

    @staticmethod
    def tasks():
        return [{"id": "one", "prompt": "hello"}, {"id": "two", "prompt": "Grüße"}]

    def start(self, task, seed):
        return skillenv.seen("Say: " + task["prompt"], choices=[task["prompt"], "leave"], score=0)

    def act(self, command):
        if command == "leave":
            raise skillenv.Failed("left: nothing was said")
        right = command == self.task["prompt"]
        return skillenv.seen("You said: " + command, done=right, score=right)


skillenv.serve(Echo, "echo", "1")
