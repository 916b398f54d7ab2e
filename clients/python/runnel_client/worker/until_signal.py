"""Runs a worker as a program."""

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any


async def until_signal(work: Coroutine[Any, Any, None]) -> None:
    """Cancels the work at SIGINT or SIGTERM, and returns when it has ended."""
    working = asyncio.create_task(work)
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, working.cancel)
    with suppress(asyncio.CancelledError):
        await working
