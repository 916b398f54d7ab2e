"""A model of Pydantic AI that a Runnel agent answers: pip install "runnel-client[pydantic-ai]"."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from pydantic_ai import messages as m
from pydantic_ai.models import Model, StreamedResponse
from pydantic_ai.models import ModelRequestParameters as Parameters
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings

from . import Credentials, aio, v1
from .answer import Answer, Event

FINISH_REASONS: dict[str, m.FinishReason] = {"stop": "stop", "length": "length", "tool-calls": "tool_call"}


class RunnelSettings(ModelSettings, total=False):
    """Settings of one request. It starts no run when it names one: it reads that."""

    runnel_follow_run: str


class RunnelModel(Model):
    """An agent of a service. Each request is a run in a session of its own, and its response has the id of the run.

    The service runs the agent's own tools, which the response shows as native tools. Pydantic AI runs those of its agent.
    """

    def __init__(self, url: str, agent: v1.Agent, credentials: Credentials | None = None) -> None:
        super().__init__(profile=ModelProfile(supports_json_schema_output=True))
        self._url, self._agent, self._credentials = url, agent, credentials

    @property
    def model_name(self) -> str:
        return self._agent.name

    @property
    def system(self) -> str:
        return "runnel"

    async def request(
        self, messages: list[m.ModelMessage], model_settings: ModelSettings | None, model_request_parameters: Parameters
    ) -> m.ModelResponse:
        async with self._run(messages, model_settings, model_request_parameters, is_shown=False) as run:
            async for _ in run.events():
                pass
        return m.ModelResponse(
            parts=[part for event in run.answer.events for part in _read(event)],
            model_name=self.model_name,
            provider_name=self.system,
            provider_response_id=run.answer.run_id,
            finish_reason=run.finish_reason,
        )

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[m.ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: Parameters,
        run_context: Any = None,
    ) -> AsyncGenerator[StreamedResponse]:
        async with self._run(messages, model_settings, model_request_parameters, is_shown=True) as run:
            yield run

    @asynccontextmanager
    async def _run(
        self,
        messages: list[m.ModelMessage],
        given: ModelSettings | None,
        wanted: Parameters,
        *,
        is_shown: bool,
    ) -> AsyncIterator["_Run"]:
        settings, parameters = self.prepare_request(given, wanted)
        async with aio.connect(self._url, self._credentials) as client:
            run_id = str((settings or {}).get("runnel_follow_run", ""))
            if not run_id:
                request = v1.SendMessageRequest(agent=self._agent)
                _shape(request.agent, settings or {}, parameters)
                for part in self._get_instruction_parts(messages, parameters) or ():
                    request.messages.append(v1.Message(role="system", text=part.content))
                request.messages.extend(each for message in messages for each in _write(message))
                session = await client.sessions.create_session(v1.CreateSessionRequest(agent=self._agent))
                request.session_id = session.session_id
                run_id = (await client.sessions.send_message(request)).run_id
            async with client.follow(run_id) as results:
                answer = Answer(run_id, is_shown=is_shown)
                yield _Run(parameters, answer, results, datetime.now(timezone.utc), model_name=self.model_name)


@dataclass
class _Run(StreamedResponse):
    answer: Answer
    _results: aio.Following
    _opened: datetime
    provider_name = "runnel"
    provider_url = None
    model_name: str = ""

    async def events(self) -> AsyncIterator[Event]:
        self.provider_response_id = self.answer.run_id
        async for result in self._results:
            for event in self.answer.take(result):
                if isinstance(event, v1.RunCompleted):
                    self.finish_reason = FINISH_REASONS.get(event.finish_reason)
                yield event

    async def _get_event_iterator(self) -> AsyncIterator[m.ModelResponseStreamEvent]:
        # Text after a call of a tool is another part.
        number = 0
        async for event in self.events():
            if isinstance(event, str):
                for each in self._parts_manager.handle_text_delta(vendor_part_id=number, content=event):
                    yield each
                continue
            for part in _read(event):
                yield self._parts_manager.handle_part(vendor_part_id=f"call {number}", part=part)
                number += 1

    async def close_stream(self) -> None:
        await self._results.aclose()

    @property
    def timestamp(self) -> datetime:
        return self._opened


def _shape(agent: v1.Agent, settings: Any, parameters: Parameters) -> None:
    """Adds what one request asks for to the settings of the agent."""
    for name in ("max_tokens", "temperature", "top_p", "seed", "parallel_tool_calls"):
        if settings.get(name) is not None:
            setattr(agent, name, settings[name])
    agent.stop.extend(settings.get("stop_sequences") or [])
    for tool in [*parameters.function_tools, *parameters.output_tools]:
        schema = json.dumps(tool.parameters_json_schema)
        function = v1.FunctionTool(name=tool.name, description=tool.description or "", parameters=schema)
        agent.tools.functions.append(function)
    if parameters.output_tools and not parameters.allow_text_output:
        agent.tool_choice.mode = v1.ToolChoice.MODE_REQUIRED
    wanted = parameters.output_object
    if wanted is not None and parameters.output_mode == "native":
        agent.response_format.schema = json.dumps(wanted.json_schema)
        agent.response_format.name, agent.response_format.description = wanted.name or "", wanted.description or ""


def _write(message: m.ModelMessage) -> Iterator[v1.Message]:
    if isinstance(message, m.ModelRequest):
        yield from (each for part in message.parts for each in _write_part(part))
        return
    calls = [
        v1.ToolCall(id=each.tool_call_id, name=each.tool_name, arguments=each.args_as_json_str())
        for each in message.parts
        if isinstance(each, m.ToolCallPart)
    ]
    text = "".join(each.content for each in message.parts if isinstance(each, m.TextPart))
    yield v1.Message(role="assistant", text=text, tool_calls=calls)


def _write_part(part: m.ModelRequestPart) -> Iterator[v1.Message]:
    if isinstance(part, m.SystemPromptPart):
        yield v1.Message(role="system", text=part.content)
    elif isinstance(part, m.ToolReturnPart):
        is_error = part.outcome != "success"
        yield v1.Message(role="tool", tool_call_id=part.tool_call_id, text=part.model_response_str(), is_error=is_error)
    elif isinstance(part, m.UserPromptPart):
        contents = [part.content] if isinstance(part.content, str) else part.content
        yield v1.Message(role="user", parts=v1.ContentParts(elements=[_write_content(each) for each in contents]))
    else:
        raise TypeError(f"Runnel takes no {part.part_kind}")


def _write_content(content: Any) -> v1.ContentElement:
    if isinstance(content, str):
        return v1.ContentElement(type="text", text=content)
    if isinstance(content, m.ImageUrl):
        return v1.ContentElement(type="image_url", image_url=content.url)
    if isinstance(content, m.BinaryContent):
        kind = "image_base64" if content.is_image else "file_base64"
        return v1.ContentElement(type=kind, **{kind: content.data_uri})
    raise TypeError(f"Runnel takes no {type(content).__name__}: give it text, an image or a file")


def _read(event: Event) -> list[m.ModelResponsePart]:
    if isinstance(event, str):
        return [m.TextPart(event)]
    if isinstance(event, v1.ToolCallStarted):
        return [m.NativeToolCallPart(event.tool_name, event.parameters, event.tool_call_id, provider_name="runnel")]
    if isinstance(event, v1.ToolCallCompleted):
        content = event.error if event.HasField("error") else json.loads(event.result)
        return [m.NativeToolReturnPart(event.tool_name, content, event.tool_call_id, provider_name="runnel")]
    return [m.ToolCallPart(each.name, each.arguments, each.id) for each in event.pending_tool_calls]
