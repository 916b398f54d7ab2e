# Generated from the contract by `npm run generate`: do not edit.
"""The messages, enums and services of runnel.exchange.v1."""

from builtins import bool as _bool, bytes as _bytes, float as _float, int as _int, str as _str
from collections.abc import AsyncIterator as _AsyncIterator, Iterable as _Iterable, Iterator as _Iterator
from collections.abc import Mapping as _Mapping
from datetime import datetime as _datetime, timedelta as _timedelta
from typing import Any as _Any, ClassVar as _ClassVar, Literal as _Literal, overload as _overload

from google.protobuf.any_pb2 import Any as _AnyMessage
from google.protobuf.duration_pb2 import Duration as _Duration
from google.protobuf.field_mask_pb2 import FieldMask as _FieldMask
from google.protobuf.message import Message as _Message
from google.protobuf.timestamp_pb2 import Timestamp as _Timestamp

from .repeated import Messages as _Messages, Scalars as _Scalars
from .service import AsyncService as _AsyncService, Service as _Service

class Exchange(_Message):
    """
    A run that a person drives by copy and paste ("CodingAgent Protocol Specification"). Runnel writes an outbox. A person pastes
    it into any chat window and submits the answer as an inbox. Runnel executes the inbox's commands in the workspace. Between
    outbox and inbox no process holds the run.
    """
    class State(_int):
        """State of an exchange. All states but waiting and working are final."""
        STATE_UNSPECIFIED: _ClassVar[Exchange.State]
        """Unspecified: not a valid state."""
        STATE_WAITING: _ClassVar[Exchange.State]
        """The outbox of `sequence` waits for its answer."""
        STATE_WORKING: _ClassVar[Exchange.State]
        """An outbox is being written, or an inbox is being executed."""
        STATE_COMPLETED: _ClassVar[Exchange.State]
        """An inbox reported that the task is done."""
        STATE_FAILED: _ClassVar[Exchange.State]
        """The exchange failed, for instance because its deadline passed."""
        STATE_CANCELLED: _ClassVar[Exchange.State]
        """The run of the exchange was cancelled."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> Exchange.State: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[Exchange.State]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, Exchange.State]]: ...
    STATE_UNSPECIFIED: _ClassVar[Exchange.State]
    STATE_WAITING: _ClassVar[Exchange.State]
    STATE_WORKING: _ClassVar[Exchange.State]
    STATE_COMPLETED: _ClassVar[Exchange.State]
    STATE_FAILED: _ClassVar[Exchange.State]
    STATE_CANCELLED: _ClassVar[Exchange.State]

    exchange_id: _str
    """Id of the exchange, the protocol's `Session`: 8 lower-case hexadecimal digits (Session Management, Session ID)."""
    session_id: _str
    """Id of the session whose workspace the commands work in. It equals `exchange_id`."""
    run_id: _str
    """Id of the run. Its log has one result for each step, as for any run. TailRun follows it, CancelRun ends it."""
    task: _str
    """The task."""
    state: Exchange.State
    """State of the exchange."""
    sequence: _int
    """Number of the newest outbox, counted from 1 (Session Management, Sequence Numbering)."""
    is_complete: _bool
    """True after an inbox said `[DONE]`."""
    last_results: _Messages[CommandResult]
    """Results of the commands of the last inbox, in order."""
    read_file_requests: _Scalars[_str]
    """Paths of the files that the last inbox requested. The newest outbox contains them."""
    create_time: _Timestamp
    """Time of creation."""
    update_time: _Timestamp
    """Time of the last change of `sequence`, or of the end."""
    deadline_time: _Timestamp
    """Deadline: an exchange that is still open at this time fails."""
    def __init__(self, *, exchange_id: _str | None = ..., session_id: _str | None = ..., run_id: _str | None = ..., task: _str | None = ..., state: Exchange.State | _str | None = ..., sequence: _int | None = ..., is_complete: _bool | None = ..., last_results: _Iterable[CommandResult | _Mapping[_str, _Any]] | None = ..., read_file_requests: _Iterable[_str] | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ..., update_time: _datetime | _Mapping[_str, _Any] | None = ..., deadline_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["create_time", "update_time", "deadline_time"]) -> _bool: ...

