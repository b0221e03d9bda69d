"""A server of OpenEnv for the tests: an episode is a ship, which is to be sent to its berth in the form that the harbour
wants. Arguments: the port (0: a free one, which is printed), and how many episodes at a time."""

import socket
import sys

import uvicorn
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app

BERTHS = ["north", "south", "east", "west"]


class Order(Action):
    text: str


class View(Observation):
    text: str = ""
    choices: list[str] = []


class Harbour(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self.berth, self.turns = "", State()

    def reset(self, seed=None, episode_id=None, ship=0, **_):
        self.berth = BERTHS[ship % len(BERTHS)]
        self.turns = State(episode_id=episode_id, step_count=0)
        return View(text=f"Ship {ship} waits at the {self.berth} buoy.", metadata={"gold": f"berth {self.berth}"})

    def step(self, action, timeout_s=None, **_):
        self.turns.step_count += 1
        if action.text == "raise":
            raise ValueError("the harbour is closed")
        if action.text == "look":
            return View(text="Fog.", choices=["look", "leave"], reward=None, metadata={"gold": self.berth})
        won = action.text == f"berth {self.berth}, over"
        return View(text="Moored." if won else "Aground.", reward=1.0 if won else 0.0, done=True, metadata={"gold": self.berth})

    @property
    def state(self):
        return self.turns


if __name__ == "__main__":
    s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    print(s.getsockname()[1], flush=True)
    app = create_fastapi_app(Harbour, Order, View, max_concurrent_envs=int(sys.argv[2]))
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[s])
