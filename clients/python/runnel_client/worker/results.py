"""The results that a runner yields. The worker numbers them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

TERMINALS = ("run.completed", "run.failed")


@dataclass(frozen=True)
class Result:
    """`data` and `usage` have to be JSON, of at most 2 MiB together. Larger content belongs into an artifact or the storage."""

    type: str
    data: Mapping[str, Any]
    # `prompt_tokens`, `completion_tokens` and `total_tokens`.
    usage: Mapping[str, Any] | None = None
    # The run that the result claims; empty means the run of its runner.
    run_id: str = ""

    @property
    def is_terminal(self) -> bool:
        return self.type in TERMINALS


def delta(content: str) -> Result:
    """A piece of a message while it is being written."""
    return Result("message.delta", {"chunk": {"role": "assistant", "content": content}})


def message(content: str) -> Result:
    """A whole message."""
    return Result("message.completed", {"message": {"role": "assistant", "content": content}})


def state(scope: Literal["conversation", "actor", "subject", "runner"], key: str, value: Any) -> Result:
    """A value that the host shall keep: any JSON, None too."""
    return Result("state.updated", {"scope": scope, "key": key, "value": value})


def completed(content: str | None = None, usage: Mapping[str, Any] | None = None) -> Result:
    """The end of a run that went well."""
    said = {} if content is None else {"message": {"role": "assistant", "content": content}}
    return Result("run.completed", {"finish_reason": "stop", **said}, usage)


def failed(error: str, *, code: str = "runner.error", retryable: bool = False) -> Result:
    """The end of a run that did not go well."""
    return Result("run.failed", {"code": code, "error": error, "retryable": retryable})