class CommandResult(_Message):
    """The result of one command of an inbox (Error Handling)."""
    type: _str
    """
    Type of the command: `CREATE_FILE`, `EDIT_FILE`, `DELETE_FILE`, `READ_FILE`, `RUN_COMMAND`, `MESSAGE`, `DONE`, or
    `PARSE_ERROR` for a block that is not a command.
    """
    success: _bool
    """True when the command succeeded."""
    summary: _str
    """Summary in one sentence, as the next outbox shows it."""
    output: _str
    """Output of the command, at most 4,000 UTF-16 code units; details of a failure; or a note on what else an edit changed."""
    def __init__(self, *, type: _str | None = ..., success: _bool | None = ..., summary: _str | None = ..., output: _str | None = ...) -> None: ...

class ParsedCommand(_Message):
    """One block of an inbox, as strict parsing reads it (Inbox Format)."""
    class Attributes(_Message):
        """The attributes that the command uses, each as text; numbers are decimal."""
        path: _str
        """Path relative to the workspace."""
        start_line: _str
        """First line to replace."""
        end_line: _str
        """Last line to replace."""
        def __init__(self, *, path: _str | None = ..., start_line: _str | None = ..., end_line: _str | None = ...) -> None: ...
        def HasField(self, field_name: _Literal["path", "start_line", "end_line"]) -> _bool: ...

    type: _str
    """Type of the command, as in CommandResult."""
    attributes: ParsedCommand.Attributes
    """Attributes of the command; unset only for `PARSE_ERROR`."""
    body: _str
    """Body of the command, as the command uses it; unset for a command without a body."""
    message: _str
    """Error in the block; set only for `PARSE_ERROR`."""
    def __init__(self, *, type: _str | None = ..., attributes: ParsedCommand.Attributes | _Mapping[_str, _Any] | None = ..., body: _str | None = ..., message: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["attributes", "body"]) -> _bool: ...

class ExchangeSession(_Message):
    """The state of an exchange in the protocol's own form (Session Management, Session State). Its JSON keys are in camel case."""
    class Result(_Message):
        """The result of a command in that form."""
        command_type: _str
        """Type of the command, as in CommandResult."""
        summary: _str
        """Summary in one sentence."""
        success: _bool
        """True when the command succeeded."""
        output: _str
        """Output of the command."""
        def __init__(self, *, command_type: _str | None = ..., summary: _str | None = ..., success: _bool | None = ..., output: _str | None = ...) -> None: ...

    session_id: _str
    """Id of the exchange."""
    task: _str
    """The task."""
    sequence_number: _int
    """Number of the newest outbox."""
    is_complete: _bool
    """True after an inbox said `[DONE]`."""
    created_at: _Timestamp
    """Time of creation."""
    updated_at: _Timestamp
    """Time of the last change."""
    last_results: _Messages[ExchangeSession.Result]
    """Results of the commands of the last inbox."""
    read_file_requests: _Scalars[_str]
    """Paths of the files that the newest outbox contains."""
    def __init__(self, *, session_id: _str | None = ..., task: _str | None = ..., sequence_number: _int | None = ..., is_complete: _bool | None = ..., created_at: _datetime | _Mapping[_str, _Any] | None = ..., updated_at: _datetime | _Mapping[_str, _Any] | None = ..., last_results: _Iterable[ExchangeSession.Result | _Mapping[_str, _Any]] | None = ..., read_file_requests: _Iterable[_str] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["created_at", "updated_at"]) -> _bool: ...

class StartExchangeRequest(_Message):
    """Request of StartExchange."""
    task: _str
    """The task, 1 to 65,536 bytes of text. The outbox shows it unchanged."""
    work_dir: _str
    """
    Absolute path of the workspace, an existing directory that tools may work in (as in CreateSession); unset means an empty
    directory of the exchange's own.
    """
    request_id: _str
    """Idempotency key: the same id with the same request gives the same answer for 24 hours, so that a retry is safe."""
    def __init__(self, *, task: _str | None = ..., work_dir: _str | None = ..., request_id: _str | None = ...) -> None: ...

class StartExchangeResponse(_Message):
    """Response of StartExchange."""
    exchange_id: _str
    """Id of the exchange."""
    session_id: _str
    """Id of the session of the exchange."""
    sequence: _int
    """Number of the first outbox: always 1."""
    run_id: _str
    """Id of the run of the exchange."""
    def __init__(self, *, exchange_id: _str | None = ..., session_id: _str | None = ..., sequence: _int | None = ..., run_id: _str | None = ...) -> None: ...

