"""The conversation of the tests as a LangBot plugin, without any knowledge of Runnel. The text of the message decides what it
does: see ../../../../README.md.
"""

import asyncio
import base64
from enum import Enum

from langbot_plugin.api.definition.components.agent_runner.runner import AgentRunner
from langbot_plugin.api.entities.builtin.agent_runner import AgentRunContext, AgentRunResult, HistoryPage
from langbot_plugin.entities.io.errors import ActionCallError

from components.agent_runner import more


class Action(Enum):
    STATE_GET = "state_get"
    HISTORY_PAGE = "history_page"
    INVOKE_LLM_STREAM = "invoke_llm_stream"
    CALL_TOOL = "call_tool"


class DefaultRunner(AgentRunner):
    async def run(self, ctx: AgentRunContext):
        text = ctx.input.text or ""
        if text == "forbidden":
            try:
                await self.ask(ctx, Action.CALL_TOOL, tool_name="bash", parameters={"command": "ls"})
            except ActionCallError as error:
                told = error.data["error"]
                data = {"error": told["message"], "code": told["code"], "retryable": told["retryable"]}
                yield AgentRunResult(run_id=ctx.run_id, type="run.failed", data=data)
        elif text == "wait":
            yield delta(ctx, "waiting")
            await asyncio.Event().wait()
        elif text in more.cases:
            async for result in more.cases[text](self, ctx):
                yield result
        else:
            async for result in self.talk(ctx, text):
                yield result

    async def talk(self, ctx: AgentRunContext, text: str):
        count = (await self.ask(ctx, Action.STATE_GET, scope="conversation", key="count"))["value"] or 0
        items = await self.count_items(ctx)
        yield delta(ctx, f"message {count + 1}, after {items} items: ")
        answer, usage = "", None
        asked = {"llm_model_uuid": "demo", "messages": [{"role": "user", "content": text}], "funcs": [], "extra_args": {}}
        async for event in self._plugin_runtime_handler.call_action_generator(
            Action.INVOKE_LLM_STREAM, {"run_id": ctx.run_id, **asked}, 60.0
        ):
            usage = event.get("usage", usage)
            content = (event.get("chunk") or {}).get("content")
            if content:
                answer += content
                yield delta(ctx, content)
        yield AgentRunResult(
            run_id=ctx.run_id,
            type="state.updated",
            data={"scope": "conversation", "key": "count", "value": count + 1},
        )
        note = {"artifact_type": "note", "artifact_id": f"note-{count + 1}", "mime_type": "text/plain", "name": "note.txt"}
        content_base64 = base64.b64encode(answer.encode()).decode()
        yield AgentRunResult(
            run_id=ctx.run_id, type="artifact.created", data={**note, "content_base64": content_base64}
        )
        message = {"role": "assistant", "content": answer}
        yield AgentRunResult(run_id=ctx.run_id, type="message.completed", data={"message": message})
        yield AgentRunResult(run_id=ctx.run_id, type="run.completed", data={"finish_reason": "stop"}, usage=usage)

    async def count_items(self, ctx: AgentRunContext) -> int:
        count, cursor = 0, None
        while True:
            data = {"conversation_id": None, "before_cursor": cursor, "after_cursor": None, "limit": 2}
            answer = await self.ask(ctx, Action.HISTORY_PAGE, **data, direction="backward", include_artifacts=False)
            page = HistoryPage.model_validate(answer)
            count += len(page.items)
            cursor = page.next_cursor
            if not page.has_more:
                return count

    async def ask(self, ctx: AgentRunContext, action: Enum, **data):
        return await self._plugin_runtime_handler.call_action(action, {"run_id": ctx.run_id, **data})


def delta(ctx: AgentRunContext, content: str) -> AgentRunResult:
    return AgentRunResult(
        run_id=ctx.run_id, type="message.delta", data={"chunk": {"role": "assistant", "content": content}}
    )
