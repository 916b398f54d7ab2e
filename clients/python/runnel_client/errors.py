"""The error of all calls and checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message

from .google_rpc import BadRequest, ErrorInfo, RetryInfo, Status

_STATUS_KEY = "grpc-status-details-bin"
M = TypeVar("M", bound=Message)


@dataclass(frozen=True)
class Violation:
    """A field that the service refused."""

    field: str
    description: str


class RunnelError(Exception):
    """A call that failed, or a check that did not pass.

    `reason` is stable and meant for programs, such as `SESSION_NOT_FOUND`; it is empty when the connection broke. `retry_after`
    is the time in seconds after which the service wants to be called again; None when it says nothing about that.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        message: str,
        *,
        reason: str = "",
        metadata: Mapping[str, str] | None = None,
        violations: Sequence[Violation] = (),
        retry_after: float | None = None,
        status: Status | None = None,
    ) -> None:
        super().__init__(f"{code.name}{f' ({reason})' if reason else ''}: {message}")
        self.code = code
        self.message = message
        self.reason = reason
        self.metadata: Mapping[str, str] = metadata or {}
        self.violations = tuple(violations)
        self.retry_after = retry_after
        self._status = status

    def detail(self, message: type[M]) -> M | None:
        """Returns a further detail of the error, such as `runnel_client.host_v1.ApiError`; None when it has none."""
        return None if self._status is None else _find(self._status, message)


def from_grpc(error: grpc.RpcError) -> RunnelError:
    """Reads the error of grpc or grpc.aio.

    The error of a stream is the call itself, and its traceback leads back to the call. Such a circle stays until the interpreter
    ends, and the call's finaliser may then wait for ever, for a lock that a stopped thread of grpc holds. So the traceback is cut
    off, and the new error of a stream is raised outside of the handler, where it does not refer to the call.
    """
    error.__traceback__ = None
    status = _read_status(error)
    info = _find(status, ErrorInfo)
    refused = _find(status, BadRequest)
    retry = _find(status, RetryInfo)
    return RunnelError(
        error.code(),
        error.details() or error.code().name,
        reason="" if info is None else info.reason,
        metadata=None if info is None else dict(info.metadata),
        violations=[Violation(each.field, each.description) for each in (refused.field_violations if refused else ())],
        retry_after=None if retry is None else retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9,
        status=status,
    )


def _read_status(error: grpc.RpcError) -> Status:
    metadata: Any = error.trailing_metadata() or ()
    for key, value in metadata:
        if key == _STATUS_KEY:
            try:
                return Status.FromString(value)
            except DecodeError:
                # A proxy may have changed it. The code and the message remain.
                break
    return Status()


def _find(status: Status, message: type[M]) -> M | None:
    for each in status.details:
        found = message()
        if each.Unpack(found):
            return found
    return None


def invalid(reason: str, message: str) -> RunnelError:
    """The error of a check that does not pass."""
    return RunnelError(grpc.StatusCode.INVALID_ARGUMENT, message, reason=reason)
