"""The client for event loops: the same calls as `runnel_client.Runnel`, as coroutines and asynchronous iterators."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from types import TracebackType

import grpc

from . import community_v1, exchange_v1, job_v1, runner_v1, v1
from .aio_transport import AioTransport
from .attempts import Attempts, is_final_for_reader
from .channel import IDLE_SECONDS
from .credentials import Credentials
from .errors import RunnelError, from_grpc
from .following import TAIL_RUN
from .functions import ROUNDS_MAX, Call, Function, failed, offer, prepare, succeeded, too_many_rounds
from .reading import End, Entry, LogGapError, Place, Reading, ended_before, ended_early
from .transport import silent
from .within import within

__all__ = ["Following", "Runnel", "connect"]


class Following:
    """The results of a run, each once and in order, until the terminal one. Raises RunnelError.

    It opens the stream again after every failure that may pass. A reader that stops earlier uses `async with`, or `aclose`.
    """

    def __init__(self, entries: AsyncGenerator[Entry, None], place: Place) -> None:
        self._entries = entries
        self._place = place

    def __aiter__(self) -> "Following":
        return self

    async def __anext__(self) -> v1.RunResult:
        return (await self._entries.__anext__()).result

    async def aclose(self) -> None:
        """Closes the stream."""
        await self._entries.aclose()

    @property
    def text(self) -> str:
        """The valid text so far, which shrinks when a turn begins again."""
        return self._place.reading.text

    @property
    def end(self) -> End | None:
        """How the run ended; None before that."""
        return self._place.reading.end

    async def wait(self) -> End:
        """Reads to the end of the run."""
        async for _ in self:
            pass
        if self.end is None:
            raise ended_before(self._place.reading.last)
        return self.end

    async def __aenter__(self) -> "Following":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Runnel:
    """A client of one service, for one event loop."""

    def __init__(
        self,
        url: str,
        credentials: Credentials | None = None,
        *,
        idle_timeout: float = IDLE_SECONDS,
        root_certificates: bytes | None = None,
    ) -> None:
        transport = AioTransport(url, credentials, idle_timeout=idle_timeout, root_certificates=root_certificates)
        self.transport = transport
        self.sessions = v1.AsyncSessionService(transport)
        self.runs = v1.AsyncRunService(transport)
        self.schedules = v1.AsyncScheduleService(transport)
        self.files = v1.AsyncFileService(transport)
        self.memory = v1.AsyncMemoryService(transport)
        self.callbacks = v1.AsyncCallbackService(transport)
        self.receipts = v1.AsyncReceiptService(transport)
        self.providers = v1.AsyncProviderService(transport)
        self.auth = v1.AsyncAuthService(transport)
        self.system = v1.AsyncSystemService(transport)
        self.usage = v1.AsyncUsageService(transport)
        self.runners = runner_v1.AsyncRunnerService(transport)
        self.approvals = v1.AsyncApprovalService(transport)
        self.knowledge = runner_v1.AsyncKnowledgeService(transport)
        self.jobs = job_v1.AsyncJobService(transport)
        self.trust = job_v1.AsyncTrustService(transport)
        self.exchanges = exchange_v1.AsyncExchangeService(transport)
        self.forum = community_v1.AsyncForumService(transport)
        self.forum_admin = community_v1.AsyncForumAdminService(transport)
        self.decisions = community_v1.AsyncDecisionService(transport)

    async def send(
        self,
        session_id: str,
        message: str,
        *,
        request_id: str = "",
        agent: v1.Agent | None = None,
        timeout: float | None = None,
    ) -> v1.SendMessageResponse:
        """Sends a message and starts a run. Repeats the call under one request id until it is answered."""
        request = v1.SendMessageRequest(session_id=session_id, message=message, request_id=request_id, agent=agent)
        return await self.sessions.send_message(request, timeout=timeout)

    def follow(self, run_id: str, after: int = 0, *, timeout: float | None = None) -> Following:
        """Returns the results of a run, from the one after `after` to the terminal one."""
        place = Place(Reading(after))
        attempts = Attempts(timeout, is_final_for_reader)
        return Following(_read_log(self.transport, run_id, place.reading, attempts), place)

    async def stored_results(self, run_id: str, *, timeout: float | None = None) -> list[bytes]:
        """Returns the whole log of a run, as the bytes that its receipt is about. Waits for the end of the run."""
        attempts = Attempts(timeout, is_final_for_reader)
        return [each.stored async for each in _read_log(self.transport, run_id, Reading(0), attempts)]

    def ask(
        self,
        session_id: str,
        message: str,
        functions: Sequence[Function] = (),
        *,
        agent: v1.Agent | None = None,
        timeout: float | None = None,
    ) -> Following:
        """Sends a message, runs the functions that the model calls, and sends their results, until a run ends without calls.

        Returns the results of all these runs; `text` and `end` are those of the last one. The functions join `agent.tools`,
        which replace the tools of the session.
        """
        place = Place(Reading(0))
        request = v1.SendMessageRequest(session_id=session_id, message=message, agent=offer(agent, functions))
        attempts = Attempts(timeout, is_final_for_reader)
        return Following(self._converse(request, functions, attempts, place), place)

    async def _converse(
        self, request: v1.SendMessageRequest, functions: Sequence[Function], attempts: Attempts, place: Place
    ) -> AsyncGenerator[Entry, None]:
        for _ in range(ROUNDS_MAX):
            run = await self.sessions.send_message(request, timeout=attempts.left())
            place.reading = Reading(0)
            async with aclosing(_read_log(self.transport, run.run_id, place.reading, attempts)) as entries:
                async for entry in entries:
                    yield entry
            calls = place.reading.end.pending_tool_calls if place.reading.end else ()
            if not calls:
                return
            answers = [await _run(each) for each in prepare(calls, functions)]
            request = v1.SendMessageRequest(session_id=request.session_id, messages=answers, agent=request.agent)
        raise too_many_rounds()

    async def close(self) -> None:
        """Closes the connection. Calls that are under way end with an error."""
        await self.transport.close()

    async def __aenter__(self) -> "Runnel":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def connect(
    url: str,
    credentials: Credentials | None = None,
    *,
    idle_timeout: float = IDLE_SECONDS,
    root_certificates: bytes | None = None,
) -> Runnel:
    """Returns a client of the service at `url`, for the event loop that runs now. It connects with its first call.

    A stream that is silent for longer than `idle_timeout` seconds is opened again. `root_certificates` (PEM) are for a service
    with a certificate of its own.
    """
    return Runnel(url, credentials, idle_timeout=idle_timeout, root_certificates=root_certificates)


async def _read_log(
    transport: AioTransport, run_id: str, reading: Reading, attempts: Attempts
) -> AsyncGenerator[Entry, None]:
    while True:
        try:
            async with aclosing(_read_stream(transport, run_id, reading, attempts)) as entries:
                async for entry in entries:
                    attempts.progress()
                    yield entry
            if reading.is_over_after_ok():
                return
            failure = ended_early()
        except LogGapError as gap:
            failure = RunnelError(grpc.StatusCode.UNAVAILABLE, str(gap))
        except RunnelError as error:
            failure = error
        await asyncio.sleep(attempts.wait_after(failure))


async def _read_stream(
    transport: AioTransport, run_id: str, reading: Reading, attempts: Attempts
) -> AsyncGenerator[Entry, None]:
    """Yields the results of one stream."""
    call = transport.open_own(TAIL_RUN, v1.TailRunRequest(run_id=run_id, after=reading.last), attempts.left())
    try:
        while reading.end is None:
            response = await within(transport.idle_timeout, call.read())
            if response is grpc.aio.EOF:
                return
            for entry in reading.take(response.results):
                yield entry
    except grpc.RpcError as error:
        raise from_grpc(error) from error
    except asyncio.TimeoutError as error:
        raise silent(transport.idle_timeout) from error
    finally:
        call.cancel()


async def _run(call: Call) -> v1.Message:
    try:
        value = call.run()
        return succeeded(call, await value if inspect.isawaitable(value) else value)
    except Exception as error:
        return failed(call, error)
