"""An environment in Python: the returns desk of a mail-order shop.

One JSON object a line comes in, one goes out; logs belong on stderr. The agent
here is a toy that keeps a convention only when the skill states it, so that the
example runs without a key. Replace Agent with calls of your model.
"""

import json
import re
import sys
from datetime import datetime


class Agent:
    """Stands in for a model: it looks an order up, then answers."""

    def __init__(self, skill):
        self.skill = skill.lower()

    def next_action(self, question, observations):
        if not observations:
            return "lookup " + re.search(r"order (\d+)", question).group(1)
        return "answer " + self.answer(question, observations[-1])

    def answer(self, question, order):
        if "refund" in question:
            amount = f"{order['amount']:.2f}"
            return "EUR " + amount if "eur" in self.skill else amount
        if "status" in question:
            return order["status"].upper() if "upper case" in self.skill else order["status"]
        if "carrier" in question:
            return order["carrier"]
        day = datetime.strptime(order["bought"], "%d/%m/%Y")
        return day.strftime("%Y-%m-%d") if "yyyy-mm-dd" in self.skill else order["bought"]


def rollout(task):
    """Carries out one task: actions and observations until there is an answer."""
    agent = Agent(task["skill"])
    observations, trajectory = [], []
    for step in range(5):
        action = agent.next_action(task["prompt"], observations)
        verb, _, argument = action.partition(" ")
        if verb == "answer":
            trajectory.append({"role": "assistant", "content": argument})
            # The checks in config.yaml score the answer. An environment that
            # scores by itself returns "hard" (and "soft", "feedback") instead.
            return {"id": task["id"], "answer": argument, "trajectory": trajectory}
        order = task["data"]["orders"].get(argument)
        observation = order or "no such order"
        observations.append(observation)
        trajectory.append({"step": step, "action": action, "observation": json.dumps(observation)})
    # The agent failed within the task's own limits: that is a score of 0.
    return {"id": task["id"], "status": "agent_error", "fail_reason": "turns: no answer in 5 steps", "trajectory": trajectory}


def main():
    for line in sys.stdin:
        task = json.loads(line)
        try:
            reply = rollout(task)
        except OSError as err:
            # Nothing was measured: the network, a database, a model server.
            reply = {"id": task["id"], "error": str(err)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
