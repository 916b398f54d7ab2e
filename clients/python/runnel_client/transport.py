"""Calls over a channel of grpc that wait for their answers."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from .attempts import Attempts, is_final_for_once, is_final_for_repeatable
from .channel import CALL_SECONDS, IDLE_SECONDS, channel_options, name_request, read_url
from .credentials import Credentials
from .errors import RunnelError, from_grpc
from .service import Method

T = TypeVar("T")


class BlockingTransport:
    """Repeats unary calls where that is safe. A stream is opened once."""

    def __init__(
        self,
        url: str,
        credentials: Credentials | None = None,
        *,
        idle_timeout: float = IDLE_SECONDS,
        root_certificates: bytes | None = None,
    ) -> None:
        self.idle_timeout = idle_timeout
        self._credentials = credentials
        target, tls = read_url(url, root_certificates)
        options = channel_options(idle_timeout)
        self._channel = (
            grpc.insecure_channel(target, options) if tls is None else grpc.secure_channel(target, tls, options)
        )

    def close(self) -> None:
        self._channel.close()

    def call(self, method: Method, request: Message, timeout: float | None) -> Any:
        body = name_request(method, request).SerializeToString()
        is_safe = method.is_repeatable or method.has_request_id
        attempts = Attempts(
            CALL_SECONDS if timeout is None else timeout, is_final_for_repeatable if is_safe else is_final_for_once
        )
        multi: Any = self._channel.unary_unary(method.path, None, method.read)
        while True:
            left = attempts.left()
            # An answer may be lost without a trace, so an attempt does not take all the time.
            limit = min(left, self.idle_timeout) if is_safe and left is not None else left
            try:
                return multi(body, timeout=limit, metadata=self._sign(method, body))
            except grpc.RpcError as error:
                time.sleep(attempts.wait_after(from_grpc(error)))

    def stream(self, method: Method, request: Message, timeout: float | None) -> Iterator[Any]:
        call = self.open(method, request, timeout)
        try:
            yield from call
            return
        except grpc.RpcError as error:
            failure = from_grpc(error)
        finally:
            call.cancel()
            del call
        raise failure

    def open(self, method: Method, request: Message, timeout: float | None) -> Any:
        """Opens a stream: an iterator of grpc with `cancel`."""
        body = request.SerializeToString()
        multi: Any = self._channel.unary_stream(method.path, None, method.read)
        return multi(body, timeout=timeout, metadata=self._sign(method, body))

    def _sign(self, method: Method, body: bytes) -> Any:
        return None if self._credentials is None else self._credentials.sign(method.path, body)


class Silence:
    """Cancels a stream that brings nothing for so long, while its reader waits."""

    def __init__(self, cancel: Callable[[], Any], seconds: float) -> None:
        self._cancel = cancel
        self._seconds = seconds
        self._waiting_since: float | None = None
        self._done = threading.Event()
        # Whether it has cancelled the stream.
        self.is_over = False
        self._thread = threading.Thread(target=self._watch, name="runnel-silence", daemon=True)
        self._thread.start()

    def wait_for(self, step: Callable[[], T]) -> T:
        self._waiting_since = time.monotonic()
        try:
            return step()
        finally:
            self._waiting_since = None

    def stop(self) -> None:
        self._done.set()
        # A daemon thread that still runs when the interpreter ends may hold up its end.
        self._thread.join()

    def _watch(self) -> None:
        wait = self._seconds
        while not self._done.wait(wait):
            since = self._waiting_since
            wait = self._seconds if since is None else since + self._seconds - time.monotonic()
            if wait <= 0:
                self.is_over = True
                self._cancel()
                return


def silent(seconds: float) -> RunnelError:
    return RunnelError(grpc.StatusCode.UNAVAILABLE, f"the service was silent for {seconds:g} s")
