"""An environment that asks its model in the way that extras.mode says, and misbehaves so."""

import json
import os
import re
import sys
import threading
import time
import urllib.error
import urllib.request

kept = []  # what it was told of models, task by task


def post(url, headers, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {**headers, "Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return response.read().decode()


def events(text):
    for line in text.splitlines():
        if line.startswith("data: ") and line != "data: [DONE]":
            yield json.loads(line[len("data: "):])


def chat(model, messages, stream=False, name=None):
    text = post(model["base_url"] + "/chat/completions", {"Authorization": "Bearer " + model["api_key"]},
                {"model": name or model["name"], "messages": messages, "stream": stream})
    if not stream:
        return json.loads(text)["choices"][0]["message"]["content"]
    return "".join(c["delta"].get("content") or "" for e in events(text) for c in e["choices"])


def anthropic(model, messages, stream=False):
    text = post(model["anthropic_base_url"] + "/v1/messages", {"x-api-key": model["api_key"], "anthropic-version": "2023-06-01"},
                {"model": model["name"], "system": messages[0]["content"], "messages": messages[1:], "max_tokens": 100, "stream": stream})
    if not stream:
        return json.loads(text)["content"][0]["text"]
    return "".join(e["delta"]["text"] for e in events(text) if e["type"] == "content_block_delta")


def variables():
    return {"base_url": os.environ["OPENAI_BASE_URL"], "api_key": os.environ["OPENAI_API_KEY"],
            "anthropic_base_url": os.environ["ANTHROPIC_BASE_URL"], "name": os.environ["SKILLOPT_MODEL"]}


def status(call, *args):
    """The status of a call that should fail."""
    try:
        call(*args)
        return 200
    except urllib.error.HTTPError as err:
        return err.code
    except OSError as err:
        return str(err)


def conversation(task, ask):
    """Two turns, the second of which shows the model what it said."""
    messages = [{"role": "system", "content": task["skill"] or "be kind"}, {"role": "user", "content": task["prompt"]}]
    messages.append({"role": "assistant", "content": ask(messages)})
    messages.append({"role": "user", "content": "Are you sure?"})
    return {"answer": ask(messages)}


def work(task, mode):
    model = task.get("model")
    hello = [{"role": "user", "content": task["prompt"]}]
    if mode in ("chat", "chat-stream"):
        return conversation(task, lambda m: chat(model, m, mode.endswith("stream")))
    if mode in ("messages", "messages-stream"):
        return conversation(task, lambda m: anthropic(model, m, mode.endswith("stream")))
    if mode == "variables":
        return conversation(task, lambda m: chat(variables(), m))
    if mode == "silent":
        return {"answer": "nothing was asked", "feedback": json.dumps([sorted(k for k in os.environ if "KEY" in k), "model" in task])}
    if mode == "tells":  # all that it was handed
        chat(model, hello)
        print(json.dumps(dict(os.environ)), file=sys.stderr, flush=True)
        return {"answer": "x", "feedback": json.dumps([task, dict(os.environ)])}
    if mode == "late":  # with keys of tasks that are done
        first = chat(model, hello)
        late = [status(chat, k, hello) for k in kept]
        kept.append(model)
        return {"answer": first, "feedback": json.dumps(late)}
    if mode == "model":
        return {"answer": chat(model, hello, name="some-other-model")}
    if mode == "wrong-key":
        return {"hard": 0, "feedback": str(status(chat, {**model, "api_key": "sk-skillopt-guessed"}, hello))}
    if mode == "wrong-path":
        return {"hard": 0, "feedback": str(status(chat, {**model, "base_url": model["base_url"] + "/v2"}, hello))}
    if mode == "malformed":
        return {"hard": 0, "feedback": str(status(chat, model, "no list"))}
    if mode == "swallows":  # what is wrong with the server is a score of 0 to it
        got = status(chat, model, hello)
        return {"hard": 1 if got == 200 else 0}
    if mode == "crashes":
        return {"answer": chat(model, hello)}
    if mode == "flood":
        got = []
        threads = [threading.Thread(target=lambda n: got.append(status(chat, model, [{"role": "user", "content": f"{task['prompt']} {n}"}])), args=(n,)) for n in range(60)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return {"answer": str(sorted(set(map(str, got)))), "hard": got.count(200) / len(got)}
    if mode in ("dies", "leaves") and task["id"] == "t01":  # in the middle of a call, which is under way
        threading.Thread(target=status, args=(chat, model, [{"role": "user", "content": "SLOW " + task["prompt"]}]), daemon=True).start()
        while not os.path.exists(task["extras"]["flag"]):
            time.sleep(0.01)
        if mode == "dies":
            os._exit(3)
    if mode in ("dies", "leaves"):
        return {"answer": chat(model, hello)}
    raise ValueError(mode)


for line in sys.stdin:
    given = json.loads(line)
    done = work(given, given["extras"]["mode"])
    print(json.dumps({"id": given["id"], **done}), flush=True)
