"""One run of one runner: its results, and the four ways in which it ends."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .. import aio, runner_v1
from ..credentials import Credentials
from .host import Host
from .reporter import Reporter
from .results import Result, failed
from .worker import Assignment, Worker

log = logging.getLogger(__name__)

# For the last result of a runner that was cancelled; less than its host gives.
CLOSE_SECONDS = 5.0


@dataclass(frozen=True)
class Run:
    """One run, as its runner sees it."""

    run_id: str
    # All about it.
    context: runner_v1.AgentRunContext
    # What may be asked of the host, as far as `context` grants it.
    host: Host


@dataclass(frozen=True)
class Runner:
    """A manifest of the LangBot protocol (§4.2), whose `id` is `plugin:author/name/runner`, and an async generator function.

    What the function raises fails the run. A run that shall end cancels it: it may catch asyncio.CancelledError, yield a last
    result within 5 s, and return.
    """

    manifest: Mapping[str, Any]
    run: Callable[[Run], AsyncGenerator[Result, None]]


async def run_worker(
    url: str,
    credentials: Credentials | None = None,
    *,
    worker_id: str,
    runners: Sequence[Runner],
    max_concurrent: int = 10,
) -> None:
    """Works until it is cancelled; its runs then have ten seconds for their ends. Reconnects by itself.

    `worker_id` is the same for all processes that run the same runners. Raises RefusedWorkerError when the service refuses the
    credentials or a manifest.
    """
    by_id = {str(each.manifest["id"]): each for each in runners}

    async def perform_one(assignment: Assignment) -> None:
        run = Run(assignment.run_id, assignment.accepted.context, assignment.host)
        results = by_id[assignment.runner_id].run(run)
        await perform(results, assignment.reporter, assignment.stop, _deadline_of(assignment.accepted.context))

    async with aio.connect(url, credentials) as client:
        worker = Worker(
            client.transport,
            credentials,
            worker_id=worker_id,
            manifests=[_describe(each) for each in runners],
            perform=perform_one,
            max_concurrent=max_concurrent,
        )
        await worker.run()


def _describe(runner: Runner) -> Mapping[str, Any]:
    """`delta` makes chunks that hold only new text, so that the service need not guess. A manifest may say otherwise."""
    metadata = {"chunk_content": "increment", **runner.manifest.get("metadata", {})}
    return {**runner.manifest, "metadata": metadata}


def _deadline_of(context: runner_v1.AgentRunContext) -> float | None:
    return context.runtime.deadline_at if context.runtime.HasField("deadline_at") else None


async def perform(
    results: AsyncGenerator[Result, None], reporter: Reporter, stop: asyncio.Event, deadline: float | None
) -> None:
    """Reports the results to their end, which the host judges when they say nothing about it. `deadline` is a time since 1970."""
    work = asyncio.create_task(_report_all(results, reporter))
    stopped = asyncio.create_task(stop.wait())
    left = None if deadline is None else max(deadline - time.time(), 0.0)
    try:
        await asyncio.wait({work, stopped}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            await _report_outcome(work, reporter)
        else:
            await _interrupt(work, reporter, stopped.done())
    finally:
        stopped.cancel()
        work.cancel()
    await reporter.finish()


async def _report_all(results: AsyncGenerator[Result, None], reporter: Reporter) -> None:
    try:
        async for result in results:
            await reporter.report(result)
            if reporter.is_over:
                return
    finally:
        with suppress(Exception):
            await results.aclose()


async def _report_outcome(work: asyncio.Task[None], reporter: Reporter) -> None:
    error = asyncio.CancelledError("the runner cancelled itself") if work.cancelled() else work.exception()
    if error is not None:
        log.error("a runner failed", exc_info=error)
        await _fail(reporter, failed(str(error) or type(error).__name__, code="runner.exception"))


async def _interrupt(work: asyncio.Task[None], reporter: Reporter, is_cancelled: bool) -> None:
    """A runner that takes no notice is left behind."""
    work.cancel()
    await asyncio.wait({work}, timeout=CLOSE_SECONDS)
    if is_cancelled:
        await _fail(reporter, failed("the run was cancelled", code="cancelled"))
    else:
        await _fail(reporter, failed("the time of the run is over", code="runner.timeout", retryable=True))


async def _fail(reporter: Reporter, result: Result) -> None:
    if not reporter.has_terminal and not reporter.is_over:
        await reporter.report(result)
