"""Messages of the host as the SDK has them: dictionaries with every field of theirs, unset ones as None."""

from typing import Any

from google.protobuf.message import Message
from runnel_client.contract import holds_json
from runnel_client.v1 import Run, Usage
from runnel_client.worker import read_json


def to_dict(message: Message) -> dict[str, Any]:
    return {field.name: _value_of(message, field) for field in message.DESCRIPTOR.fields}


def _value_of(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    if field.is_repeated:
        return [_plain(field, each) for each in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _plain(field, value)


def _plain(field: Any, value: Any) -> Any:
    if isinstance(value, Message):
        return to_dict(value)
    # Only where an object is meant does nothing stand for something.
    return read_json(value, absent={}) if holds_json(field) else value


_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")


def usage_to_dict(usage: Usage) -> dict[str, int]:
    """What nobody counted is not there."""
    counted = {field.name for field, _ in usage.ListFields()}
    return {name: getattr(usage, name) for name in _COUNTS if name in counted}


# The fields of a context that a run is told with.
_OF_CONVERSATION = ("conversation_id", "thread_id", "workspace_id", "bot_id")


def run_to_dict(run: Run, context: dict[str, Any]) -> dict[str, Any]:
    """An AgentRun and not a key more: SDKs of the era `ledger` refuse others."""
    conversation = context.get("conversation") or {}
    state = Run.State.Name(run.state).removeprefix("STATE_").lower()
    return {
        "run_id": run.run_id,
        "event_id": context["event"]["event_id"],
        "binding_id": run.binding_id or None,
        "runner_id": run.runner_id or None,
        **{name: conversation.get(name) for name in _OF_CONVERSATION},
        "status": state,
        "status_reason": run.failure_code or None,
        "created_at": _seconds(run, "create_time"),
        "started_at": _seconds(run, "start_time"),
        "finished_at": _seconds(run, "end_time"),
        "deadline_at": _seconds(run, "deadline_time"),
        "cancel_requested_at": _seconds(run, "cancel_request_time"),
        "usage": usage_to_dict(run.usage) or None,
        "metadata": {},
    }


def _seconds(run: Message, name: str) -> int | None:
    return getattr(run, name).seconds if run.HasField(name) else None