class GetExchangeRequest(_Message):
    """Request of GetExchange."""
    exchange_id: _str
    """Id of the exchange."""
    def __init__(self, *, exchange_id: _str | None = ...) -> None: ...

class GetExchangeResponse(_Message):
    """Response of GetExchange."""
    exchange: Exchange
    """The exchange."""
    def __init__(self, *, exchange: Exchange | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["exchange"]) -> _bool: ...

class ListExchangesRequest(_Message):
    """Request of ListExchanges."""
    page_size: _int
    """Maximum number of exchanges to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListExchangesResponse(_Message):
    """Response of ListExchanges."""
    exchanges: _Messages[Exchange]
    """The exchanges, newest first."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, exchanges: _Iterable[Exchange | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class GetOutboxRequest(_Message):
    """Request of GetOutbox."""
    exchange_id: _str
    """Id of the exchange."""
    def __init__(self, *, exchange_id: _str | None = ...) -> None: ...

class GetOutboxResponse(_Message):
    """Response of GetOutbox."""
    text: _str
    """Text of the outbox, with LF line ends and a final newline."""
    sequence: _int
    """Number of the outbox."""
    file_name: _str
    """File name of the outbox in the folder form, such as `a1b2c3d4_seq0001.txt` (Session Management, Outbox File Naming)."""
    is_complete: _bool
    """True after an inbox said `[DONE]`: the outbox needs no answer."""
    def __init__(self, *, text: _str | None = ..., sequence: _int | None = ..., file_name: _str | None = ..., is_complete: _bool | None = ...) -> None: ...

class SubmitInboxRequest(_Message):
    """Request of SubmitInbox."""
    exchange_id: _str
    """Id of the exchange."""
    text: _str
    """
    The whole, unchanged answer of the chat window: at most 4 MiB of UTF-8. Over REST it may also be the body itself, as
    `text/plain`.
    """
    sequence: _int
    """Number of the outbox that the text answers; unset means the newest. Set it to submit the same text twice on purpose."""
    def __init__(self, *, exchange_id: _str | None = ..., text: _str | None = ..., sequence: _int | None = ...) -> None: ...

class SubmitInboxResponse(_Message):
    """Response of SubmitInbox."""
    results: _Messages[CommandResult]
    """Results of the commands, in order."""
    sequence: _int
    """Number of the outbox that follows; without one, the number of the answered outbox."""
    is_complete: _bool
    """True when the inbox said `[DONE]`."""
    def __init__(self, *, results: _Iterable[CommandResult | _Mapping[_str, _Any]] | None = ..., sequence: _int | None = ..., is_complete: _bool | None = ...) -> None: ...

class ParseInboxRequest(_Message):
    """Request of ParseInbox."""
    text: _str
    """Text of the inbox, as in SubmitInboxRequest."""
    def __init__(self, *, text: _str | None = ...) -> None: ...

class ParseInboxResponse(_Message):
    """Response of ParseInbox."""
    commands: _Messages[ParsedCommand]
    """The blocks in order of appearance, including malformed ones."""
    def __init__(self, *, commands: _Iterable[ParsedCommand | _Mapping[_str, _Any]] | None = ...) -> None: ...

class ExportExchangeRequest(_Message):
    """Request of ExportExchange."""
    exchange_id: _str
    """Id of the exchange."""
    def __init__(self, *, exchange_id: _str | None = ...) -> None: ...

class ExportExchangeResponse(_Message):
    """Response of ExportExchange."""
    session: ExchangeSession
    """The exchange in its exported form."""
    def __init__(self, *, session: ExchangeSession | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["session"]) -> _bool: ...

class ImportExchangeRequest(_Message):
    """Request of ImportExchange."""
    session: ExchangeSession
    """The exported exchange. The service ignores `createdAt` and `updatedAt`."""
    work_dir: _str
    """Absolute path of the workspace, as in StartExchangeRequest."""
    def __init__(self, *, session: ExchangeSession | _Mapping[_str, _Any] | None = ..., work_dir: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["session"]) -> _bool: ...

