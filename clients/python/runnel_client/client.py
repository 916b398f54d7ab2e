"""The client for programs that wait for their calls. aio.py has the one for event loops."""

from collections.abc import Iterator, Sequence
from types import TracebackType

from . import community_v1, exchange_v1, job_v1, runner_v1, v1
from .attempts import Attempts, is_final_for_reader
from .channel import IDLE_SECONDS
from .credentials import Credentials
from .following import Following, Stop, read_log
from .functions import ROUNDS_MAX, Call, Function, failed, offer, prepare, succeeded, too_many_rounds
from .reading import Entry, Place, Reading
from .transport import BlockingTransport


class Runnel:
    """A client of one service. It may be used by several threads."""

    def __init__(
        self,
        url: str,
        credentials: Credentials | None = None,
        *,
        idle_timeout: float = IDLE_SECONDS,
        root_certificates: bytes | None = None,
    ) -> None:
        transport = BlockingTransport(url, credentials, idle_timeout=idle_timeout, root_certificates=root_certificates)
        self.transport = transport
        self.sessions = v1.SessionService(transport)
        self.runs = v1.RunService(transport)
        self.schedules = v1.ScheduleService(transport)
        self.files = v1.FileService(transport)
        self.memory = v1.MemoryService(transport)
        self.callbacks = v1.CallbackService(transport)
        self.receipts = v1.ReceiptService(transport)
        self.providers = v1.ProviderService(transport)
        self.auth = v1.AuthService(transport)
        self.system = v1.SystemService(transport)
        self.usage = v1.UsageService(transport)
        self.runners = runner_v1.RunnerService(transport)
        self.approvals = v1.ApprovalService(transport)
        self.knowledge = runner_v1.KnowledgeService(transport)
        self.jobs = job_v1.JobService(transport)
        self.trust = job_v1.TrustService(transport)
        self.exchanges = exchange_v1.ExchangeService(transport)
        self.forum = community_v1.ForumService(transport)
        self.forum_admin = community_v1.ForumAdminService(transport)
        self.decisions = community_v1.DecisionService(transport)

    def send(
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
        return self.sessions.send_message(request, timeout=timeout)

    def follow(self, run_id: str, after: int = 0, *, timeout: float | None = None) -> Following:
        """Returns the results of a run, from the one after `after` to the terminal one."""
        place, stop = Place(Reading(after)), Stop()
        attempts = Attempts(timeout, is_final_for_reader)
        return Following(read_log(self.transport, run_id, place.reading, attempts, stop), place, stop)

    def stored_results(self, run_id: str, *, timeout: float | None = None) -> list[bytes]:
        """Returns the whole log of a run, as the bytes that its receipt is about. Waits for the end of the run."""
        attempts = Attempts(timeout, is_final_for_reader)
        return [each.stored for each in read_log(self.transport, run_id, Reading(0), attempts, Stop())]

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
        place, stop = Place(Reading(0)), Stop()
        request = v1.SendMessageRequest(session_id=session_id, message=message, agent=offer(agent, functions))
        attempts = Attempts(timeout, is_final_for_reader)
        return Following(self._converse(request, functions, attempts, place, stop), place, stop)

    def _converse(
        self,
        request: v1.SendMessageRequest,
        functions: Sequence[Function],
        attempts: Attempts,
        place: Place,
        stop: Stop,
    ) -> Iterator[Entry]:
        for _ in range(ROUNDS_MAX):
            run = self.sessions.send_message(request, timeout=attempts.left())
            place.reading = Reading(0)
            yield from read_log(self.transport, run.run_id, place.reading, attempts, stop)
            calls = place.reading.end.pending_tool_calls if place.reading.end else ()
            if not calls:
                return
            answers = [_run(each) for each in prepare(calls, functions)]
            request = v1.SendMessageRequest(session_id=request.session_id, messages=answers, agent=request.agent)
        raise too_many_rounds()

    def close(self) -> None:
        """Closes the connection. Calls that are under way end with an error."""
        self.transport.close()

    def __enter__(self) -> "Runnel":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def connect(
    url: str,
    credentials: Credentials | None = None,
    *,
    idle_timeout: float = IDLE_SECONDS,
    root_certificates: bytes | None = None,
) -> Runnel:
    """Returns a client of the service at `url`. It connects with its first call.

    A stream that is silent for longer than `idle_timeout` seconds is opened again. `root_certificates` (PEM) are for a service
    with a certificate of its own.
    """
    return Runnel(url, credentials, idle_timeout=idle_timeout, root_certificates=root_certificates)


def _run(call: Call) -> v1.Message:
    try:
        return succeeded(call, call.run())
    except Exception as error:
        return failed(call, error)
