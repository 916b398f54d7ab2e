"""Tools of the caller: functions that the model may call and that run here (docs/shaped-runs.md)."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import grpc

from .errors import RunnelError
from .v1 import Agent, AgentTools, FunctionTool, Message, ToolCall

# Each round is a run, which costs.
ROUNDS_MAX = 32


@dataclass(frozen=True)
class Function:
    """A function that the model may call. `parameters` is the JSON Schema of its keyword arguments.

    A text that it returns goes to the model as it is, and every other value as JSON. What it raises goes there as an error. The
    asynchronous client also takes coroutine functions.
    """

    name: str
    run: Callable[..., Any]
    description: str = ""
    parameters: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Call:
    """One call of the model, ready to run."""

    id: str
    run: Callable[[], Any]


def offer(agent: Agent | None, functions: Sequence[Function]) -> Agent:
    """Returns the settings of a run, with the functions added to its tools."""
    offered = Agent()
    if agent is not None:
        offered.CopyFrom(agent)
    offered.tools.MergeFrom(AgentTools(functions=[_describe(each) for each in functions]))
    return offered


def _describe(function: Function) -> FunctionTool:
    schema = "" if function.parameters is None else json.dumps(function.parameters)
    return FunctionTool(name=function.name, description=function.description, parameters=schema)


def prepare(calls: Iterable[ToolCall], functions: Sequence[Function]) -> list[Call]:
    by_name = {each.name: each for each in functions}
    return [Call(each.id, _bind(each, by_name.get(each.name))) for each in calls]


def _bind(call: ToolCall, function: Function | None) -> Callable[[], Any]:
    def run() -> Any:
        if function is None:
            raise LookupError(f"unknown function {call.name}")
        arguments = json.loads(call.arguments or "{}")
        if not isinstance(arguments, dict):
            raise TypeError(f"the arguments of {call.name} are no JSON object")
        return function.run(**arguments)

    return run


def succeeded(call: Call, value: Any) -> Message:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return Message(role="tool", tool_call_id=call.id, text=text)


def failed(call: Call, error: Exception) -> Message:
    text = f"{type(error).__name__}: {error}"
    return Message(role="tool", tool_call_id=call.id, text=text, is_error=True)


def too_many_rounds() -> RunnelError:
    message = f"the model called functions in {ROUNDS_MAX} runs in a row"
    return RunnelError(grpc.StatusCode.RESOURCE_EXHAUSTED, message, reason="ROUNDS_EXHAUSTED")