class ImportExchangeResponse(_Message):
    """Response of ImportExchange."""
    exchange_id: _str
    """Id of the exchange, the same as in the exported state."""
    session_id: _str
    """Id of the session of the exchange."""
    sequence: _int
    """Number of the outbox that is written next."""
    run_id: _str
    """Id of the run of the exchange."""
    def __init__(self, *, exchange_id: _str | None = ..., session_id: _str | None = ..., sequence: _int | None = ..., run_id: _str | None = ...) -> None: ...

class ExchangeService(_Service):
    """
    Works on exchanges ("CodingAgent Protocol Specification", version 1.0): tasks that a person carries as plain text between a
    workspace and any chat window.

    An exchange belongs to the client that started it. Every other client gets NOT_FOUND with reason EXCHANGE_NOT_FOUND, exactly
    as for an unknown id. After its session was deleted, its own client gets that too.
    """
    def start_exchange(self, request: StartExchangeRequest, *, timeout: _float | None = ...) -> StartExchangeResponse:
        """
        Starts an exchange. The service then writes the outbox with sequence 1, and GetOutbox waits for it.

        INVALID_ARGUMENT names a `work_dir` that may not be used. RESOURCE_EXHAUSTED (CONCURRENCY_EXHAUSTED) while the client has
        its maximum number of open exchanges. May be retried with the same `request_id`.
        """
        ...
    def get_exchange(self, request: GetExchangeRequest, *, timeout: _float | None = ...) -> GetExchangeResponse:
        """Returns one exchange."""
        ...
    def list_exchanges(self, request: ListExchangesRequest, *, timeout: _float | None = ...) -> ListExchangesResponse:
        """Lists the exchanges of the calling client, newest first, each without `last_results` and `read_file_requests`."""
        ...
    def get_outbox(self, request: GetOutboxRequest, *, timeout: _float | None = ...) -> GetOutboxResponse:
        """
        Returns the newest outbox, in exactly the bytes that a person must paste into the chat window.

        Waits while the outbox is being written. Over REST the response is `text/plain`; a caller that accepts `application/json`
        and no text gets JSON. FAILED_PRECONDITION (EXCHANGE_ENDED) when the exchange ended before it had an outbox. May be
        retried.
        """
        ...
    def submit_inbox(self, request: SubmitInboxRequest, *, timeout: _float | None = ...) -> SubmitInboxResponse:
        """
        Accepts the answer to an outbox, executes its commands in order, and returns their results.

        Text outside of command blocks is ignored. A malformed block gives a result of type `PARSE_ERROR` and is never executed. An
        inbox is executed once: the same text for an answered sequence gets the first answer again, so the call may be retried.
        When `sequence` is unset and the text equals the last inbox, the call means that inbox. A cancellation or the deadline may
        end the exchange during an inbox. The results of the remaining commands then say that they were not executed.

        These refusals execute and change nothing. FAILED_PRECONDITION (INBOX_STALE): another text for an answered sequence, or a
        text whose own header names another exchange or sequence. FAILED_PRECONDITION (EXCHANGE_ENDED): the exchange has ended.
        INVALID_ARGUMENT: a sequence that does not exist yet, more than 1,000 commands, or bytes that are not UTF-8.
        RESOURCE_EXHAUSTED (PAYLOAD_TOO_LARGE): more than 4 MiB.

        DEADLINE_EXCEEDED while the commands are still running. They continue, and the same call again waits for their results.
        """
        ...
    def parse_inbox(self, request: ParseInboxRequest, *, timeout: _float | None = ...) -> ParseInboxResponse:
        """
        Parses an inbox as SubmitInbox does, and executes nothing.

        INVALID_ARGUMENT for bytes that are not UTF-8 and for more than 1,000 commands. RESOURCE_EXHAUSTED (PAYLOAD_TOO_LARGE) for
        more than 4 MiB. May be retried.
        """
        ...
    def export_exchange(self, request: ExportExchangeRequest, *, timeout: _float | None = ...) -> ExportExchangeResponse:
        """Returns an exchange in the form in which the protocol stores its sessions in files (Session Management, Session State)."""
        ...
    def import_exchange(self, request: ImportExchangeRequest, *, timeout: _float | None = ...) -> ImportExchangeResponse:
        """
        Continues an exchange that was exported from another service. Its outbox is written again from the given workspace.

        ALREADY_EXISTS (EXCHANGE_EXISTS) when the client has an exchange with this id. A complete exchange ends as soon as it is
        imported.
        """
        ...

