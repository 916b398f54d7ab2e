"""Follows runs in the thread that reads. aio.py has the twin for event loops; reading.py and attempts.py decide for both."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from types import TracebackType
from typing import Any

import grpc

from .attempts import Attempts
from .contract import find_method
from .errors import RunnelError, from_grpc
from .reading import End, Entry, LogGapError, Place, Reading, ended_before, ended_early
from .transport import BlockingTransport, Silence, silent
from .v1 import RunResult, TailRunBytes, TailRunRequest

# Both messages are the same on the wire.
TAIL_RUN = replace(find_method("runnel.v1.RunService", "TailRun"), read=TailRunBytes.FromString)


class Stop:
    """Ends what a reader waits for, from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._call: Any = None

    def cancel(self) -> None:
        self._event.set()
        call = self._call
        if call is not None:
            call.cancel()

    def hold(self, call: Any) -> None:
        self._call = call
        if self._event.is_set():
            call.cancel()

    def release(self) -> None:
        self._call = None

    def check(self) -> None:
        if self._event.is_set():
            raise RunnelError(grpc.StatusCode.CANCELLED, "the reader was cancelled")

    def sleep(self, seconds: float) -> None:
        self._event.wait(seconds)
        self.check()


class Following(Iterator[RunResult]):
    """The results of a run, each once and in order, until the terminal one. Raises RunnelError.

    It opens the stream again after every failure that may pass. Close it, or leave its `with` block, to stop earlier.
    """

    def __init__(self, entries: Iterator[Entry], place: Place, stop: Stop) -> None:
        self._entries = entries
        self._place = place
        self._stop = stop

    def __next__(self) -> RunResult:
        self._stop.check()
        return next(self._entries).result

    def cancel(self) -> None:
        """Ends the reader from any thread: its iteration raises RunnelError with the code CANCELLED."""
        self._stop.cancel()

    def close(self) -> None:
        """Closes the stream."""
        self._stop.cancel()

    @property
    def text(self) -> str:
        """The valid text so far, which shrinks when a turn begins again."""
        return self._place.reading.text

    @property
    def end(self) -> End | None:
        """How the run ended; None before that."""
        return self._place.reading.end

    def wait(self) -> End:
        """Reads to the end of the run."""
        for _ in self:
            pass
        if self.end is None:
            raise ended_before(self._place.reading.last)
        return self.end

    def __enter__(self) -> "Following":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_log(
    transport: BlockingTransport, run_id: str, reading: Reading, attempts: Attempts, stop: Stop
) -> Iterator[Entry]:
    while True:
        try:
            for entry in _read_stream(transport, run_id, reading, attempts, stop):
                attempts.progress()
                yield entry
            if reading.is_over_after_ok():
                return
            failure = ended_early()
        except LogGapError as gap:
            failure = RunnelError(grpc.StatusCode.UNAVAILABLE, str(gap))
        except RunnelError as error:
            stop.check()
            failure = error.with_traceback(None)
        stop.sleep(attempts.wait_after(failure))


def _read_stream(
    transport: BlockingTransport, run_id: str, reading: Reading, attempts: Attempts, stop: Stop
) -> Iterator[Entry]:
    """Yields the results of one stream."""
    call = transport.open(TAIL_RUN, TailRunRequest(run_id=run_id, after=reading.last), attempts.left())
    silence = Silence(call.cancel, transport.idle_timeout)
    stop.hold(call)
    try:
        while reading.end is None:
            response = silence.wait_for(lambda: next(call, None))
            if response is None:
                return
            yield from reading.take(response.results)
        return
    except grpc.RpcError as error:
        failure = from_grpc(error)
    finally:
        silence.stop()
        stop.release()
        call.cancel()
    raise silent(transport.idle_timeout) if silence.is_over else failure
