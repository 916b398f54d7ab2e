"""One run of one runner: its context, its results, and the four ways in which it ends."""

import asyncio
import logging
import time
from contextlib import suppress
from typing import Any

from .handler import Handler
from .host import Host
from .json_text import print_json
from .reporter import Reporter

log = logging.getLogger(__name__)

# For a last word of a runner that was cancelled; less than its host gives.
CLOSE_SECONDS = 5.0


async def perform(runner: Any, handler: Handler, host: Host, reporter: Reporter, stop: asyncio.Event) -> None:
    """Runs it to its end, whatever that is, and reports it. The end of a runner that says nothing is for the host to judge."""
    work = asyncio.create_task(_work(runner, handler, host, reporter))
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({work, stopped}, timeout=_time_left(host.context), return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            await _report_outcome(work, reporter)
        else:
            await _interrupt(work, reporter, stopped.done())
    finally:
        stopped.cancel()
        work.cancel()
    await reporter.finish()


def _time_left(context: dict[str, Any]) -> float | None:
    deadline = (context.get("runtime") or {}).get("deadline_at")
    return None if deadline is None else max(deadline - time.time(), 0.0)


async def _work(runner: Any, handler: Handler, host: Host, reporter: Reporter) -> None:
    with handler.serving(host):
        results = getattr(runner, host.sdk.run_method)(host.sdk.read_context(host.context))
        try:
            async for result in results:
                await _report(reporter, result)
                if reporter.is_over:
                    return
        finally:
            with suppress(Exception):
                await results.aclose()


async def _report(reporter: Reporter, result: Any) -> None:
    dumped = result.model_dump(mode="json")
    data, usage = dumped["data"], dumped.get("usage")
    if data.get("file_ids") == []:
        # Newer SDKs say with every message that no file belongs to it; the protocol does not have the word.
        del data["file_ids"]
    printed = None if usage is None else print_json(usage)
    await reporter.report(dumped["type"], print_json(data), printed, run_id=dumped.get("run_id") or "")


async def _report_outcome(work: asyncio.Task[None], reporter: Reporter) -> None:
    error = asyncio.CancelledError("the runner cancelled itself") if work.cancelled() else work.exception()
    if error is not None:
        log.error("a runner failed", exc_info=error)
        await _fail(reporter, "runner.exception", str(error) or type(error).__name__)


async def _interrupt(work: asyncio.Task[None], reporter: Reporter, is_cancelled: bool) -> None:
    """A runner that takes no notice is left behind."""
    work.cancel()
    await asyncio.wait({work}, timeout=CLOSE_SECONDS)
    if is_cancelled:
        await _fail(reporter, "cancelled", "the run was cancelled")
    else:
        await _fail(reporter, "runner.timeout", "the time of the run is over", retryable=True)


async def _fail(reporter: Reporter, code: str, error: str, retryable: bool = False) -> None:
    if not reporter.has_terminal and not reporter.is_over:
        data = {"code": code, "error": error, "retryable": retryable}
        await reporter.report("run.failed", print_json(data))
