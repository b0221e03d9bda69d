"""An environment of verifiers 0.1 for skillopt: python vf_world.py ENVIRONMENT ['{"argument": 1}']

The environment plays, and the target of the run answers its requests, by texts alone: there are no tools."""
import asyncio, json, sys

import httpx
import skillenv
import verifiers
from openai import AsyncOpenAI
from verifiers.clients.openai_chat_completions_client import OpenAIChatCompletionsClient

env = verifiers.load_environment(sys.argv[1], **json.loads(sys.argv[2] if len(sys.argv) > 2 else "{}"))
rows = env.get_dataset()

class Target(httpx.AsyncBaseTransport):
    def __init__(self, world):
        self.world = world
    async def handle_async_request(self, request):
        asked = [{"role": m["role"], "content": m["content"]} for m in json.loads(request.content)["messages"]]
        asked.insert(0, {"role": "system", "content": self.world.skill})
        text = await asyncio.to_thread(self.world.generate, asked)
        message = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        return httpx.Response(200, json={"id": "1", "object": "chat.completion", "created": 0, "model": "target", "choices": [message]})

class Episode(skillenv.World):
    plays = True
    @staticmethod
    def tasks():
        return [{"id": "row-%d" % n, "prompt": row["prompt"][-1]["content"], "gold": row["answer"], "row": n} for n, row in enumerate(rows)]
    def start(self, task, seed):
        http = httpx.AsyncClient(transport=Target(self))
        client = OpenAIChatCompletionsClient(AsyncOpenAI(api_key="none", base_url="http://target/v1", http_client=http, max_retries=0))
        end = asyncio.run(env.run_rollout(rows[task["data"]["row"]], client, "target", {}))
        if end.get("error"):
            raise RuntimeError(end["error"])
        return skillenv.seen(end["completion"][-1]["content"], done=True, score=end["reward"])

skillenv.serve(Episode, "verifiers " + sys.argv[1], verifiers.__version__)
