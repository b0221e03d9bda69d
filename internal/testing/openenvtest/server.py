"""A server of OpenEnv for the tests. An episode is a ship, which is to be sent to its berth in the words of this harbour.
Arguments: the port (0: any that is free; it is printed), and how many episodes there may be at a time."""

import socket
import sys

import uvicorn
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app
from pydantic import field_validator
from pydantic_core import PydanticCustomError

BUOYS = ["north", "south", "east", "west"]


class Order(Action):
    text: str

    @field_validator("text")
    @classmethod
    def polite(cls, text):
        if text == "now":
            raise PydanticCustomError("tone", "harbours do not hurry")  # a ValueError would end the session, in 0.10.0
        return text


class View(Observation):
    text: str = ""
    choices: list[str] = []


class Harbour(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self.now, self.piloted = State(), False

    def reset(self, seed=None, episode_id=None, ship=0, **_):
        self.now, self.piloted = State(episode_id=episode_id), False
        self.tanker, self.buoy = ship % 2 == 1, BUOYS[ship // 2 % len(BUOYS)]
        kind = "tanker" if self.tanker else "barge"
        return self.view(f"The {kind} number {ship} waits at the {self.buoy} buoy.")

    def step(self, action, timeout_s=None, **_):
        self.now.step_count += 1
        if action.text == "raise":
            raise ValueError("the harbour is closed")
        if action.text == "look":
            return self.view("Fog.", choices=["look", "pilot"])
        if action.text == "pilot":
            self.piloted = True
            return self.view("The pilot is aboard.", reward=0)
        moored = action.text == f"berth {self.buoy}, over" and self.piloted == self.tanker
        return self.view("Moored." if moored else "Aground.", reward=1 if moored else -1, done=True)

    def view(self, text, **more):
        return View(text=text, metadata={"gold": f"berth {self.buoy}, over"}, **more)

    @property
    def state(self):
        return self.now


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    print(listener.getsockname()[1], flush=True)
    app = create_fastapi_app(Harbour, Order, View, max_concurrent_envs=int(sys.argv[2]))
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
