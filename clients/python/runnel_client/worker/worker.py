"""A worker: registers runners, takes the runs that it is offered and has them performed. It reconnects until it is cancelled; its
session outlives connections, and runs continue meanwhile.
"""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import grpc

from .. import runner_v1
from ..aio_transport import AioTransport
from ..credentials import Credentials
from ..errors import RunnelError
from ..json_text import print_json
from ..within import within
from .host import Host, OnceTransport, RunTransport
from .reporter import TRANSIENT, Reporter

log = logging.getLogger(__name__)

RECONNECT_MIN_SECONDS = 0.1
RECONNECT_MAX_SECONDS = 5.0
# The service sends an empty message every 15 s.
SILENCE_SECONDS = 60.0
CALL_SECONDS = 30.0
# An offer is void after that.
ACCEPT_SECONDS = 10.0
ACCEPT_RETRY_SECONDS = 0.2
# For the runs of a worker that ends.
END_SECONDS = 10.0

REFUSALS = {
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.INVALID_ARGUMENT,
}


class RefusedWorkerError(Exception):
    """The service refuses a manifest or the credentials. The same registration is refused again."""


@dataclass(frozen=True)
class Assignment:
    """A run that the worker has accepted."""

    runner_id: str
    run_id: str
    accepted: runner_v1.AcceptRunResponse
    host: Host
    reporter: Reporter
    # Set when the run shall end.
    stop: asyncio.Event


@dataclass
class _ActiveRun:
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


class Worker:
    """Takes runs for the runners of the manifests. `perform` works on one run to its end."""

    def __init__(
        self,
        transport: AioTransport,
        credentials: Credentials | None,
        *,
        worker_id: str,
        manifests: Sequence[Mapping[str, Any]],
        perform: Callable[[Assignment], Awaitable[None]],
        era: str = "4.11",
        max_concurrent: int = 10,
    ) -> None:
        once = OnceTransport(transport, credentials)
        self._transport = transport
        self._directory = runner_v1.AsyncRunnerService(once)
        self._work = runner_v1.AsyncRunnerWorkerService(once)
        self._worker_id = worker_id
        self._manifests = manifests
        self._perform = perform
        self._era = era
        self._max_concurrent = max_concurrent
        self._runs: dict[str, _ActiveRun] = {}

    async def run(self) -> None:
        """Works until it is cancelled. Raises RefusedWorkerError."""
        try:
            await self._stay_connected()
        finally:
            await self._end_runs()

    async def _stay_connected(self) -> None:
        session: str | None = None
        delay = RECONNECT_MIN_SECONDS
        while True:
            try:
                session = session or await self._register()
                async with aclosing(self._listen(session)) as assignments:
                    async for assignment in assignments:
                        delay = RECONNECT_MIN_SECONDS
                        self._heed(session, assignment)
            except RunnelError as error:
                log.warning("%s: %s", error.code.name, error.message)
                if error.code is grpc.StatusCode.NOT_FOUND:
                    session = None
            except asyncio.TimeoutError:
                log.warning("the service was silent for %s s", SILENCE_SECONDS)
            # The workers of a service that was away do not return all at one moment.
            await asyncio.sleep(delay * (0.5 + random.random()))
            delay = min(delay * 2, RECONNECT_MAX_SECONDS)

    async def _register(self) -> str:
        request = runner_v1.RegisterRunnersRequest(
            worker_id=self._worker_id, manifests=[print_json(each) for each in self._manifests], era=self._era
        )
        try:
            answer = await self._directory.register_runners(request, timeout=CALL_SECONDS)
        except RunnelError as error:
            if error.code in REFUSALS:
                raise RefusedWorkerError(error.message) from error
            raise
        refused = [f"{each.runner_id}: {each.problem}" for each in answer.verdicts if not each.accepted]
        if refused:
            raise RefusedWorkerError("; ".join(refused))
        log.info("registered %s, era %s", ", ".join(str(each["id"]) for each in self._manifests), self._era)
        return answer.worker_session_id

    async def _listen(self, session: str) -> AsyncGenerator[runner_v1.ListenAssignmentsResponse, None]:
        """Yields until the stream ends, which it does now and then."""
        request = runner_v1.ListenAssignmentsRequest(worker_session_id=session, max_concurrent=self._max_concurrent)
        assignments = aiter(self._work.listen_assignments(request))
        while True:
            try:
                assignment = await within(SILENCE_SECONDS, anext(assignments))
            except StopAsyncIteration:
                return
            if assignment.HasField("drain"):
                return
            yield assignment

    def _heed(self, session: str, assignment: runner_v1.ListenAssignmentsResponse) -> None:
        if assignment.HasField("cancel") and (run := self._runs.get(assignment.cancel.run_id)) is not None:
            run.stop.set()
        elif assignment.HasField("offer") and assignment.offer.run_id not in self._runs:
            run = self._runs[assignment.offer.run_id] = _ActiveRun()
            run.task = asyncio.create_task(self._take(session, assignment.offer, run))

    async def _take(self, session: str, offer: runner_v1.RunOffer, run: _ActiveRun) -> None:
        try:
            accepted = await self._accept(session, offer)
            if accepted is not None:
                await self._work_on(offer, accepted, run)
        except Exception:
            log.exception("run %s", offer.run_id)
        finally:
            del self._runs[offer.run_id]

    async def _accept(self, session: str, offer: runner_v1.RunOffer) -> runner_v1.AcceptRunResponse | None:
        """Returns None when another worker has the run. An answer that was lost is given again."""
        request = runner_v1.AcceptRunRequest(worker_session_id=session, run_id=offer.run_id, offer_id=offer.offer_id)
        loop = asyncio.get_running_loop()
        end = loop.time() + ACCEPT_SECONDS
        while True:
            try:
                return await self._work.accept_run(request, timeout=ACCEPT_SECONDS)
            except RunnelError as error:
                if error.code is grpc.StatusCode.ABORTED:
                    return None
                if error.code not in TRANSIENT or loop.time() > end:
                    raise
                await asyncio.sleep(ACCEPT_RETRY_SECONDS)

    async def _work_on(self, offer: runner_v1.RunOffer, accepted: runner_v1.AcceptRunResponse, run: _ActiveRun) -> None:
        reporter = Reporter(
            self._work,
            run_id=offer.run_id,
            attempt=accepted.attempt,
            run_token=accepted.run_token,
            stop=run.stop,
        )
        host = Host(RunTransport(self._transport, offer.run_id, accepted.run_token))
        try:
            await self._perform(Assignment(offer.runner_id, offer.run_id, accepted, host, reporter, run.stop))
        finally:
            reporter.give_up()

    async def _end_runs(self) -> None:
        """Each may report a last result."""
        tasks = [run.task for run in self._runs.values() if run.task is not None]
        for run in self._runs.values():
            run.stop.set()
        if tasks:
            await asyncio.wait(tasks, timeout=END_SECONDS)
        for task in tasks:
            task.cancel()
