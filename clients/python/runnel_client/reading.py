"""What a reader knows of a log, without any connection: its place, the valid text so far, and the end of the run."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import grpc

from .contract import result_type_of
from .errors import RunnelError
from .v1 import Message, RunResult, ToolCall

State = Literal["completed", "failed", "cancelled"]


@dataclass(frozen=True)
class End:
    """How a run ended. `text` has all valid text of its messages, and `output` is that of the run."""

    state: State
    text: str
    output: str
    # Of a failed or cancelled run: a dotted code and a text for people.
    failure_code: str = ""
    error: str = ""
    # Calls of the caller's own tools, which it has to answer.
    pending_tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A result, and the bytes that the service stored and signs for."""

    result: RunResult
    stored: bytes


class LogGapError(Exception):
    """A result is missing: the stream has to be opened again."""


class Reading:
    """R1: results come out as after + 1, after + 2, … without a gap and each once. R2: void text never counts."""

    def __init__(self, after: int) -> None:
        # The sequence of the last result.
        self.last = after
        self.end: End | None = None
        self._after = after
        self._empty_streams = 0
        self._texts: list[RunResult] = []

    def take(self, stored: Iterable[bytes]) -> Iterator[Entry]:
        """Yields the new ones. Raises LogGapError when one is missing before them."""
        for content in stored:
            result = RunResult.FromString(content)
            if result.sequence <= self.last or self.end is not None:
                continue
            if result.sequence > self.last + 1:
                raise LogGapError(f"result {result.sequence} came after result {self.last}")
            self.last = result.sequence
            self._note(result)
            yield Entry(result, content)

    def _note(self, result: RunResult) -> None:
        payload = result.WhichOneof("payload")
        if payload == "turn_restarted":
            first = result.turn_restarted.from_sequence
            self._texts = [each for each in self._texts if each.sequence < first]
        elif payload in ("message_delta", "message_completed"):
            self._texts.append(result)
        elif payload == "run_completed":
            done = result.run_completed
            output = text_of(done.message) if done.HasField("message") else done.output
            self.end = End("completed", self.text, output, pending_tool_calls=tuple(done.pending_tool_calls))
        elif payload == "run_failed":
            failed = result.run_failed
            state: State = "cancelled" if failed.code == "cancelled" else "failed"
            self.end = End(state, self.text, failed.output, failed.code, failed.error)

    def is_over_after_ok(self) -> bool:
        """Returns whether a stream that ended with OK was complete.

        A reader that began after the terminal result gets no result. A stream that broke may look the same, so two in a row
        count.
        """
        if self.end is not None:
            return True
        is_unread = self.last == self._after and self._after > 0
        self._empty_streams = self._empty_streams + 1 if is_unread else 0
        return self._empty_streams == 2

    @property
    def text(self) -> str:
        """The valid text of all messages so far. A message that came in chunks counts by its chunks."""
        whole, chunks = "", ""
        for each in self._texts:
            if each.HasField("message_delta"):
                chunk = each.message_delta.chunk
                chunks = chunk.content if chunk.replaces_text else chunks + chunk.content
            else:
                whole, chunks = whole + (chunks or text_of(each.message_completed.message)), ""
        return whole + chunks


@dataclass
class Place:
    """The run that is being read; `ask` reads one after another."""

    reading: Reading


def ended_early() -> RunnelError:
    return RunnelError(grpc.StatusCode.UNAVAILABLE, "the stream ended before the run did")


def ended_before(last: int) -> RunnelError:
    message = f"the run had ended when its reader began after result {last}: runs.get_run says how"
    return RunnelError(grpc.StatusCode.OUT_OF_RANGE, message, reason="ENDED_BEFORE")


def text_of(message: Message) -> str:
    """Returns the text of a message, without its other parts."""
    if message.HasField("parts"):
        return "".join(each.text for each in message.parts.elements)
    return message.text


def result_type(result: RunResult) -> str:
    """Returns the dotted type of a result, such as `message.delta`; `unknown` when this version does not know it."""
    payload = result.WhichOneof("payload")
    return "unknown" if payload is None else result_type_of(result.DESCRIPTOR.fields_by_name[payload])
