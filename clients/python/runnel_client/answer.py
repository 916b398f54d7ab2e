"""The answer of a run to a program that shows text once, as those of LangChain and Pydantic AI do."""

from collections.abc import Iterator

import grpc

from . import v1
from .errors import RunnelError
from .reading import text_of

Event = str | v1.ToolCallStarted | v1.ToolCallCompleted | v1.RunCompleted


class Answer:
    """The text and the calls of a run, in order. Void ones leave it, which is an error for a program that has shown them."""

    def __init__(self, run_id: str, *, is_shown: bool) -> None:
        self.run_id = run_id
        self._is_shown = is_shown
        # Each with the sequence of its result.
        self._events: list[tuple[int, Event]] = []
        # The sequence behind the last message that has ended.
        self._message_from = 1

    @property
    def events(self) -> list[Event]:
        return [event for _, event in self._events]

    def take(self, result: v1.RunResult) -> Iterator[Event]:
        """Yields what a result adds. Raises RunnelError when the run has failed."""
        payload = result.WhichOneof("payload")
        if payload == "turn_restarted":
            self._drop_from(result.turn_restarted.from_sequence)
        elif payload == "message_delta":
            if result.message_delta.chunk.replaces_text:
                self._drop_from(self._message_from)
            yield self._add(result, result.message_delta.chunk.content)
        elif payload == "message_completed":
            # A message that came in chunks counts by its chunks, and one that only calls tools has no text.
            is_whole = not self._events or self._events[-1][0] < self._message_from
            if is_whole and (text := text_of(result.message_completed.message)):
                yield self._add(result, text)
            self._message_from = result.sequence + 1
        elif payload == "tool_call_started":
            yield self._add(result, result.tool_call_started)
        elif payload == "tool_call_completed":
            yield self._add(result, result.tool_call_completed)
        elif payload == "run_completed":
            yield self._add(result, result.run_completed)
        elif payload == "run_failed":
            raise self._error(result.run_failed.code, result.run_failed.error)

    def _add(self, result: v1.RunResult, event: Event) -> Event:
        self._events.append((result.sequence, event))
        return event

    def _drop_from(self, sequence: int) -> None:
        kept = [each for each in self._events if each[0] < sequence]
        if self._is_shown and len(kept) < len(self._events):
            message = f"a part of the text is void and was shown; run {self.run_id} goes on: read it without a stream"
            raise self._error("run_restarted", message)
        self._events = kept

    def _error(self, reason: str, message: str) -> RunnelError:
        return RunnelError(grpc.StatusCode.ABORTED, message, reason=reason, metadata={"run_id": self.run_id})
