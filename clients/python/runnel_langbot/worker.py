"""A worker: registers the runners of a plugin, takes the runs that it is offered and has them run. It reconnects for as long as it
is wanted; runs go on meanwhile, and so does its session.
"""

import asyncio
import logging
import random
from dataclasses import dataclass, field
from typing import Any

import grpc

from .contract import Stub, host_services, runner
from .handler import Handler
from .host import Host
from .json_text import print_json, read_json
from .plugin import Plugin
from .reporter import TRANSIENT, Reporter
from .run import perform
from .sdk import Sdk

log = logging.getLogger(__name__)

RECONNECT_MIN_SECONDS = 0.1
RECONNECT_MAX_SECONDS = 5.0
# The service says something every 15 s.
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
    """The service does not take a manifest or the key: nothing that waiting would mend."""


@dataclass(frozen=True)
class Options:
    worker_id: str
    api_key: str | None = None
    max_concurrent: int = 10
    plugin_config: dict[str, Any] = field(default_factory=dict)


@dataclass
class ActiveRun:
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


class Worker:
    def __init__(self, channel: grpc.aio.Channel, options: Options, plugin: Plugin, sdk: Sdk) -> None:
        self._options = options
        self._plugin = plugin
        self._sdk = sdk
        self._directory = Stub(channel, "runnel.runner.v1.RunnerService")
        self._work = Stub(channel, "runnel.runner.v1.RunnerWorkerService")
        self._host = Stub(channel, *host_services)
        self._handler = Handler(sdk)
        self._metadata = () if options.api_key is None else (("authorization", f"Bearer {options.api_key}"),)
        self._runners: dict[str, Any] = {}
        self._runs: dict[str, ActiveRun] = {}

    async def run(self) -> None:
        """Until it is cancelled. Raises RefusedWorkerError."""
        await self._make_runners()
        try:
            await self._stay_connected()
        finally:
            await self._end_runs()

    async def _make_runners(self) -> None:
        """Once, as their own host does: what they keep in themselves is there for the next run."""
        plugin = None if self._plugin.main is None else self._plugin.main.make()
        if plugin is not None:
            plugin.config = dict(self._options.plugin_config)
            plugin.plugin_runtime_handler = self._handler
            await plugin.initialize()
        for each in self._plugin.runners:
            runner = each.component.make()
            if self._sdk.gives_plugin:
                runner.plugin = plugin
            # A class may say what its file does not.
            each.manifest["config_schema"] = each.manifest["config_schema"] or runner.get_config_schema()
            runner.bind_runtime(
                plugin_runtime_handler=self._handler,
                plugin_config=dict(self._options.plugin_config),
                plugin_identity=self._plugin.identity,
            )
            await runner.initialize()
            self._runners[each.runner_id] = runner

    async def _stay_connected(self) -> None:
        session: str | None = None
        delay = RECONNECT_MIN_SECONDS
        while True:
            try:
                session = session or await self._register()
                async for assignment in self._listen(session):
                    delay = RECONNECT_MIN_SECONDS
                    self._heed(session, assignment)
            except grpc.aio.AioRpcError as error:
                log.warning("%s: %s", error.code().name, error.details())
                if error.code() is grpc.StatusCode.NOT_FOUND:
                    session = None
            except TimeoutError:
                log.warning("nothing was heard of the service for %s s", SILENCE_SECONDS)
            # Not all workers of a service that was away shall come back at one moment.
            await asyncio.sleep(delay * (0.5 + random.random()))
            delay = min(delay * 2, RECONNECT_MAX_SECONDS)

    async def _register(self) -> str:
        request = runner.RegisterRunnersRequest(
            worker_id=self._options.worker_id,
            manifests=[print_json(each.manifest) for each in self._plugin.runners],
            era=self._sdk.era,
        )
        try:
            answer = await self._directory.RegisterRunners(request, timeout=CALL_SECONDS, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            if error.code() in REFUSALS:
                raise RefusedWorkerError(error.details()) from error
            raise
        refused = [f"{each.runner_id}: {each.problem}" for each in answer.verdicts if not each.accepted]
        if refused:
            raise RefusedWorkerError("; ".join(refused))
        log.info("registered %s, era %s", ", ".join(self._runners), self._sdk.era)
        return str(answer.worker_session_id)

    async def _listen(self, session: str) -> Any:
        """Until the stream ends, which it does now and then."""
        request = runner.ListenAssignmentsRequest(
            worker_session_id=session, max_concurrent=self._options.max_concurrent
        )
        call = self._work.ListenAssignments(request, metadata=self._metadata)
        try:
            while (told := await asyncio.wait_for(call.read(), SILENCE_SECONDS)) is not grpc.aio.EOF:
                if told.HasField("drain"):
                    return
                yield told
        finally:
            call.cancel()

    def _heed(self, session: str, told: Any) -> None:
        if told.HasField("cancel") and (run := self._runs.get(told.cancel.run_id)) is not None:
            run.stop.set()
        elif told.HasField("offer") and told.offer.run_id not in self._runs:
            run = self._runs[told.offer.run_id] = ActiveRun()
            run.task = asyncio.create_task(self._take(session, told.offer, run))

    async def _take(self, session: str, offer: Any, run: ActiveRun) -> None:
        try:
            accepted = await self._accept(session, offer)
            if accepted is not None:
                await self._perform(offer, accepted, run)
        except Exception:
            log.exception("run %s", offer.run_id)
        finally:
            del self._runs[offer.run_id]

    async def _accept(self, session: str, offer: Any) -> Any | None:
        """None when somebody else has the run. An answer that was lost is given again."""
        request = runner.AcceptRunRequest(worker_session_id=session, run_id=offer.run_id, offer_id=offer.offer_id)
        loop = asyncio.get_running_loop()
        end = loop.time() + ACCEPT_SECONDS
        while True:
            try:
                return await self._work.AcceptRun(request, timeout=ACCEPT_SECONDS, metadata=self._metadata)
            except grpc.aio.AioRpcError as error:
                if error.code() is grpc.StatusCode.ABORTED:
                    return None
                if error.code() not in TRANSIENT or loop.time() > end:
                    raise
                await asyncio.sleep(ACCEPT_RETRY_SECONDS)

    async def _perform(self, offer: Any, accepted: Any, run: ActiveRun) -> None:
        host = Host(
            sdk=self._sdk,
            stub=self._host,
            run_id=offer.run_id,
            token=accepted.run_token,
            context=read_json(accepted.context_json),
        )
        reporter = Reporter(
            self._work,
            run_id=offer.run_id,
            attempt=accepted.attempt,
            run_token=accepted.run_token,
            metadata=self._metadata,
            stop=run.stop,
        )
        try:
            await perform(self._runners[offer.runner_id], self._handler, host, reporter, run.stop)
        finally:
            reporter.give_up()

    async def _end_runs(self) -> None:
        """Each has a last word."""
        tasks = [run.task for run in self._runs.values() if run.task is not None]
        for run in self._runs.values():
            run.stop.set()
        if tasks:
            await asyncio.wait(tasks, timeout=END_SECONDS)
        for task in tasks:
            task.cancel()
