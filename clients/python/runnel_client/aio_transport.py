"""Calls over a channel of grpc.aio, for event loops. The twin of transport.py."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
from google.protobuf.message import Message

from .attempts import Attempts, is_final_for_once, is_final_for_repeatable
from .channel import CALL_SECONDS, IDLE_SECONDS, channel_options, name_request, read_url
from .credentials import Credentials
from .errors import from_grpc
from .service import Method


class AioTransport:
    """Repeats unary calls where that is safe. A stream is opened once. Belongs to the event loop that runs when it is made."""

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
            grpc.aio.insecure_channel(target, options) if tls is None else grpc.aio.secure_channel(target, tls, options)
        )

    async def close(self) -> None:
        await self._channel.close()

    async def call(self, method: Method, request: Message, timeout: float | None) -> Any:
        named = name_request(method, request)
        is_safe = method.is_repeatable or method.has_request_id
        attempts = Attempts(
            CALL_SECONDS if timeout is None else timeout, is_final_for_repeatable if is_safe else is_final_for_once
        )
        while True:
            left = attempts.left()
            # An answer may be lost without a trace, so an attempt does not take all the time.
            limit = min(left, self.idle_timeout) if is_safe and left is not None else left
            try:
                return await self.call_once(method, named, limit, self._credentials)
            except grpc.RpcError as error:
                await asyncio.sleep(attempts.wait_after(from_grpc(error)))

    async def call_once(
        self, method: Method, request: Message, timeout: float | None, credentials: Credentials | None
    ) -> Any:
        """Makes one attempt. Raises the error of grpc."""
        body = request.SerializeToString()
        multi: Any = self._channel.unary_unary(method.path, None, method.read)
        return await multi(body, timeout=timeout, metadata=_sign(credentials, method, body))

    async def stream(self, method: Method, request: Message, timeout: float | None) -> AsyncIterator[Any]:
        call = self.open(method, request, timeout, self._credentials)
        try:
            async for answer in call:
                yield answer
        except grpc.RpcError as error:
            raise from_grpc(error) from error
        finally:
            call.cancel()

    def open(self, method: Method, request: Message, timeout: float | None, credentials: Credentials | None) -> Any:
        """Opens a stream: a call of grpc.aio."""
        body = request.SerializeToString()
        multi: Any = self._channel.unary_stream(method.path, None, method.read)
        return multi(body, timeout=timeout, metadata=_sign(credentials, method, body))

    def open_own(self, method: Method, request: Message, timeout: float | None) -> Any:
        """Opens a stream with the credentials of the client."""
        return self.open(method, request, timeout, self._credentials)


def _sign(credentials: Credentials | None, method: Method, body: bytes) -> Any:
    return None if credentials is None else credentials.sign(method.path, body)
