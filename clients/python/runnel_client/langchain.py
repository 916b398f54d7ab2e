"""A chat model of LangChain that a Runnel agent answers: pip install "runnel-client[langchain]"."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.chat_models import generate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import SkipValidation

from . import Credentials, Runnel, aio, connect, v1
from .answer import Answer, Event

ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


class ChatRunnel(BaseChatModel):
    """An agent of a service. Each call is a run in a session of its own, and its message has the id of the run.

    The service runs the agent's own tools, which the message shows as blocks of the types `server_tool_call` and
    `server_tool_result`. The caller runs those of `bind_tools`. A call with the argument `follow_run` reads the run of this id.
    """

    url: str
    credentials: SkipValidation[Credentials | None] = None
    agent: v1.Agent

    @property
    def _llm_type(self) -> str:
        return "runnel"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(each) for each in tools], tool_choice=tool_choice, **kwargs)

    def _stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        with connect(self.url, self.credentials) as client:
            run_id = self._start(client, messages, stop, kwargs)
            answer = Answer(run_id, is_shown=True)
            with client.follow(run_id) as results:
                for event in (each for result in results for each in answer.take(result)):
                    yield _chunk(run_id, event)

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        async with aio.connect(self.url, self.credentials) as client:
            run_id = await self._astart(client, messages, stop, kwargs)
            answer = Answer(run_id, is_shown=True)
            async with client.follow(run_id) as results:
                async for result in results:
                    for event in answer.take(result):
                        yield _chunk(run_id, event)

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        with connect(self.url, self.credentials) as client:
            answer = Answer(self._start(client, messages, stop, kwargs), is_shown=False)
            for result in client.follow(answer.run_id):
                list(answer.take(result))
        return _result(answer)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        async with aio.connect(self.url, self.credentials) as client:
            answer = Answer(await self._astart(client, messages, stop, kwargs), is_shown=False)
            async with client.follow(answer.run_id) as results:
                async for result in results:
                    list(answer.take(result))
        return _result(answer)

    def _start(
        self, client: Runnel, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]
    ) -> str:
        if "follow_run" in options:
            return str(options["follow_run"])
        request = self._request(messages, stop, options)
        request.session_id = client.sessions.create_session(v1.CreateSessionRequest(agent=self.agent)).session_id
        return client.sessions.send_message(request).run_id

    async def _astart(
        self, client: aio.Runnel, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]
    ) -> str:
        if "follow_run" in options:
            return str(options["follow_run"])
        request = self._request(messages, stop, options)
        session = await client.sessions.create_session(v1.CreateSessionRequest(agent=self.agent))
        request.session_id = session.session_id
        return (await client.sessions.send_message(request)).run_id

    def _request(
        self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]
    ) -> v1.SendMessageRequest:
        request = v1.SendMessageRequest(agent=self.agent)
        request.messages.extend(_write(each) for each in messages)
        request.agent.stop.extend(stop or [])
        for tool in (each["function"] for each in options.get("tools", ())):
            function = v1.FunctionTool(name=tool["name"], description=tool.get("description", ""))
            function.parameters = json.dumps(tool.get("parameters", {}))
            request.agent.tools.functions.append(function)
        choice = options.get("tool_choice") or ""
        if choice in ("any", "auto", "none", "required"):
            mode = "required" if choice == "any" else choice
            request.agent.tool_choice.mode = v1.ToolChoice.Mode.Value(f"MODE_{mode.upper()}")
        elif choice:
            request.agent.tool_choice.name = choice
        return request


def _write(message: BaseMessage) -> v1.Message:
    written = v1.Message(role=ROLES[message.type])
    if isinstance(message, AIMessage):
        for call in message.tool_calls:
            arguments = json.dumps(call["args"])
            written.tool_calls.append(v1.ToolCall(id=call["id"] or "", name=call["name"], arguments=arguments))
    elif isinstance(message, ToolMessage):
        written.tool_call_id, written.is_error = message.tool_call_id, message.status == "error"
    if isinstance(message, HumanMessage) and not isinstance(message.content, str):
        written.parts.elements.extend(_write_block(dict(each)) for each in message.content_blocks)
    else:
        written.text = str(message.text)
    return written


def _write_block(block: dict[str, Any]) -> v1.ContentElement:
    if block["type"] == "text":
        return v1.ContentElement(type="text", text=block["text"])
    kind = "image" if block["type"] == "image" else "file"
    if "url" in block:
        return v1.ContentElement(type=f"{kind}_url", **{f"{kind}_url": block["url"]})
    data = f"data:{block.get('mime_type', 'application/octet-stream')};base64,{block['base64']}"
    return v1.ContentElement(type=f"{kind}_base64", **{f"{kind}_base64": data})


def _result(answer: Answer) -> ChatResult:
    return generate_from_stream(_chunk(answer.run_id, event) for event in answer.events)


def _chunk(run_id: str, event: Event) -> ChatGenerationChunk:
    content: list[str | dict[str, Any]] = []
    more: dict[str, Any] = {}
    if isinstance(event, str):
        return ChatGenerationChunk(message=AIMessageChunk(content=event, id=run_id))
    if isinstance(event, v1.ToolCallStarted):
        block = {"type": "server_tool_call", "id": event.tool_call_id, "name": event.tool_name}
        content = [{**block, "args": json.loads(event.parameters)}]
    elif isinstance(event, v1.ToolCallCompleted):
        is_error = event.HasField("error")
        block = {"type": "server_tool_result", "tool_call_id": event.tool_call_id}
        output = event.error if is_error else json.loads(event.result)
        content = [{**block, "status": "error" if is_error else "success", "output": output}]
    else:
        calls = [
            {"name": each.name, "args": each.arguments, "id": each.id, "index": index, "type": "tool_call_chunk"}
            for index, each in enumerate(event.pending_tool_calls)
        ]
        finish = {"finish_reason": event.finish_reason}
        more = {"tool_call_chunks": calls, "response_metadata": finish, "chunk_position": "last"}
    return ChatGenerationChunk(message=AIMessageChunk(content=content, id=run_id, **more))
