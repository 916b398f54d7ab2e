"""Reports the results of one run in order: what comes while a report is on its way goes with the next one. A report that was not
answered is sent again as it was, so nothing is lost and nothing counts twice. Silence is reported too: it keeps the lease.
"""

import asyncio
import logging
import random
from collections.abc import Iterable
from contextlib import suppress

import grpc

from .. import runner_v1
from ..errors import RunnelError
from ..json_text import print_json
from ..within import within
from .results import Result

log = logging.getLogger(__name__)

# Below the service's limits of a report.
ITEMS_MAX = 200
BYTES_MAX = 1_000_000
# What the protocol allows for one result.
RESULT_BYTES_MAX = 2 * 1_048_576
# Results that may wait before their runner does.
WAITING_MAX = 1_000
# A third of the lease.
RENEW_SECONDS = 10.0
CALL_SECONDS = 30.0
RETRY_MIN_SECONDS = 0.1
RETRY_MAX_SECONDS = 2.0

# Says nothing by itself: the result counts as it is, or was sent again.
ORDINARY = {
    runner_v1.RESULT_DISPOSITION_APPLIED,
    runner_v1.RESULT_DISPOSITION_TELEMETRY,
    runner_v1.RESULT_DISPOSITION_DROPPED_DUPLICATE,
}

# The same report may be taken later.
TRANSIENT = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.CANCELLED,
}


class Reporter:
    def __init__(
        self,
        work: runner_v1.AsyncRunnerWorkerService,
        *,
        run_id: str,
        attempt: int,
        run_token: str,
        stop: asyncio.Event,
    ) -> None:
        self._work = work
        self._run_id = run_id
        self._attempt = attempt
        self._run_token = run_token
        # Set when the service wants the run to end, or it is not ours any more.
        self._stop = stop
        self._waiting: list[runner_v1.ReportedResult] = []
        self._sequence = 0
        # Types and dispositions that the operator has read of.
        self._logged: set[tuple[str, int]] = set()
        self._finished = False
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        # Nothing more counts.
        self.is_over = False
        self.has_terminal = False
        self._working = asyncio.create_task(self._work_on())

    async def report(self, result: Result) -> None:
        """Returns when the runner may continue: at once, unless too much is waiting. Raises an error for what no host takes."""
        data = print_json(result.data)
        usage = None if result.usage is None else print_json(result.usage)
        size = len(data.encode()) + len(usage or "")
        if size > RESULT_BYTES_MAX:
            raise ValueError(f"a {result.type} of {size} bytes: a result has at most {RESULT_BYTES_MAX}")
        self._sequence += 1
        self._waiting.append(
            runner_v1.ReportedResult(
                sequence=self._sequence, type=result.type, data=data, usage=usage, run_id=result.run_id
            )
        )
        self.has_terminal = self.has_terminal or result.is_terminal
        self._wake.set()
        while len(self._waiting) >= WAITING_MAX and not self.is_over:
            self._room.clear()
            await self._room.wait()

    async def finish(self) -> None:
        """Returns when everything is acknowledged, or nothing counts any more."""
        self._finished = True
        self._wake.set()
        await self._working

    def give_up(self) -> None:
        self._working.cancel()

    async def _work_on(self) -> None:
        while not self.is_over:
            if not self._waiting and not self._finished:
                await _wait(self._wake, RENEW_SECONDS)
            self._wake.clear()
            batch = self._take_batch()
            finished = self._finished and not self._waiting
            await self._send(batch, finished)
            self._room.set()
            if finished:
                return

    def _take_batch(self) -> list[runner_v1.ReportedResult]:
        size = count = 0
        for item in self._waiting:
            size += item.ByteSize()
            if count > 0 and (size > BYTES_MAX or count == ITEMS_MAX):
                break
            count += 1
        batch, self._waiting = self._waiting[:count], self._waiting[count:]
        return batch

    async def _send(self, results: list[runner_v1.ReportedResult], finished: bool) -> None:
        request = runner_v1.ReportResultsRequest(
            run_id=self._run_id,
            attempt=self._attempt,
            run_token=self._run_token,
            results=results,
            finished=finished,
        )
        delay = RETRY_MIN_SECONDS
        while True:
            try:
                answer = await self._work.report_results(request, timeout=CALL_SECONDS)
            except RunnelError as error:
                log.warning("a report of run %s: %s", self._run_id, error.message)
                if error.code not in TRANSIENT:
                    self._end()
                    return
                await asyncio.sleep(delay * (0.5 + random.random()))
                delay = min(delay * 2, RETRY_MAX_SECONDS)
            else:
                self._log_verdicts(answer.verdicts)
                self._heed(answer)
                return

    def _log_verdicts(self, verdicts: Iterable[runner_v1.ResultVerdict]) -> None:
        """Logs the first result of each kind that was dropped, refused or odd."""
        for each in verdicts:
            kind = (each.type, each.disposition)
            # The host says how a cancelled run ends, which is no news to the operator who cancelled it.
            is_cancelled = each.type == "run.failed" and self._stop.is_set()
            if is_cancelled or kind in self._logged or (each.disposition in ORDINARY and not each.diagnostics):
                continue
            self._logged.add(kind)
            reason = "; ".join(each.diagnostics) or "no reason given"
            name = _name_of(each.disposition)
            log.warning("run %s: result %s (%s) %s: %s", self._run_id, each.sequence, each.type, name, reason)

    def _heed(self, answer: runner_v1.ReportResultsResponse) -> None:
        if answer.ended:
            self._end()
        elif answer.cancel_requested:
            self._stop.set()

    def _end(self) -> None:
        self.is_over = True
        self._stop.set()


def _name_of(disposition: int) -> str:
    try:
        return runner_v1.ResultDisposition.Name(disposition).removeprefix("RESULT_DISPOSITION_").lower()
    except ValueError:
        # Newer than this version.
        return str(disposition)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    with suppress(asyncio.TimeoutError):
        await within(seconds, event.wait())
