"""The conversation of the tests over `runnel_client.worker`. `python runner.py`, with RUNNEL_URL and RUNNEL_API_KEY."""

import asyncio
import json
import os
from base64 import b64encode
from collections.abc import AsyncGenerator

from runnel_client import ApiKey, RunnelError, host_v1
from runnel_client.worker import (
    Host,
    Result,
    Run,
    Runner,
    completed,
    delta,
    failed,
    message,
    run_worker,
    state,
    until_signal,
)

MANIFEST = {
    "id": "plugin:tests/talk/default",
    "name": "default",
    "label": {"en_US": "Talks"},
    "capabilities": {"streaming": True, "tool_calling": True},
    "permissions": {"models": ["invoke", "stream"], "tools": ["detail", "call"], "history": ["page"]},
}


async def run(run: Run) -> AsyncGenerator[Result, None]:
    text = run.context.input.text
    if text == "forbidden":
        yield await call_forbidden(run.host)
    elif text == "wait":
        yield delta("waiting")
        await asyncio.Event().wait()
    else:
        async for result in talk(run.host, text):
            yield result


async def talk(host: Host, text: str) -> AsyncGenerator[Result, None]:
    kept = await host.get_state(host_v1.GetStateRequest(scope="conversation", key="count"))
    count = 1 + json.loads(kept.value or "0")
    yield delta(f"message {count}, after {await count_items(host)} items: ")
    answer, usage = "", {}
    question = json.dumps({"role": "user", "content": text})
    async for step in host.invoke_model_stream(host_v1.InvokeModelStreamRequest(model_id="demo", messages=[question])):
        if step.HasField("chunk") and (content := json.loads(step.chunk).get("content")):
            answer += content
            yield delta(content)
        if step.HasField("usage"):
            usage = {
                "prompt_tokens": step.usage.prompt_tokens,
                "completion_tokens": step.usage.completion_tokens,
                "total_tokens": step.usage.total_tokens,
            }
    yield state("conversation", "count", count)
    yield Result(
        "artifact.created",
        {
            "artifact_type": "note",
            "artifact_id": f"note-{count}",
            "mime_type": "text/plain",
            "name": "note.txt",
            "content_base64": b64encode(answer.encode()).decode(),
        },
    )
    yield message(answer)
    yield completed(usage=usage)


async def count_items(host: Host) -> int:
    count, cursor = 0, None
    while True:
        page = await host.page_history(host_v1.PageHistoryRequest(limit=2, before_cursor=cursor))
        count += len(page.items)
        cursor = page.next_cursor
        if not page.has_more:
            return count


async def call_forbidden(host: Host) -> Result:
    try:
        await host.call_tool(host_v1.CallToolRequest(tool_name="bash", parameters='{"command":"ls"}'))
    except RunnelError as error:
        if detail := error.detail(host_v1.ApiError):
            return failed(detail.message, code=detail.code, retryable=detail.retryable)
    return failed("the tool was called")


async def main() -> None:
    credentials = ApiKey(os.environ["RUNNEL_API_KEY"])
    runners = [Runner(MANIFEST, run)]
    await until_signal(run_worker(os.environ["RUNNEL_URL"], credentials, worker_id="tests.talk", runners=runners))


if __name__ == "__main__":
    asyncio.run(main())
