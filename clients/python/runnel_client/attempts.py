"""When to call again after a failure, and when not (docs/resuming.md)."""

import time
from collections.abc import Callable

import grpc

from .errors import RunnelError

Code = grpc.StatusCode

DELAY_MIN_SECONDS = 0.2
DELAY_MAX_SECONDS = 10.0

# The same call gets the same answer again.
PERMANENT = {
    Code.INVALID_ARGUMENT,
    Code.UNAUTHENTICATED,
    Code.PERMISSION_DENIED,
    Code.NOT_FOUND,
    Code.OUT_OF_RANGE,
    Code.FAILED_PRECONDITION,
    Code.UNIMPLEMENTED,
    Code.DATA_LOSS,
}


def is_final_for_reader(error: RunnelError) -> bool:
    """Reading changes nothing, so everything else is tried again."""
    return error.code in PERMANENT or _is_too_large(error)


def is_final_for_repeatable(error: RunnelError) -> bool:
    """A failure without a reason is one of the connection. With a reason, the service answered: only RetryInfo asks for more."""
    if is_final_for_reader(error):
        return True
    is_answer = error.reason != "" or error.code in (Code.ALREADY_EXISTS, Code.ABORTED)
    return is_answer and error.retry_after is None and error.code is not Code.UNAVAILABLE


def is_final_for_once(error: RunnelError) -> bool:
    """A call beyond the rate is refused before it has an effect. After every other failure it may have had one."""
    return error.reason != "RATE_LIMITED" or error.retry_after is None


def _is_too_large(error: RunnelError) -> bool:
    """The limit of gRPC itself, which the same message exceeds again."""
    return error.code is Code.RESOURCE_EXHAUSTED and error.reason == "" and "larger than max" in error.message


class Attempts:
    """The attempts of one call. After a failure they say how long to wait, or raise the error that ends the call."""

    def __init__(self, timeout: float | None, is_final: Callable[[RunnelError], bool]) -> None:
        self._end = None if timeout is None else time.monotonic() + timeout
        self._is_final = is_final
        self._delay = DELAY_MIN_SECONDS
        self._last: RunnelError | None = None

    def left(self) -> float | None:
        """Returns the time until the deadline. Raises DEADLINE_EXCEEDED after it."""
        if self._end is None:
            return None
        left = self._end - time.monotonic()
        if left <= 0:
            why = "" if self._last is None else f"; the last attempt failed with {self._last}"
            raise RunnelError(Code.DEADLINE_EXCEEDED, f"the deadline has passed{why}") from self._last
        return left

    def progress(self) -> None:
        """Called when an attempt brought something."""
        self._delay = DELAY_MIN_SECONDS

    def wait_after(self, error: RunnelError) -> float:
        """Returns how long to wait before the next attempt, at most until the deadline."""
        left = self.left()
        if self._is_final(error):
            try:
                raise error
            finally:
                # The traceback has this frame: with the error in it, both would stay until they are collected.
                del error
        self._last = error
        delay = self._delay if error.retry_after is None else error.retry_after
        self._delay = min(self._delay * 2, DELAY_MAX_SECONDS)
        return delay if left is None else min(delay, left)
