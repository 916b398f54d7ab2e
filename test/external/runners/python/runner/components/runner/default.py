"""The conversation of the tests with the API of the installed SDK: its contexts, its proxies, its results. That SDK has no
artifacts.
"""

import asyncio

from langbot_plugin.api.definition.components.runner import Runner, RunnerContext, RunnerResult
from langbot_plugin.api.entities.builtin.provider.message import Message, MessageChunk
from langbot_plugin.api.entities.builtin.runner import AgentAPIException
from langbot_plugin.entities.io.actions.enums import PluginToRuntimeAction


class DefaultRunner(Runner):
    async def run(self, ctx: RunnerContext):
        text = ctx.input.to_text()
        if text == "forbidden":
            # Its own proxies check the grant before they call; this tests the host's answer.
            call = {"run_id": ctx.run_id, "tool_name": "bash", "parameters": {"command": "ls"}}
            try:
                await self.get_run_api(ctx)._api.plugin_runtime_handler.call_action(PluginToRuntimeAction.CALL_TOOL, call)
            except AgentAPIException as failure:
                error = failure.error
                yield RunnerResult.run_failed(ctx.run_id, error.message, error.code, error.retryable)
        elif text == "wait":
            yield delta(ctx, "waiting")
            await asyncio.Event().wait()
        else:
            async for result in self.talk(ctx, text):
                yield result

    async def talk(self, ctx: RunnerContext, text: str):
        count = (await ctx.api.state_get("conversation", "count"))["value"] or 0
        yield delta(ctx, f"message {count + 1}, after {await count_items(ctx)} items: ")
        answer, usage = "", None
        asked = [Message(role="user", content=text)]
        async for event in ctx.api.invoke_llm_stream_events("demo", asked):
            usage = event.usage or usage
            if event.chunk is not None and event.chunk.content:
                answer += event.chunk.content
                yield delta(ctx, event.chunk.content)
        yield RunnerResult.state_updated(ctx.run_id, "count", count + 1, "conversation")
        yield RunnerResult.message_completed(ctx.run_id, Message(role="assistant", content=answer))
        yield RunnerResult.run_completed(ctx.run_id, usage=usage)


async def count_items(ctx: RunnerContext) -> int:
    count, cursor = 0, None
    while True:
        page = await ctx.api.history_page(before_cursor=cursor, limit=2)
        count += len(page.items)
        cursor = page.next_cursor
        if not page.has_more:
            return count


def delta(ctx: RunnerContext, content: str) -> RunnerResult:
    return RunnerResult.message_delta(ctx.run_id, MessageChunk(role="assistant", content=content))