class AsyncExchangeService(_AsyncService):
    """
    Works on exchanges ("CodingAgent Protocol Specification", version 1.0): tasks that a person carries as plain text between a
    workspace and any chat window.

    An exchange belongs to the client that started it. Every other client gets NOT_FOUND with reason EXCHANGE_NOT_FOUND, exactly
    as for an unknown id. After its session was deleted, its own client gets that too.
    """
    async def start_exchange(self, request: StartExchangeRequest, *, timeout: _float | None = ...) -> StartExchangeResponse:
        """
        Starts an exchange. The service then writes the outbox with sequence 1, and GetOutbox waits for it.

        INVALID_ARGUMENT names a `work_dir` that may not be used. RESOURCE_EXHAUSTED (CONCURRENCY_EXHAUSTED) while the client has
        its maximum number of open exchanges. May be retried with the same `request_id`.
        """
        ...
    async def get_exchange(self, request: GetExchangeRequest, *, timeout: _float | None = ...) -> GetExchangeResponse:
        """Returns one exchange."""
        ...
    async def list_exchanges(self, request: ListExchangesRequest, *, timeout: _float | None = ...) -> ListExchangesResponse:
        """Lists the exchanges of the calling client, newest first, each without `last_results` and `read_file_requests`."""
        ...
    async def get_outbox(self, request: GetOutboxRequest, *, timeout: _float | None = ...) -> GetOutboxResponse:
        """
        Returns the newest outbox, in exactly the bytes that a person must paste into the chat window.

        Waits while the outbox is being written. Over REST the response is `text/plain`; a caller that accepts `application/json`
        and no text gets JSON. FAILED_PRECONDITION (EXCHANGE_ENDED) when the exchange ended before it had an outbox. May be
        retried.
        """
        ...
    async def submit_inbox(self, request: SubmitInboxRequest, *, timeout: _float | None = ...) -> SubmitInboxResponse:
        """
        Accepts the answer to an outbox, executes its commands in order, and returns their results.

        Text outside of command blocks is ignored. A malformed block gives a result of type `PARSE_ERROR` and is never executed. An
        inbox is executed once: the same text for an answered sequence gets the first answer again, so the call may be retried.
        When `sequence` is unset and the text equals the last inbox, the call means that inbox. A cancellation or the deadline may
        end the exchange during an inbox. The results of the remaining commands then say that they were not executed.

        These refusals execute and change nothing. FAILED_PRECONDITION (INBOX_STALE): another text for an answered sequence, or a
        text whose own header names another exchange or sequence. FAILED_PRECONDITION (EXCHANGE_ENDED): the exchange has ended.
        INVALID_ARGUMENT: a sequence that does not exist yet, more than 1,000 commands, or bytes that are not UTF-8.
        RESOURCE_EXHAUSTED (PAYLOAD_TOO_LARGE): more than 4 MiB.

        DEADLINE_EXCEEDED while the commands are still running. They continue, and the same call again waits for their results.
        """
        ...
    async def parse_inbox(self, request: ParseInboxRequest, *, timeout: _float | None = ...) -> ParseInboxResponse:
        """
        Parses an inbox as SubmitInbox does, and executes nothing.

        INVALID_ARGUMENT for bytes that are not UTF-8 and for more than 1,000 commands. RESOURCE_EXHAUSTED (PAYLOAD_TOO_LARGE) for
        more than 4 MiB. May be retried.
        """
        ...
    async def export_exchange(self, request: ExportExchangeRequest, *, timeout: _float | None = ...) -> ExportExchangeResponse:
        """Returns an exchange in the form in which the protocol stores its sessions in files (Session Management, Session State)."""
        ...
    async def import_exchange(self, request: ImportExchangeRequest, *, timeout: _float | None = ...) -> ImportExchangeResponse:
        """
        Continues an exchange that was exported from another service. Its outbox is written again from the given workspace.

        ALREADY_EXISTS (EXCHANGE_EXISTS) when the client has an exchange with this id. A complete exchange ends as soon as it is
        imported.
        """
        ...

