"""Calls the adapters for LangChain and Pydantic AI as one of the tests asks: adapters.py <what> <url>, with RUNNEL_API_KEY."""

import asyncio
import os
import sys
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from runnel_client import ApiKey, RunnelError, v1
from runnel_client.langchain import ChatRunnel
from runnel_client.pydantic_ai import RunnelModel, RunnelSettings

URL, KEY = sys.argv[2], ApiKey(os.environ["RUNNEL_API_KEY"])
AGENT = v1.Agent(name="tested", tools=v1.AgentTools(builtin=["memory_write"]))


class City(BaseModel):
    """A city."""

    name: str
    people: int


def langchain() -> ChatRunnel:
    return ChatRunnel(url=URL, credentials=KEY, agent=AGENT)


def show(*values: Any) -> None:
    print(*values, flush=True)


async def langchain_blocks() -> None:
    """Every way to call shows the tools that the service runs, and the text."""
    model = langchain()
    messages: list[AIMessage] = [model.invoke("go"), await model.ainvoke("go")]
    for chunks in (list(model.stream("go")), [each async for each in model.astream("go")]):
        whole = chunks[0]
        for chunk in chunks[1:]:
            whole = whole + chunk
        assert isinstance(whole, AIMessageChunk)
        messages.append(whole)
    for message in messages:
        blocks = [each["type"] for each in message.content_blocks]
        show(*blocks, message.text, len(message.tool_calls), message.response_metadata["finish_reason"])


async def langchain_output() -> None:
    show(repr(langchain().with_structured_output(City).invoke("Name a city.")))


async def langchain_restart() -> None:
    """A stream that has shown void text ends, and its run can be read. A call without a stream has the second text alone."""
    try:
        for chunk in langchain().stream("go"):
            show(chunk.text)
    except RunnelError as error:
        show(error.reason, (await langchain().ainvoke([], follow_run=error.metadata["run_id"])).text)


async def langchain_whole() -> None:
    show((await langchain().ainvoke("go")).text)


def pydantic(instructions: str | None = None) -> Agent[None, str]:
    agent = Agent(RunnelModel(URL, AGENT, KEY), instructions=instructions)

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        """Adds two integers."""
        return a + b

    return agent


def parts_of(messages: list[ModelMessage]) -> list[str]:
    return [part.part_kind for message in messages for part in message.parts]


async def pydantic_tools() -> None:
    """The agent runs its tool, and the service its own."""
    result = await pydantic("Be brief.").run("What is 2 + 3?")
    show(result.output, *parts_of(result.all_messages()))
    async with pydantic().run_stream("What is 2 + 3?") as stream:
        show("".join([text async for text in stream.stream_text(delta=True)]), *parts_of(stream.all_messages()))


async def pydantic_restart() -> None:
    run_id = ""
    try:
        async with pydantic().iter("go") as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    async with node.stream(run.ctx) as events:
                        async for event in events:
                            if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                                show(event.part.content)
                            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                                show(event.delta.content_delta)
    except RunnelError as error:
        run_id = error.metadata["run_id"]
        show(error.reason)
    result = await pydantic().run("go", model_settings=RunnelSettings(runnel_follow_run=run_id))
    show(result.output, result.response.provider_response_id == run_id)


async def pydantic_whole() -> None:
    show((await pydantic().run("go")).output)


asyncio.run(globals()[sys.argv[1]]())
