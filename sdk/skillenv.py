"""Worlds for skillopt in Python: skill-env/1 over standard input and output.

Needs nothing but Python 3.8 or later. Copy this file next to your program:

    import skillenv

    class Echo(skillenv.World):
        def start(self, task, seed):
            return "Say " + task["prompt"]

        def act(self, command):
            return skillenv.seen("You said " + command, done=True, score=command == self.task["prompt"])

    skillenv.serve(Echo, "echo", "1")

What a program prints goes to its standard error: standard output belongs to the protocol.
"""
import json
import queue
import sys
import threading


class Failed(Exception):
    """The target has failed at the task: a score of 0, with this reason. Any other exception means that nothing was measured."""


def seen(text="", *, choices=None, tools=None, done=False, score=None, failure=""):
    """What a world answers. score: 0 to 1, of the episode if it ended now; None: unknown."""
    answer = {"text": text, "choices": choices, "tools": tools, "done": bool(done), "failure": failure}
    answer = {key: value for key, value in answer.items() if value or key == "text"}
    if score is not None:
        answer["score"] = float(score)
    return answer


class World:
    """One episode; a new one is made for each. Methods of one episode are called one after the other."""

    plays = False  # True: start asks the target by generate, and returns the end with its score
    pure = False  # True: equal tasks, seeds and commands always give equal answers
    concurrent = 16  # episodes at a time, each in a thread
    config = {}  # extras of the configuration

    @staticmethod
    def tasks():
        """Returns the program's own tasks, each a dict as a line of a task file; None: it has none."""
        return None

    def start(self, task, seed):
        """Returns what is seen first. self.skill has the skill if the program plays."""
        raise NotImplementedError

    def act(self, command):
        """Returns what is seen after a command."""
        raise NotImplementedError

    def call(self, name, arguments):
        """Returns what is seen after a call of one of the tools that start gave."""
        raise NotImplementedError

    def close(self):
        """Ends the episode."""

    def generate(self, messages, role="target", max_tokens=0):
        """Asks a model of the run: [{"role": "user", "content": ...}]. Returns its text."""
        params = {"episode": self.episode, "role": role, "messages": messages}
        if max_tokens:
            params["max_tokens"] = max_tokens
        return self.server.ask("generate", params)["text"]


class Server:
    def __init__(self, world, name, version, lines, out):
        self.world, self.name, self.version, self.lines, self.out = world, name, version, lines, out
        self.lock, self.episodes, self.asked, self.last = threading.Lock(), {}, {}, 0

    def send(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message}, allow_nan=False) + "\n"
        with self.lock:
            self.out.write(line.encode())
            self.out.flush()

    def ask(self, method, params):
        answer = queue.Queue()
        with self.lock:
            self.last += 1
            asked = "p%d" % self.last
            self.asked[asked] = answer
        self.send({"id": asked, "method": method, "params": params})
        message = answer.get()
        if "error" in message:
            error = message["error"]
            kind = error.get("data", {}).get("kind")
            raise (Failed if kind == "agent" else RuntimeError)(error["message"])
        return message["result"]

    def initialize(self, params):
        if params.get("protocol") != "skill-env/1":
            raise ValueError("the protocol is %r, allowed: skill-env/1" % params.get("protocol"))
        self.world.config = params.get("config", {})
        return {
            "name": self.name, "version": self.version, "plays": self.world.plays, "pure": self.world.pure,
            "tasks": self.world.tasks() is not None, "concurrent": self.world.concurrent,
        }

    def start(self, params):
        world = self.world()
        world.server, world.episode, world.task = self, params["episode"], params["task"]
        world.skill = params.get("skill", "")
        self.episodes[world.episode] = world
        return world.start(world.task, params["seed"])

    def act(self, params):
        world = self.episodes[params["episode"]]
        if "call" in params:
            return world.call(params["call"]["name"], params["call"]["arguments"])
        return world.act(params.get("command", ""))

    def answer(self, message):
        method, params = message["method"], message.get("params", {})
        try:
            if method in ("act", "close") and params["episode"] not in self.episodes:
                raise LookupError("the episode %r is not under way" % params["episode"])
            if method == "close":
                self.episodes.pop(params["episode"]).close()
                result = {}
            elif method == "tasks":
                result = {"tasks": self.world.tasks()}
            elif method == "shutdown":
                result = {}
            elif method in ("initialize", "start", "act"):
                result = getattr(self, method)(params)
                result = seen(result) if isinstance(result, str) else result
            else:
                return self.send({"id": message["id"], "error": {"code": -32601, "message": "unknown method " + method}})
            self.send({"id": message["id"], "result": result})
        except Exception as error:  # whatever a world raises is an answer, not the end of the others
            kind = "agent" if isinstance(error, Failed) else "infra"
            text = "%s: %s" % (type(error).__name__, error) if kind == "infra" else str(error)
            self.send({"id": message["id"], "error": {"code": -32000, "message": text, "data": {"kind": kind}}})

    def run(self):
        for line in self.lines:
            message = json.loads(line)
            if "method" not in message:
                self.asked.pop(message["id"]).put(message)
                continue
            if message["method"] == "shutdown":
                return self.answer(message)
            threading.Thread(target=self.answer, args=(message,), daemon=True).start()


def serve(world, name, version):
    """Serves a subclass of World until the input ends."""
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    Server(world, name, version, sys.stdin.buffer, out).run()
    for thread in threading.enumerate():  # one that is amid a line would make the end a bad one
        if thread is not threading.current_thread():
            thread.join(1)
