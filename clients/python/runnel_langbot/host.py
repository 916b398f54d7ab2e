"""The host of one run, and one action that its runner asks for."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import Message

from .contract import Stub
from .sdk import Sdk


@dataclass(frozen=True)
class Host:
    sdk: Sdk
    stub: Stub
    run_id: str
    token: str
    # The AgentRunContext that the runner got.
    context: dict[str, Any]

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self.token}"),)


class Action:
    """All calls of one action together have the time that the SDK gives it."""

    def __init__(self, host: Host, timeout: float) -> None:
        self.host = host
        self._timeout = timeout
        self._end = asyncio.get_running_loop().time() + timeout

    async def ask(self, method: str, request: Message) -> Any:
        call = getattr(self.host.stub, method)
        return await call(self._name(request), timeout=self._left(), metadata=self.host.metadata)

    async def collect(self, method: str, request: Message) -> list[Any]:
        call = getattr(self.host.stub, method)
        answers = call(self._name(request), timeout=self._left(), metadata=self.host.metadata)
        return [answer async for answer in answers]

    async def follow(self, method: str, request: Message) -> AsyncIterator[Any]:
        """Here the time is that from one answer to the next."""
        call = getattr(self.host.stub, method)(self._name(request), metadata=self.host.metadata)
        try:
            while True:
                answer = await asyncio.wait_for(call.read(), self._timeout)
                if answer is grpc.aio.EOF:
                    return
                yield answer
        finally:
            call.cancel()

    def _name(self, request: Message) -> Message:
        """Every request of this service has the field; some actions name the run themselves."""
        if request.run_id == "":
            request.run_id = self.host.run_id
        return request

    def _left(self) -> float:
        return max(self._end - asyncio.get_running_loop().time(), 0.001)
