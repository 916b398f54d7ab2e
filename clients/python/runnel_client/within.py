"""Waits for an answer, with a limit."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def within(seconds: float, answer: Awaitable[T]) -> T:
    """Returns the answer, or raises asyncio.TimeoutError and cancels it.

    Before Python 3.12 asyncio.wait_for drops the cancellation of its caller when the answer arrives in the same step. A reader
    whose connection breaks while it is cancelled would then never end.
    """
    waiting = asyncio.ensure_future(answer)
    # After a cancellation no one asks for its error.
    waiting.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        await asyncio.wait({waiting}, timeout=seconds)
        if not waiting.done():
            raise asyncio.TimeoutError
        return waiting.result()
    finally:
        if not waiting.done():
            waiting.cancel()
            # Until it has ended, the generator that it reads cannot be closed.
            await asyncio.wait({waiting})
