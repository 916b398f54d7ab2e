"""The host of one run as the SDK sees it, and one action that its runner asks for."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message
from runnel_client import worker
from runnel_client.within import within

from .sdk import Sdk


@dataclass(frozen=True)
class Host:
    sdk: Sdk
    calls: worker.Host
    run_id: str
    # The AgentRunContext that the runner got.
    context: dict[str, Any]


class Action:
    """All calls of one action together have the time that the SDK gives it."""

    def __init__(self, host: Host, timeout: float) -> None:
        self.host = host
        self._timeout = timeout
        self._end = asyncio.get_running_loop().time() + timeout

    async def ask(self, method: str, request: Message) -> Any:
        return await getattr(self.host.calls, method)(request, timeout=self._left())

    async def collect(self, method: str, request: Message) -> list[Any]:
        answers = getattr(self.host.calls, method)(request, timeout=self._left())
        return [answer async for answer in answers]

    async def follow(self, method: str, request: Message) -> AsyncIterator[Any]:
        """Here the time is that from one answer to the next."""
        answers = getattr(self.host.calls, method)(request)
        try:
            while True:
                try:
                    answer = await within(self._timeout, anext(answers))
                except StopAsyncIteration:
                    return
                yield answer
        finally:
            await answers.aclose()

    def _left(self) -> float:
        return max(self._end - asyncio.get_running_loop().time(), 0.001)
