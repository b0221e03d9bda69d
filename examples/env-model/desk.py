"""A task environment in Python that asks the model of the run: a returns desk.

One JSON object a line comes in, one goes out; logs belong on stderr. Each task
says where its model is and by which key: task["model"]. The model looks orders
and parcels up until it knows the answer. Standard library only; a client of a
vendor finds the same model by OPENAI_BASE_URL, ANTHROPIC_BASE_URL and the like.
"""

import json
import re
import sys
import urllib.request

TURNS = 5

RULES = """You answer questions about orders at a returns desk.
To see an order, write LOOKUP order and its number. To see a parcel, write LOOKUP parcel and its number.
Anything else that you write is your answer."""


def ask(model, messages):
    """Asks the model, by the protocol of OpenAI's Chat Completions."""
    body = json.dumps({"model": model["name"], "messages": messages})
    headers = {"Authorization": "Bearer " + model["api_key"], "Content-Type": "application/json"}
    request = urllib.request.Request(model["base_url"] + "/chat/completions", body.encode(), headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]["content"]


def lookup(data, kind, number):
    """The tool of the desk: what is known of an order or a parcel."""
    record = data[kind + "s"].get(number)
    if record is None:
        return f"There is no {kind} {number}."
    return f"{kind} {number}: " + ", ".join(f"{name} {value}" for name, value in record.items())


def rollout(task):
    """Carries out one task: turns of the model until it answers."""
    messages = [
        {"role": "system", "content": RULES + "\n\n" + task["skill"]},
        {"role": "user", "content": task["prompt"]},
    ]
    for _ in range(TURNS):
        said = ask(task["model"], messages)
        wanted = re.search(r"LOOKUP (order|parcel) (\d+)", said, re.IGNORECASE)
        if not wanted:
            # The checks of config.yaml score it. What was said is known to the
            # gateway, and is the trajectory that analysts are shown.
            return {"id": task["id"], "answer": said}
        messages.append({"role": "assistant", "content": said})
        messages.append({"role": "user", "content": lookup(task["data"], wanted[1].lower(), wanted[2])})
    # The model failed within the task's own limits: that is a score of 0.
    return {"id": task["id"], "status": "agent_error", "fail_reason": f"turns: no answer in {TURNS}"}


def main():
    for line in sys.stdin:
        task = json.loads(line)
        if "model" not in task:
            sys.exit("there is no model to ask: set models.target in config.yaml, and leave env.gateway at true")
        try:
            reply = rollout(task)
        except OSError as err:
            # The model could not be had: nothing was measured. That is no score.
            reply = {"id": task["id"], "error": str(err)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
