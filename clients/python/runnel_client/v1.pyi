# Generated from the contract by `npm run generate`: do not edit.
"""The messages, enums and services of runnel.v1."""

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

from . import google_api as _m_google_api
from .repeated import Messages as _Messages, Scalars as _Scalars
from .service import AsyncService as _AsyncService, Service as _Service

class Approval(_Message):
    """
    The approval of one thing that a run wants to do. The run waits for a person.

    A run of the agent loop asks before a call of a tool that `AgentTools.approve` names. The approved call runs once.

    A server of MCP asks a person to fill in a form, when `McpServer.forms` allows it. The decision to approve has the `values` of the form,
    and the server gets them once.

    A run of a runner asks with `action.requested`, when its binding has an ApprovalPolicy that requires approvals. Runnel itself
    executes no such action: the runner reads the decision with `HostRunService.GetApproval`.
    """
    class State(_int):
        """
        State of an approval. The first one that applies is reported, in the order `used`, `rejected`, `expired`, `approved`,
        `pending`.
        """
        STATE_UNSPECIFIED: _ClassVar[Approval.State]
        """Unspecified: not a valid state."""
        STATE_PENDING: _ClassVar[Approval.State]
        """The approval is not decided."""
        STATE_APPROVED: _ClassVar[Approval.State]
        """The action is allowed once. The call has not begun, or the runner has not read the decision yet."""
        STATE_REJECTED: _ClassVar[Approval.State]
        """The action is not allowed."""
        STATE_EXPIRED: _ClassVar[Approval.State]
        """
        The time is over, by `expire_time` or the end of the run: the approval was not decided, or the runner did not read that
        it was approved. A tool call that was approved in time expires only with its run.
        """
        STATE_USED: _ClassVar[Approval.State]
        """The action was approved, and the call has begun or the runner has read the decision: the approval is not granted again."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> Approval.State: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[Approval.State]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, Approval.State]]: ...
    STATE_UNSPECIFIED: _ClassVar[Approval.State]
    STATE_PENDING: _ClassVar[Approval.State]
    STATE_APPROVED: _ClassVar[Approval.State]
    STATE_REJECTED: _ClassVar[Approval.State]
    STATE_EXPIRED: _ClassVar[Approval.State]
    STATE_USED: _ClassVar[Approval.State]

    class Decision(_int):
        """A decision about an approval."""
        DECISION_UNSPECIFIED: _ClassVar[Approval.Decision]
        """Not decided."""
        DECISION_APPROVE: _ClassVar[Approval.Decision]
        """The action is allowed."""
        DECISION_REJECT: _ClassVar[Approval.Decision]
        """The action is not allowed."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> Approval.Decision: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[Approval.Decision]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, Approval.Decision]]: ...
    DECISION_UNSPECIFIED: _ClassVar[Approval.Decision]
    DECISION_APPROVE: _ClassVar[Approval.Decision]
    DECISION_REJECT: _ClassVar[Approval.Decision]

    approval_id: _str
    """Id of the approval."""
    run_id: _str
    """Id of the run that needs the approval."""
    runner_id: _str
    """Id of the run's runner; unset for a run of the agent loop."""
    runner_sequence: _int
    """Number that the runner assigned to the `action.requested`; unset for a run of the agent loop."""
    action: _str
    """Name of the requested action, or of the tool, cut to at most 1,024 characters; `request` has all of it."""
    digest: _str
    """SHA-256 of `request`, lower-case hex. A decision is bound to it."""
    request: _str
    """
    The whole request: a JSON object with the members `action`, `target` and `payload` in this order, without white space.
    Members that the runner did not send are omitted. Target and payload are otherwise as the runner wrote them. For a tool call
    the action is the name of the tool, and the payload has the arguments as the model wrote them. Unset in lists.
    """
    state: Approval.State
    """State of the approval."""
    expire_time: _Timestamp
    """Time until which the approval can be decided, and a runner can read it."""
    create_time: _Timestamp
    """Time of the request."""
    decision: Approval.Decision
    """The decision; unset while the approval is not decided."""
    decided_by: _str
    """Who decided, in the words of the caller."""
    decide_time: _Timestamp
    """Time of the decision."""
    comment: _str
    """Comment on the decision, for the runner or the model."""
    use_time: _Timestamp
    """Time when the approved call began, or when the runner read that the action was approved."""
    session_id: _str
    """Id of the session of the run."""
    tool_call_id: _str
    """Id of the tool call that waits; unset for an action of a runner."""
    agent_name: _str
    """Name of the agent of the run; unset after a purge."""
    subject: _str
    """
    The argument that tells most about the request, for lists: of the first 2,000 characters of `request`, the value of `command`,
    `file_path`, `path`, `url`, `query`, `pattern`, or else the first text in the payload, cut to 200 characters in one line. Unset
    for a payload without a text. It is a hint, and a decision is about the whole `request`.
    """
    form: _str
    """JSON Schema of the values that the person fills in, as the server wrote it; unset for an approval without a form."""
    def __init__(self, *, approval_id: _str | None = ..., run_id: _str | None = ..., runner_id: _str | None = ..., runner_sequence: _int | None = ..., action: _str | None = ..., digest: _str | None = ..., request: _str | None = ..., state: Approval.State | _str | None = ..., expire_time: _datetime | _Mapping[_str, _Any] | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ..., decision: Approval.Decision | _str | None = ..., decided_by: _str | None = ..., decide_time: _datetime | _Mapping[_str, _Any] | None = ..., comment: _str | None = ..., use_time: _datetime | _Mapping[_str, _Any] | None = ..., session_id: _str | None = ..., tool_call_id: _str | None = ..., agent_name: _str | None = ..., subject: _str | None = ..., form: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["request", "expire_time", "create_time", "decide_time", "use_time", "form"]) -> _bool: ...

class Usage(_Message):
    """Tokens that models used, and their cost. An unset number means unknown, which differs from 0."""
    prompt_tokens: _int
    """Number of input tokens, including cached ones."""
    completion_tokens: _int
    """Number of output tokens, including reasoning."""
    total_tokens: _int
    """Sum of tokens, as the provider reports it."""
    cached_tokens: _int
    """Number of input tokens that the provider read from its cache."""
    reasoning_tokens: _int
    """Number of output tokens that were used for reasoning."""
    estimated: _bool
    """
    True when some of the numbers are the service's estimate, because a response was stopped or cut off before its provider had
    counted it.
    """
    cost_micro_usd: _int
    """Cost in millionths of a US dollar, by the prices of `price_table`; unset when a model has no known price."""
    price_table: _str
    """Version of the price table that the cost was computed with; unset without a cost."""
    provider_calls: _int
    """Number of calls of tools that the provider has run itself, failed ones included; unset without any."""
    def __init__(self, *, prompt_tokens: _int | None = ..., completion_tokens: _int | None = ..., total_tokens: _int | None = ..., cached_tokens: _int | None = ..., reasoning_tokens: _int | None = ..., estimated: _bool | None = ..., cost_micro_usd: _int | None = ..., price_table: _str | None = ..., provider_calls: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens", "reasoning_tokens", "cost_micro_usd", "provider_calls"]) -> _bool: ...

class Run(_Message):
    """One piece of work: a single activation of one driver. The run's log is the source of truth, and this message is its summary."""
    class State(_int):
        """State of a run. Completed, failed and cancelled are final."""
        STATE_UNSPECIFIED: _ClassVar[Run.State]
        """Unspecified: not a valid state."""
        STATE_QUEUED: _ClassVar[Run.State]
        """The run is admitted and waits for a free slot on any replica, or for the run before it in its session."""
        STATE_RUNNING: _ClassVar[Run.State]
        """A replica works on the run."""
        STATE_WAITING: _ClassVar[Run.State]
        """The run is parked: no replica holds it until it is woken."""
        STATE_COMPLETED: _ClassVar[Run.State]
        """The run ended successfully."""
        STATE_FAILED: _ClassVar[Run.State]
        """The run ended with a failure."""
        STATE_CANCELLED: _ClassVar[Run.State]
        """The run ended because its cancellation was requested."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> Run.State: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[Run.State]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, Run.State]]: ...
    STATE_UNSPECIFIED: _ClassVar[Run.State]
    STATE_QUEUED: _ClassVar[Run.State]
    STATE_RUNNING: _ClassVar[Run.State]
    STATE_WAITING: _ClassVar[Run.State]
    STATE_COMPLETED: _ClassVar[Run.State]
    STATE_FAILED: _ClassVar[Run.State]
    STATE_CANCELLED: _ClassVar[Run.State]

    run_id: _str
    """Id of the run. Ids sort by the time of creation."""
    session_id: _str
    """Id of the session that the run belongs to."""
    state: Run.State
    """State of the run."""
    driver: _str
    """Name of the driver that decides the run's steps, such as `llm-loop`."""
    turns: _int
    """Number of model responses so far."""
    takeovers: _int
    """Number of takeovers by another replica since the run last waited, or since its start."""
    wait_reason: _str
    """Why the run waits; set while it waits, and `session` while it is queued behind another run of its session."""
    last_sequence: _int
    """Sequence of the terminal result; 0 while the run is active."""
    output: _str
    """Output of the run; set when it has ended."""
    failure_code: _str
    """Failure code, such as `cancelled` or `runner.timeout`."""
    error: _str
    """Description of the failure."""
    usage: Usage
    """Tokens that the run used, where its providers reported them."""
    create_time: _Timestamp
    """Time when the run was admitted."""
    start_time: _Timestamp
    """Time when a replica first worked on the run."""
    end_time: _Timestamp
    """Time when the run ended."""
    deadline_time: _Timestamp
    """Deadline of the run: the service stops it at this time at the latest."""
    cancel_request_time: _Timestamp
    """Time when the cancellation was requested."""
    runner_id: _str
    """Id of the runner that works on the run; set for a run of an event."""
    binding_id: _str
    """Id of the binding that assigned the run to the runner."""
    model: _str
    """Model that the run works with, as `SendMessage` resolved it; empty for a run of another driver."""
    due_time: _Timestamp
    """Time from which a replica may work on the run; set only while it is queued."""
    parent_run_id: _str
    """Id of the run whose tool call started this one; unset for a run that a caller started."""
    root_run_id: _str
    """Id of the run at the top of the tree; unset for a run that a caller started."""
    depth: _int
    """Number of runs above this one in the tree: 0 for a run that a caller started, at most 5."""
    agent_name: _str
    """Name of the agent that works on the run; unset after a purge."""
    change_time: _Timestamp
    """
    Time of the last change: the end of the run, else the newest of its creation, its start, the beginning and the end of its last
    wait, a request for an approval and the decision about it.
    """
    input_excerpt: _str
    """
    First words of the last message that started the run: at most 200 characters in one line. Unset for a message without text, and
    after a purge. GetRunInput has all of it.
    """
    annotations: _str
    """The `annotations` of the SendMessage call, a JSON object of at most 1,024 bytes; unset for a longer one, which GetRunInput has."""
    is_output_cut: _bool
    """True when `output_chars_max` of the request left out a part of `output`."""
    def __init__(self, *, run_id: _str | None = ..., session_id: _str | None = ..., state: Run.State | _str | None = ..., driver: _str | None = ..., turns: _int | None = ..., takeovers: _int | None = ..., wait_reason: _str | None = ..., last_sequence: _int | None = ..., output: _str | None = ..., failure_code: _str | None = ..., error: _str | None = ..., usage: Usage | _Mapping[_str, _Any] | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ..., start_time: _datetime | _Mapping[_str, _Any] | None = ..., end_time: _datetime | _Mapping[_str, _Any] | None = ..., deadline_time: _datetime | _Mapping[_str, _Any] | None = ..., cancel_request_time: _datetime | _Mapping[_str, _Any] | None = ..., runner_id: _str | None = ..., binding_id: _str | None = ..., model: _str | None = ..., due_time: _datetime | _Mapping[_str, _Any] | None = ..., parent_run_id: _str | None = ..., root_run_id: _str | None = ..., depth: _int | None = ..., agent_name: _str | None = ..., change_time: _datetime | _Mapping[_str, _Any] | None = ..., input_excerpt: _str | None = ..., annotations: _str | None = ..., is_output_cut: _bool | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["usage", "create_time", "start_time", "end_time", "deadline_time", "cancel_request_time", "due_time", "change_time"]) -> _bool: ...

class Jwk(_Message):
    """A public key of the service, as a JSON Web Key (RFC 7517, RFC 8037)."""
    kty: _str
    """Key type: always `OKP`."""
    crv: _str
    """Curve: always `Ed25519`."""
    x: _str
    """The public key in base64url."""
    kid: _str
    """Id of the key: its RFC 7638 thumbprint."""
    use: _str
    """Use of the key: always `sig`."""
    alg: _str
    """Signature algorithm: always `EdDSA`."""
    def __init__(self, *, kty: _str | None = ..., crv: _str | None = ..., x: _str | None = ..., kid: _str | None = ..., use: _str | None = ..., alg: _str | None = ...) -> None: ...

class MemoryScope(_int):
    """Whose memory it is."""
    MEMORY_SCOPE_UNSPECIFIED: _ClassVar[MemoryScope]
    """Unspecified: an invalid scope, which the service refuses."""
    MEMORY_SCOPE_SESSION: _ClassVar[MemoryScope]
    """That of a session: all its runs have it, and all runs of their trees. It is deleted with its session."""
    MEMORY_SCOPE_AGENT: _ClassVar[MemoryScope]
    """That of an agent, by its name: the agents of this name in all sessions of the client have it."""
    MEMORY_SCOPE_CLIENT: _ClassVar[MemoryScope]
    """That of the client: all its agents and runners have it."""
    @classmethod
    def Name(cls, number: _int) -> _str: ...
    @classmethod
    def Value(cls, name: _str) -> MemoryScope: ...
    @classmethod
    def keys(cls) -> list[_str]: ...
    @classmethod
    def values(cls) -> list[MemoryScope]: ...
    @classmethod
    def items(cls) -> list[tuple[_str, MemoryScope]]: ...
MEMORY_SCOPE_UNSPECIFIED: MemoryScope
MEMORY_SCOPE_SESSION: MemoryScope
MEMORY_SCOPE_AGENT: MemoryScope
MEMORY_SCOPE_CLIENT: MemoryScope

class MemoryEntry(_Message):
    """A value that outlives runs, with its key. A memory has at most 1,000 entries, and 2 MiB of values."""
    key: _str
    """Key of the entry, unique in its memory: 1 to 255 characters without control characters."""
    value: _str
    """The value: any JSON, at most 65,536 bytes. The tools of agents write texts, which are JSON strings. Unset in lists."""
    version: _int
    """Version of the entry: a later write of the same key has a higher one, also after a deletion."""
    size_bytes: _int
    """Size of the value, in bytes."""
    update_time: _Timestamp
    """Time of the last write."""
    def __init__(self, *, key: _str | None = ..., value: _str | None = ..., version: _int | None = ..., size_bytes: _int | None = ..., update_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["update_time"]) -> _bool: ...

class Verbosity(_int):
    """How long a model's answers are."""
    VERBOSITY_UNSPECIFIED: _ClassVar[Verbosity]
    """Unspecified: the provider decides."""
    VERBOSITY_LOW: _ClassVar[Verbosity]
    """Short."""
    VERBOSITY_MEDIUM: _ClassVar[Verbosity]
    """Of the usual length."""
    VERBOSITY_HIGH: _ClassVar[Verbosity]
    """Long."""
    @classmethod
    def Name(cls, number: _int) -> _str: ...
    @classmethod
    def Value(cls, name: _str) -> Verbosity: ...
    @classmethod
    def keys(cls) -> list[_str]: ...
    @classmethod
    def values(cls) -> list[Verbosity]: ...
    @classmethod
    def items(cls) -> list[tuple[_str, Verbosity]]: ...
VERBOSITY_UNSPECIFIED: Verbosity
VERBOSITY_LOW: Verbosity
VERBOSITY_MEDIUM: Verbosity
VERBOSITY_HIGH: Verbosity

class ReasoningEffort(_int):
    """How much a model reasons before it answers."""
    REASONING_EFFORT_UNSPECIFIED: _ClassVar[ReasoningEffort]
    """Unspecified: the provider decides."""
    REASONING_EFFORT_MINIMAL: _ClassVar[ReasoningEffort]
    """As little as the model allows."""
    REASONING_EFFORT_LOW: _ClassVar[ReasoningEffort]
    """Little."""
    REASONING_EFFORT_MEDIUM: _ClassVar[ReasoningEffort]
    """The usual amount."""
    REASONING_EFFORT_HIGH: _ClassVar[ReasoningEffort]
    """Much."""
    @classmethod
    def Name(cls, number: _int) -> _str: ...
    @classmethod
    def Value(cls, name: _str) -> ReasoningEffort: ...
    @classmethod
    def keys(cls) -> list[_str]: ...
    @classmethod
    def values(cls) -> list[ReasoningEffort]: ...
    @classmethod
    def items(cls) -> list[tuple[_str, ReasoningEffort]]: ...
REASONING_EFFORT_UNSPECIFIED: ReasoningEffort
REASONING_EFFORT_MINIMAL: ReasoningEffort
REASONING_EFFORT_LOW: ReasoningEffort
REASONING_EFFORT_MEDIUM: ReasoningEffort
REASONING_EFFORT_HIGH: ReasoningEffort

class Session(_Message):
    """
    A conversation with one agent configuration. It has many runs, at most one of them active at a time. The first nine fields
    are the body that the Agent Runner document gives for `GET /v1/sessions/{id}`, in its order.
    """
    class State(_int):
        """State of a session, which is the state of its latest run."""
        STATE_UNSPECIFIED: _ClassVar[Session.State]
        """Unspecified: not a valid state."""
        STATE_CREATED: _ClassVar[Session.State]
        """No message was sent yet."""
        STATE_RUNNING: _ClassVar[Session.State]
        """A run is active: running, queued or waiting."""
        STATE_COMPLETED: _ClassVar[Session.State]
        """The latest run ended successfully."""
        STATE_FAILED: _ClassVar[Session.State]
        """The latest run failed."""
        STATE_CANCELLED: _ClassVar[Session.State]
        """The latest run was cancelled."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> Session.State: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[Session.State]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, Session.State]]: ...
    STATE_UNSPECIFIED: _ClassVar[Session.State]
    STATE_CREATED: _ClassVar[Session.State]
    STATE_RUNNING: _ClassVar[Session.State]
    STATE_COMPLETED: _ClassVar[Session.State]
    STATE_FAILED: _ClassVar[Session.State]
    STATE_CANCELLED: _ClassVar[Session.State]

    session_id: _str
    """Id of the session, unique for its client."""
    name: _str
    """Name of the agent."""
    model: _str
    """Model that the caller requested; empty when the caller left the choice to the service."""
    status: Session.State
    """State of the session."""
    output: _str
    """Output of the latest run."""
    error: _str
    """Why the latest run failed."""
    turns: _int
    """Number of model responses in the latest run."""
    duration_ms: _int
    """Duration of the latest run, in milliseconds."""
    created_at: _Timestamp
    """Time of creation."""
    latest_run_id: _str
    """Id of the latest run; unset before the first message."""
    usage: Usage
    """Tokens that the latest run used, where its providers reported them."""
    fork: Fork
    """The session that this one continues; unset for a session that began empty."""
    annotations: _str
    """The `annotations` of the CreateSession call; unset when it had none."""
    change_time: _Timestamp
    """Time of the last activity: `Run.change_time` of the latest run, or the creation before the first message. Set by ListSessions alone."""
    run_count: _int
    """Number of runs that are not deleted; 100 means 100 or more. Set by ListSessions alone."""
    def __init__(self, *, session_id: _str | None = ..., name: _str | None = ..., model: _str | None = ..., status: Session.State | _str | None = ..., output: _str | None = ..., error: _str | None = ..., turns: _int | None = ..., duration_ms: _int | None = ..., created_at: _datetime | _Mapping[_str, _Any] | None = ..., latest_run_id: _str | None = ..., usage: Usage | _Mapping[_str, _Any] | None = ..., fork: Fork | _Mapping[_str, _Any] | None = ..., annotations: _str | None = ..., change_time: _datetime | _Mapping[_str, _Any] | None = ..., run_count: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["created_at", "usage", "fork", "change_time", "run_count"]) -> _bool: ...

class Fork(_Message):
    """The place in another session from which a session continues. Set `run_id`, `message_count` or neither."""
    session_id: _str
    """Id of the session to continue, of the same client."""
    run_id: _str
    """Copies the messages up to the end of this run, which must have ended."""
    message_count: _int
    """
    Number of messages to copy, from the first one on; 0 means all that the session has now. SessionService.ListMessages shows
    the messages.
    """
    def __init__(self, *, session_id: _str | None = ..., run_id: _str | None = ..., message_count: _int | None = ...) -> None: ...

class Agent(_Message):
    """Configuration of a session's agent."""
    name: _str
    """Name of the agent, for logs and people."""
    model: _str
    """
    Model, such as `gpt-4o-mini`, `openai:any-name` or `demo`; unset means the service's default. Checked when a message is
    sent.
    """
    system_prompt: _str
    """System prompt: the instruction at the start of every request to the model."""
    max_turns: _int
    """Maximum number of model responses per run; 0 or less means the service's default."""
    max_tokens: _int
    """Maximum number of tokens of one model response; 0 or less means the service's default."""
    temperature: _float
    """Sampling temperature, 0 to 2; unset leaves it to the provider. Checked when a message is sent."""
    tools: AgentTools
    """Tools that the model may call."""
    budget: Budget
    """Maximum spending of one run; unset means that only the service's own budgets apply."""
    response_format: ResponseFormat
    """Form of the model's answers; unset means text. A model that does not support the form answers with text."""
    reasoning_effort: ReasoningEffort
    """How much the model reasons before it answers, where it can; unset leaves it to the provider."""
    provider_options: _str
    """
    Options that only some providers have, by the name of the provider: a JSON object such as
    `{"openai": {"prompt_cache_key": "tickets"}, "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 2000}}}`. A request
    gets those of its provider as fields of its body. What the service itself sets has precedence.
    """
    tool_choice: ToolChoice
    """
    Which tools the model may call, or has to; unset lets it choose. Checked when a message is sent.

    This field and those below are settings that not all providers have. A setting that the model's provider does not have is
    refused when a message is sent, with the names of the providers that have it. `seed`, `verbosity`, `service_tier` and
    `prediction` are hints: a provider that does not have them gets none. A value that changes nothing, such as a `top_p` of 1, counts as unset. The demo model accepts
    them all, and obeys `tool_choice` alone.
    """
    parallel_tool_calls: _bool
    """Whether one response may call several tools; unset leaves it to the provider, and they all may."""
    top_p: _float
    """
    Nucleus sampling: the model chooses among the likeliest tokens whose probabilities add up to this share, from 0, the likeliest one
    alone, to 1.
    """
    top_k: _int
    """The number of likeliest tokens among which the model chooses, at least 1."""
    stop: _Scalars[_str]
    """Texts that end the response before the model writes them. Providers accept 4 to 16 of them."""
    seed: _int
    """Seed of the sampling, for answers that differ less. A hint: no provider promises equal answers."""
    frequency_penalty: _float
    """How much a token is avoided for each time that the text has it, -2 to 2; below 0 it is preferred."""
    presence_penalty: _float
    """How much a token is avoided when the text has it, -2 to 2; below 0 it is preferred."""
    verbosity: Verbosity
    """How long the answers are; unset leaves it to the provider."""
    service_tier: _str
    """The provider's own name of a tier of service, such as `flex` or `priority`. A hint."""
    top_logprobs: _int
    """
    Asks for the log probabilities of the answer's tokens, and sets how many of the likeliest tokens each place of the text lists: 0
    to 20; 0 means the chosen tokens alone. Unset asks for none. `Message.logprobs` has them.
    """
    max_provider_calls: _int
    """
    Maximum number of calls of the tools in `tools.provider` in one response, at least 1; unset leaves it to the provider. OpenAI counts
    the calls of all tools together. Anthropic counts those of each search and each fetch alone, and limits no other tool.
    """
    logit_bias: _str
    """
    How much tokens are preferred, by their number in the model's vocabulary: a JSON object such as `{"50256": -100}`, whose values are
    -100 to 100.
    """
    prediction: _str
    """
    Text that the answer probably repeats, so that it comes sooner: a JSON object as OpenAI writes it, such as
    `{"type": "content", "content": "…"}`. A hint.
    """
    runner: _str
    """
    Name of a runner of the service's settings, such as a coding agent, that works on the runs in place of `model`; unset means that
    the service asks `model`. A runner has tools of its own: of `tools` it takes `approval_seconds` alone. Checked when a message is sent.
    """
    compaction: Compaction
    """Summarises the oldest part of a long conversation; unset leaves out its oldest messages instead."""
    def __init__(self, *, name: _str | None = ..., model: _str | None = ..., system_prompt: _str | None = ..., max_turns: _int | None = ..., max_tokens: _int | None = ..., temperature: _float | None = ..., tools: AgentTools | _Mapping[_str, _Any] | None = ..., budget: Budget | _Mapping[_str, _Any] | None = ..., response_format: ResponseFormat | _Mapping[_str, _Any] | None = ..., reasoning_effort: ReasoningEffort | _str | None = ..., provider_options: _str | None = ..., tool_choice: ToolChoice | _Mapping[_str, _Any] | None = ..., parallel_tool_calls: _bool | None = ..., top_p: _float | None = ..., top_k: _int | None = ..., stop: _Iterable[_str] | None = ..., seed: _int | None = ..., frequency_penalty: _float | None = ..., presence_penalty: _float | None = ..., verbosity: Verbosity | _str | None = ..., service_tier: _str | None = ..., top_logprobs: _int | None = ..., max_provider_calls: _int | None = ..., logit_bias: _str | None = ..., prediction: _str | None = ..., runner: _str | None = ..., compaction: Compaction | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["temperature", "tools", "budget", "response_format", "tool_choice", "parallel_tool_calls", "top_p", "top_k", "seed", "frequency_penalty", "presence_penalty", "top_logprobs", "max_provider_calls", "compaction"]) -> _bool: ...

class Compaction(_Message):
    """
    How a long conversation is kept within the context of the model: before a response, a model writes a summary of the oldest messages,
    which takes their place in this response and all later ones. `context.compacted` in the log has it. SessionService keeps all messages.

    Messages of the roles `system` and `developer`, the message that started the run, and the newest messages up to 30 % of `percent` stay
    as they are. A call and its results are kept or summarised together. A summary has at most `max_tokens` tokens, or 4,096 when that is
    less. One that fails or is cut off, fails the run.
    """
    model: _str
    """Model that writes the summaries; unset means the agent's own. Checked when a message is sent."""
    prompt: _str
    """Instruction for the summary; unset means the service's own, which asks for wishes, facts, decisions, results and open questions."""
    percent: _int
    """
    Share of the room for messages that they fill before a summary, in percent, 30 to 100; 0 means 80. The room is 75 % of the model's
    context, without `max_tokens`. The same share of the setting `sessions.history_messages` begins a summary too.
    """
    def __init__(self, *, model: _str | None = ..., prompt: _str | None = ..., percent: _int | None = ...) -> None: ...

class ToolChoice(_Message):
    """
    Which tools a model may call, or has to. `required` and `name` hold for the first response of a run: later ones are free, so that
    the run can end.
    """
    class Mode(_int):
        """How the model chooses."""
        MODE_UNSPECIFIED: _ClassVar[ToolChoice.Mode]
        """Unspecified: the model decides, unless `name` is set."""
        MODE_AUTO: _ClassVar[ToolChoice.Mode]
        """The model decides."""
        MODE_NONE: _ClassVar[ToolChoice.Mode]
        """The model calls no tool."""
        MODE_REQUIRED: _ClassVar[ToolChoice.Mode]
        """The model calls at least one tool."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> ToolChoice.Mode: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[ToolChoice.Mode]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, ToolChoice.Mode]]: ...
    MODE_UNSPECIFIED: _ClassVar[ToolChoice.Mode]
    MODE_AUTO: _ClassVar[ToolChoice.Mode]
    MODE_NONE: _ClassVar[ToolChoice.Mode]
    MODE_REQUIRED: _ClassVar[ToolChoice.Mode]

    mode: ToolChoice.Mode
    """How the model chooses."""
    name: _str
    """Name of the tool that the model calls."""
    def __init__(self, *, mode: ToolChoice.Mode | _str | None = ..., name: _str | None = ...) -> None: ...

class ResponseFormat(_Message):
    """The form of a model's answers: a JSON object, of a schema when one is set."""
    name: _str
    """Name of the schema for the model: letters, digits, `_` and `-`; unset means `answer`."""
    description: _str
    """Description of the answer, for the model."""
    schema: _str
    """JSON Schema of the answer, a JSON object; unset means any JSON object."""
    strict: _bool
    """
    True when the provider must enforce the schema. Every object of the schema must then be closed and require all of its
    properties.
    """
    def __init__(self, *, name: _str | None = ..., description: _str | None = ..., schema: _str | None = ..., strict: _bool | None = ...) -> None: ...

class Budget(_Message):
    """Maximum spending of one run. The service's own budgets also apply: the lower limit counts."""
    tokens: _int
    """Maximum number of tokens of all model responses of the run, input and output; 0 means no limit."""
    cost_micro_usd: _int
    """Maximum cost in millionths of a US dollar; 0 means no limit. Needs a model with a known price."""
    def __init__(self, *, tokens: _int | None = ..., cost_micro_usd: _int | None = ...) -> None: ...

class AgentTools(_Message):
    """The tools of an agent."""
    builtin: _Scalars[_str]
    """Names of built-in tools, such as `list_dir` and `read_file`. Checked when a message is sent."""
    remote: _Messages[RemoteTool]
    """
    Tools of the caller, which the service calls over HTTP at the session's callback (Agent Runner document, "Remote Tools").
    Checked when a message is sent.
    """
    functions: _Messages[FunctionTool]
    """
    Tools that the caller runs itself. A response that calls one ends the run with the finish reason `tool-calls`, after the
    other tools of that response have run. `RunCompleted.pending_tool_calls` has the calls; the caller sends their results as the
    next `messages` of SendMessage.
    """
    approve: _Scalars[_str]
    """
    Names of tools of `builtin` and `remote` whose calls wait for a person. Each such call asks for an Approval, and the run waits
    until all approvals of the response are decided or expired. An approved call runs once. The model reads that a call was
    rejected, or that its approval expired. Checked when a message is sent.
    """
    approval_seconds: _int
    """Time to decide about a call, in seconds: 1 to 604,800; 0 means 86,400. It does not count towards the timeout of the run."""
    unknown_calls_to_caller: _bool
    """
    Whether calls of tools that the agent does not have go to the caller, as calls of `functions` do. Otherwise such a call gets an
    error that names the agent's tools.
    """
    provider: _Messages[ProviderTool]
    """
    Tools that the model's provider runs itself, such as a web search. Their calls are in the log as `tool.call.started` and
    `tool.call.completed` with `run_by_provider`. Checked when a message is sent.
    """
    mcp: _Messages[McpServer]
    """
    Servers of the Model Context Protocol (MCP) whose tools the agent has. A run lists them when it starts, and keeps that list to its
    end. A server that cannot be reached then fails the run. Names and URLs are checked when a message is sent.
    """
    agents: _Messages[Subagent]
    """
    Agents that the model may call as tools, at most 256 with those that they call. A call starts a child run, which the result
    `child.run.started` names. Checked when a message is sent.
    """
    skills: _Scalars[_str]
    """
    Names of skills that the agent may use (agentskills.io/specification). Each is a folder with a SKILL.md in the directory of the
    setting `agents.skills_directory`, or else in `skills` of the work directory. The model sees names and descriptions, and reads the
    rest with `read_file` or `bash`, of which the agent needs one. A run finds its skills when it starts; one that is missing or
    invalid then fails the run.
    """
    memory_scopes: _Scalars[MemoryScope]
    """
    Memories that the tools `memory_read`, `memory_write` and `memory_search` reach; unset means that of the session alone. What one user
    of your application says can come up in the sessions of others through `agent` and `client`. Checked when a message is sent.
    """
    def __init__(self, *, builtin: _Iterable[_str] | None = ..., remote: _Iterable[RemoteTool | _Mapping[_str, _Any]] | None = ..., functions: _Iterable[FunctionTool | _Mapping[_str, _Any]] | None = ..., approve: _Iterable[_str] | None = ..., approval_seconds: _int | None = ..., unknown_calls_to_caller: _bool | None = ..., provider: _Iterable[ProviderTool | _Mapping[_str, _Any]] | None = ..., mcp: _Iterable[McpServer | _Mapping[_str, _Any]] | None = ..., agents: _Iterable[Subagent | _Mapping[_str, _Any]] | None = ..., skills: _Iterable[_str] | None = ..., memory_scopes: _Iterable[MemoryScope | _str] | None = ...) -> None: ...

class Subagent(_Message):
    """
    An agent that another agent calls as a tool. A call starts a run in a session of its own, which SessionService does not show; in all
    else it is a run like others. The run that called is its parent: it waits, without a slot, until the runs of all such calls of a
    response have ended. Their outputs are the results of the calls. At the end of each result stands the id of its run; a later call
    with `run_id` continues that run with a new message, in the same session.

    A child run works in the directory of its parent. It may have at most the tools of its parent, and the names in its parent's `approve`
    hold for it too. It gets 95 % of the time that its parent has left. A cancelled or ended parent cancels its child runs. A tree has at
    most 5 levels below its root, and 2,000 child runs.
    """
    name: _str
    """Name that the model uses to call the tool: letters, digits, `_` and `-`."""
    description: _str
    """What the agent does, for the model."""
    parameters: _str
    """JSON Schema of the arguments, which are then the message of the child run, as JSON; unset means one text, `message`."""
    preset: _str
    """Name of an agent in the setting `agents.presets`; unset means that `agent` has all settings."""
    agent: Agent
    """
    Settings of the agent; each replaces that of the preset. Without `model` and `runner` it has the model of its parent. It has no
    `functions`.
    """
    budget_percent: _int
    """
    Share of the rest of the parent's budget that a child run may spend, in percent; 0 means 50. Its parent gets back the unspent
    tokens. Without a budget of the parent, only that of `agent` applies.
    """
    handoff: _bool
    """
    Whether a call hands the conversation over: no run starts, and from the next response on this agent answers, in the same run and in
    all later runs of the session. `handoff.completed` in the log says so. The agent may have other tools than the one before, but no
    `runner`; the budget and `max_turns` of the run stay. The last handoff of a response counts. Only the agent of a session may hand
    over: a child run answers its caller.
    """
    def __init__(self, *, name: _str | None = ..., description: _str | None = ..., parameters: _str | None = ..., preset: _str | None = ..., agent: Agent | _Mapping[_str, _Any] | None = ..., budget_percent: _int | None = ..., handoff: _bool | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["agent"]) -> _bool: ...

class McpServer(_Message):
    """A server of the Model Context Protocol, by its URL, or by the name that the service's settings give it."""
    class Transport(_int):
        """How the service talks to a server with a URL."""
        TRANSPORT_UNSPECIFIED: _ClassVar[McpServer.Transport]
        """Unspecified: streamable HTTP."""
        TRANSPORT_HTTP: _ClassVar[McpServer.Transport]
        """Streamable HTTP, of every revision of the protocol."""
        TRANSPORT_SSE: _ClassVar[McpServer.Transport]
        """Server-sent events of the revision 2024-11-05, for old servers."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> McpServer.Transport: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[McpServer.Transport]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, McpServer.Transport]]: ...
    TRANSPORT_UNSPECIFIED: _ClassVar[McpServer.Transport]
    TRANSPORT_HTTP: _ClassVar[McpServer.Transport]
    TRANSPORT_SSE: _ClassVar[McpServer.Transport]

    name: _str
    """Name of the server, unique in the agent: a letter, then letters, digits, `_` and `-`, at most 32."""
    url: _str
    """
    URL, http or https, of a public host or of a host that the service's settings allow; unset means the server of this name in the
    setting `mcp.servers`. No redirect is followed.
    """
    transport: McpServer.Transport
    """How the service talks to the server."""
    headers: _Messages[McpHeader]
    """
    Headers of every request to the server, such as `authorization`. They go to the origin of `url` alone, and no answer of the
    service has their values.
    """
    allowed_tools: _Scalars[_str]
    """Names of the server's tools that the agent has, as the server writes them; unset means all, at most 128."""
    prefix: _str
    """
    What the model sees before the name of each tool; unset means the name of the server and `_`. Characters that providers do not
    accept become `_`.
    """
    approve: _Scalars[_str]
    """Names of the server's tools whose calls wait for a person, as with `AgentTools.approve`; `*` means all of them."""
    repeatable: _Scalars[_str]
    """
    Names of the server's tools whose calls have no effect that matters twice; `*` means all of them. A call that the death of a
    replica interrupts is made again; every other call is reported to the model as interrupted.
    """
    timeout_sec: _int
    """Maximum duration of one call, in seconds, 1 to 3,600; 0 means 120."""
    idle_sec: _int
    """Maximum time of one call without progress, in seconds, 1 to 3,600; 0 means 60."""
    forms: _bool
    """
    Whether the server may ask a person to fill in a form while it works on a call (elicitation in the mode `form`). Each form is an
    approval with a `form`. The call waits for it in its replica, and this time counts towards no limit of the call. False means that the
    service does not announce elicitation.
    """
    def __init__(self, *, name: _str | None = ..., url: _str | None = ..., transport: McpServer.Transport | _str | None = ..., headers: _Iterable[McpHeader | _Mapping[_str, _Any]] | None = ..., allowed_tools: _Iterable[_str] | None = ..., prefix: _str | None = ..., approve: _Iterable[_str] | None = ..., repeatable: _Iterable[_str] | None = ..., timeout_sec: _int | None = ..., idle_sec: _int | None = ..., forms: _bool | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["prefix"]) -> _bool: ...

class McpHeader(_Message):
    """A header of the requests to a server."""
    name: _str
    """Name of the header."""
    value: _str
    """Value of the header: visible ASCII characters and spaces. Empty in every answer of the service."""
    def __init__(self, *, name: _str | None = ..., value: _str | None = ...) -> None: ...

class ProviderTool(_Message):
    """A tool that a provider runs itself."""
    provider: _str
    """
    Name of the provider, as in `provider:model`. A model of another provider does not get the tool: it gets the function of the same
    name, when the agent has one, which models of this provider do not get.
    """
    tool: _str
    """
    The tool as the provider's own API writes it: a JSON object such as `{"type": "web_search_20250305", "name": "web_search"}` for
    `anthropic`, `{"type": "web_search"}` for `openai` with Responses, or `{"google_search": {}}` for `gemini`.
    """
    def __init__(self, *, provider: _str | None = ..., tool: _str | None = ...) -> None: ...

class FunctionTool(_Message):
    """A tool that the caller runs itself."""
    name: _str
    """Name that the model uses to call the tool: letters, digits, `_` and `-`."""
    description: _str
    """Description of the tool, for the model."""
    parameters: _str
    """JSON Schema of the arguments; unset means no arguments."""
    def __init__(self, *, name: _str | None = ..., description: _str | None = ..., parameters: _str | None = ...) -> None: ...

class RemoteTool(_Message):
    """A tool that the caller provides over HTTP."""
    name: _str
    """Name that the model uses to call the tool: a letter, then letters, digits and underscores."""
    description: _str
    """Description of the tool, for the model."""
    parameters: _str
    """JSON Schema of the arguments; unset or an empty array means no arguments."""
    def __init__(self, *, name: _str | None = ..., description: _str | None = ..., parameters: _str | None = ...) -> None: ...

class Callback(_Message):
    """The HTTP endpoint of the caller that receives status callbacks and remote tool calls."""
    base_url: _str
    """
    Base URL, http or https, of a public host or of a host that the service's settings allow; unset means the URL in the
    service's settings.
    """
    timeout_sec: _int
    """Timeout of one remote tool call, in seconds; 0 or less means the service's default."""
    def __init__(self, *, base_url: _str | None = ..., timeout_sec: _int | None = ...) -> None: ...

class ListApprovalsRequest(_Message):
    """Request of ListApprovals."""
    run_id: _str
    """Id of a run: returns only its approvals; unset means the approvals of all runs."""
    state: Approval.State
    """State: returns only approvals in this state; unset means any state."""
    page_size: _int
    """Maximum number of approvals to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, run_id: _str | None = ..., state: Approval.State | _str | None = ..., page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListApprovalsResponse(_Message):
    """Response of ListApprovals."""
    approvals: _Messages[Approval]
    """The approvals, newest first."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, approvals: _Iterable[Approval | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class WatchApprovalsRequest(_Message):
    """Request of WatchApprovals."""
    run_id: _str
    """Id of a run: only its approvals; unset means the approvals of all runs."""
    after: _str
    """`cursor` of the last response that the caller received: what has changed since comes as well. Unset means now."""
    def __init__(self, *, run_id: _str | None = ..., after: _str | None = ...) -> None: ...

class WatchApprovalsResponse(_Message):
    """Response of WatchApprovals."""
    cursor: _str
    """Position after this response, for `after`."""
    approval: Approval
    """The approval as it is now."""
    def __init__(self, *, cursor: _str | None = ..., approval: Approval | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["approval", "change"]) -> _bool: ...
    def WhichOneof(self, oneof_group: _Literal["change"]) -> _Literal["approval"] | None: ...

class GetApprovalRequest(_Message):
    """Request of GetApproval."""
    approval_id: _str
    """Id of the approval."""
    def __init__(self, *, approval_id: _str | None = ...) -> None: ...

class GetApprovalResponse(_Message):
    """Response of GetApproval."""
    approval: Approval
    """The approval."""
    def __init__(self, *, approval: Approval | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["approval"]) -> _bool: ...

class DecideApprovalRequest(_Message):
    """Request of DecideApproval."""
    approval_id: _str
    """Id of the approval."""
    decision: Approval.Decision
    """The decision."""
    digest: _str
    """`digest` of the approval that the deciding person has seen."""
    comment: _str
    """Comment for the runner or the model, and for later readers; unset means no comment."""
    decided_by: _str
    """Who decides, in the words of the caller. It is stored and not verified. Unset means the id of the client."""
    values: _str
    """
    Values of the form: a JSON object that matches `Approval.form`. The server that asked gets them; they are in no log, and the service
    forgets them then. Unset means no values. Only the approval of a form has values.
    """
    def __init__(self, *, approval_id: _str | None = ..., decision: Approval.Decision | _str | None = ..., digest: _str | None = ..., comment: _str | None = ..., decided_by: _str | None = ..., values: _str | None = ...) -> None: ...

class DecideApprovalResponse(_Message):
    """Response of DecideApproval."""
    approval: Approval
    """The approval after the decision."""
    def __init__(self, *, approval: Approval | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["approval"]) -> _bool: ...

class ApprovalService(_Service):
    """
    Works on approvals: what runs ask a person for, and the client's decisions about it.

    An approval belongs to the client of its run. Every other client gets NOT_FOUND with reason APPROVAL_NOT_FOUND, exactly as
    for an unknown id.
    """
    def list_approvals(self, request: ListApprovalsRequest, *, timeout: _float | None = ...) -> ListApprovalsResponse:
        """Lists the approvals of the calling client, newest first, without the `request`."""
        ...
    def watch_approvals(self, request: WatchApprovalsRequest, *, timeout: _float | None = ...) -> _Iterator[WatchApprovalsResponse]:
        """
        Streams the approvals of the calling client as they change: as runs ask for them, and as they are decided, used or expire.

        Each response is a whole approval without its `request`. Without `after` the approvals that are pending or approved come
        first. A response without an approval opens the stream at once and keeps it alive every 15 s. The stream ends only with an
        error: after UNAVAILABLE (RESUME), and after any failure of the connection, call again with the last `cursor`. An approval
        may come more than once in the same state, and a change arrives within two seconds. Of more than 1,000 approvals, the newest
        appear. RESOURCE_EXHAUSTED (CONCURRENCY_EXHAUSTED) when the client has 100 watches on this replica. May be retried.
        """
        ...
    def get_approval(self, request: GetApprovalRequest, *, timeout: _float | None = ...) -> GetApprovalResponse:
        """Returns one approval with its `request`."""
        ...
    def decide_approval(self, request: DecideApprovalRequest, *, timeout: _float | None = ...) -> DecideApprovalResponse:
        """
        Approves or rejects an action permanently: the first decision counts. May be retried: the same request gets the same
        answer. A run of the agent loop continues when all approvals that it waits for are decided or expired.

        INVALID_ARGUMENT when `values` do not match the `form` of the approval.

        The service checks in this order, each with FAILED_PRECONDITION. APPROVAL_CHANGED: the digest differs from the approval's.
        APPROVAL_DECIDED: there is another decision, or the same one with another comment or decider. APPROVAL_EXPIRED: the time to
        decide is over or the run has ended.
        """
        ...

class AsyncApprovalService(_AsyncService):
    """
    Works on approvals: what runs ask a person for, and the client's decisions about it.

    An approval belongs to the client of its run. Every other client gets NOT_FOUND with reason APPROVAL_NOT_FOUND, exactly as
    for an unknown id.
    """
    async def list_approvals(self, request: ListApprovalsRequest, *, timeout: _float | None = ...) -> ListApprovalsResponse:
        """Lists the approvals of the calling client, newest first, without the `request`."""
        ...
    def watch_approvals(self, request: WatchApprovalsRequest, *, timeout: _float | None = ...) -> _AsyncIterator[WatchApprovalsResponse]:
        """
        Streams the approvals of the calling client as they change: as runs ask for them, and as they are decided, used or expire.

        Each response is a whole approval without its `request`. Without `after` the approvals that are pending or approved come
        first. A response without an approval opens the stream at once and keeps it alive every 15 s. The stream ends only with an
        error: after UNAVAILABLE (RESUME), and after any failure of the connection, call again with the last `cursor`. An approval
        may come more than once in the same state, and a change arrives within two seconds. Of more than 1,000 approvals, the newest
        appear. RESOURCE_EXHAUSTED (CONCURRENCY_EXHAUSTED) when the client has 100 watches on this replica. May be retried.
        """
        ...
    async def get_approval(self, request: GetApprovalRequest, *, timeout: _float | None = ...) -> GetApprovalResponse:
        """Returns one approval with its `request`."""
        ...
    async def decide_approval(self, request: DecideApprovalRequest, *, timeout: _float | None = ...) -> DecideApprovalResponse:
        """
        Approves or rejects an action permanently: the first decision counts. May be retried: the same request gets the same
        answer. A run of the agent loop continues when all approvals that it waits for are decided or expired.

        INVALID_ARGUMENT when `values` do not match the `form` of the approval.

        The service checks in this order, each with FAILED_PRECONDITION. APPROVAL_CHANGED: the digest differs from the approval's.
        APPROVAL_DECIDED: there is another decision, or the same one with another comment or decider. APPROVAL_EXPIRED: the time to
        decide is over or the run has ended.
        """
        ...

class ApiKey(_Message):
    """
    An API key: a credential of a client for `Authorization: Bearer`. The service shows the key itself once, in the response of
    CreateApiKey, and stores only its hash.
    """
    key_id: _str
    """Id of the key. It reveals nothing about the key itself."""
    client_id: _str
    """Id of the client that calls with this key. All keys of a client see the same sessions and runs."""
    display_name: _str
    """Name of the key for people."""
    create_time: _Timestamp
    """Time of creation."""
    expire_time: _Timestamp
    """Time when the key expires; unset means never."""
    revoke_time: _Timestamp
    """Time when the key was revoked; unset while it is valid."""
    def __init__(self, *, key_id: _str | None = ..., client_id: _str | None = ..., display_name: _str | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ..., expire_time: _datetime | _Mapping[_str, _Any] | None = ..., revoke_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["create_time", "expire_time", "revoke_time"]) -> _bool: ...

class TicketTarget(_Message):
    """The one stream that a stream ticket opens."""
    session_id: _str
    """Id of a session, for SessionService.StreamSession."""
    run_id: _str
    """Id of a run, for RunService.TailRun."""
    def __init__(self, *, session_id: _str | None = ..., run_id: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["session_id", "run_id", "target"]) -> _bool: ...
    def WhichOneof(self, oneof_group: _Literal["target"]) -> _Literal["session_id", "run_id"] | None: ...

class CreateApiKeyRequest(_Message):
    """Request of CreateApiKey."""
    client_id: _str
    """Id of the client that will call with the key: 1 to 128 visible ASCII characters."""
    display_name: _str
    """Name of the key for people."""
    expire_time: _Timestamp
    """Time when the key expires; unset means never."""
    def __init__(self, *, client_id: _str | None = ..., display_name: _str | None = ..., expire_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["expire_time"]) -> _bool: ...

class CreateApiKeyResponse(_Message):
    """Response of CreateApiKey."""
    api_key: ApiKey
    """The key's record, without the key itself."""
    key: _str
    """The key itself, to be sent as `Authorization: Bearer <key>`."""
    def __init__(self, *, api_key: ApiKey | _Mapping[_str, _Any] | None = ..., key: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["api_key"]) -> _bool: ...

class ListApiKeysRequest(_Message):
    """Request of ListApiKeys."""
    client_id: _str
    """Id of a client: returns only its keys; unset means the keys of all clients."""
    page_size: _int
    """Maximum number of keys to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, client_id: _str | None = ..., page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListApiKeysResponse(_Message):
    """Response of ListApiKeys."""
    api_keys: _Messages[ApiKey]
    """The keys, newest first."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, api_keys: _Iterable[ApiKey | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class RevokeApiKeyRequest(_Message):
    """Request of RevokeApiKey."""
    key_id: _str
    """Id of the key."""
    def __init__(self, *, key_id: _str | None = ...) -> None: ...

class RevokeApiKeyResponse(_Message):
    """Response of RevokeApiKey."""
    api_key: ApiKey
    """The revoked key."""
    def __init__(self, *, api_key: ApiKey | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["api_key"]) -> _bool: ...

class CreateStreamTicketRequest(_Message):
    """Request of CreateStreamTicket."""
    target: TicketTarget
    """The stream that the ticket opens."""
    def __init__(self, *, target: TicketTarget | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["target"]) -> _bool: ...

class CreateStreamTicketResponse(_Message):
    """Response of CreateStreamTicket."""
    ticket: _str
    """The ticket."""
    expire_time: _Timestamp
    """Time until which the ticket is valid for reconnects."""
    def __init__(self, *, ticket: _str | None = ..., expire_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["expire_time"]) -> _bool: ...

class AuthService(_Service):
    """Works on credentials: API keys of clients, and tickets that let a browser open one stream."""
    def create_api_key(self, request: CreateApiKeyRequest, *, timeout: _float | None = ...) -> CreateApiKeyResponse:
        """
        Creates an API key for a client. Only this response ever contains the key itself.

        A client may have several keys at a time, so that it can replace one without an interruption. A retry creates another key.
        """
        ...
    def list_api_keys(self, request: ListApiKeysRequest, *, timeout: _float | None = ...) -> ListApiKeysResponse:
        """Lists the API keys, newest first, including revoked ones. Keys from the service's settings are not listed."""
        ...
    def revoke_api_key(self, request: RevokeApiKeyRequest, *, timeout: _float | None = ...) -> RevokeApiKeyResponse:
        """
        Revokes an API key. From then on every replica refuses calls with it. Streams that it opened, and those that tickets of it
        opened, end at once with UNAUTHENTICATED (TOKEN_INVALID). Runs continue.

        Revoking a revoked key changes nothing. NOT_FOUND (API_KEY_NOT_FOUND) for an unknown id.
        """
        ...
    def create_stream_ticket(self, request: CreateStreamTicketRequest, *, timeout: _float | None = ...) -> CreateStreamTicketResponse:
        """
        Creates a ticket for one stream of one of the caller's own sessions or runs. It serves programs that cannot send headers or
        should not hold a key, such as browsers.

        The client sends the ticket in the query of an SSE URL (`?ticket=`) or in `Authorization: Bearer`. The ticket must be used
        within 60 seconds. After its first use it is valid for reconnects until `expire_time`. A stream that is open at that time
        continues. It ends with the API key that created the ticket. A later reconnect gives UNAUTHENTICATED (TICKET_INVALID) and
        needs another ticket. NOT_FOUND when the session or run does not exist. A retry creates another ticket.
        """
        ...

class AsyncAuthService(_AsyncService):
    """Works on credentials: API keys of clients, and tickets that let a browser open one stream."""
    async def create_api_key(self, request: CreateApiKeyRequest, *, timeout: _float | None = ...) -> CreateApiKeyResponse:
        """
        Creates an API key for a client. Only this response ever contains the key itself.

        A client may have several keys at a time, so that it can replace one without an interruption. A retry creates another key.
        """
        ...
    async def list_api_keys(self, request: ListApiKeysRequest, *, timeout: _float | None = ...) -> ListApiKeysResponse:
        """Lists the API keys, newest first, including revoked ones. Keys from the service's settings are not listed."""
        ...
    async def revoke_api_key(self, request: RevokeApiKeyRequest, *, timeout: _float | None = ...) -> RevokeApiKeyResponse:
        """
        Revokes an API key. From then on every replica refuses calls with it. Streams that it opened, and those that tickets of it
        opened, end at once with UNAUTHENTICATED (TOKEN_INVALID). Runs continue.

        Revoking a revoked key changes nothing. NOT_FOUND (API_KEY_NOT_FOUND) for an unknown id.
        """
        ...
    async def create_stream_ticket(self, request: CreateStreamTicketRequest, *, timeout: _float | None = ...) -> CreateStreamTicketResponse:
        """
        Creates a ticket for one stream of one of the caller's own sessions or runs. It serves programs that cannot send headers or
        should not hold a key, such as browsers.

        The client sends the ticket in the query of an SSE URL (`?ticket=`) or in `Authorization: Bearer`. The ticket must be used
        within 60 seconds. After its first use it is valid for reconnects until `expire_time`. A stream that is open at that time
        continues. It ends with the API key that created the ticket. A later reconnect gives UNAUTHENTICATED (TICKET_INVALID) and
        needs another ticket. NOT_FOUND when the session or run does not exist. A retry creates another ticket.
        """
        ...

class StatusCallback(_Message):
    """
    A status callback (webhook): the report of one state change of a session to its host.

    The service sends `POST {base_url}/sessions/{session_id}/status` with the body that the Agent Runner document gives, followed
    by the keys `run_id`, `sequence` and `callback_id`. There is one callback for each state change. The callbacks of a session
    are sent in order, one at a time. Each is repeated until a 2xx status answers it, for about 24 hours.
    """
    class State(_int):
        """Delivery state of a callback."""
        STATE_UNSPECIFIED: _ClassVar[StatusCallback.State]
        """Unspecified: not a valid state."""
        STATE_PENDING: _ClassVar[StatusCallback.State]
        """The callback is waiting for its first or its next attempt."""
        STATE_DELIVERED: _ClassVar[StatusCallback.State]
        """A 2xx status answered the callback."""
        STATE_DEAD: _ClassVar[StatusCallback.State]
        """The service gave up. The next callbacks of the session were sent without it."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> StatusCallback.State: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[StatusCallback.State]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, StatusCallback.State]]: ...
    STATE_UNSPECIFIED: _ClassVar[StatusCallback.State]
    STATE_PENDING: _ClassVar[StatusCallback.State]
    STATE_DELIVERED: _ClassVar[StatusCallback.State]
    STATE_DEAD: _ClassVar[StatusCallback.State]

    callback_id: _str
    """Id of the callback, the same at every attempt. The receiver recognises a repeated callback by it."""
    session_id: _str
    """Id of the session whose state changed. The session may be deleted by now."""
    run_id: _str
    """Id of the run that started or ended; empty for the creation of the session."""
    session_state: Session.State
    """The new state of the session."""
    sequence: _int
    """Sequence of the run's terminal result; 0 when the callback does not report the end of a run."""
    state: StatusCallback.State
    """Delivery state."""
    base_url: _str
    """Base URL that the callback is sent to, as it was when the state changed."""
    attempts: _int
    """Number of attempts since the callback last became pending."""
    last_error: _str
    """Why the last attempt failed; empty when no attempt failed, or when the callback was delivered."""
    create_time: _Timestamp
    """Time of the state change."""
    next_attempt_time: _Timestamp
    """Earliest time of the next attempt; set while the callback is pending."""
    end_time: _Timestamp
    """Time when the callback was delivered or given up."""
    def __init__(self, *, callback_id: _str | None = ..., session_id: _str | None = ..., run_id: _str | None = ..., session_state: Session.State | _str | None = ..., sequence: _int | None = ..., state: StatusCallback.State | _str | None = ..., base_url: _str | None = ..., attempts: _int | None = ..., last_error: _str | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ..., next_attempt_time: _datetime | _Mapping[_str, _Any] | None = ..., end_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["create_time", "next_attempt_time", "end_time"]) -> _bool: ...

class ListCallbacksRequest(_Message):
    """Request of ListCallbacks."""
    session_id: _str
    """Id of a session: returns only callbacks of the sessions that have or had this id; unset means all sessions."""
    state: StatusCallback.State
    """Delivery state: returns only callbacks in this state; unset means any state."""
    page_size: _int
    """Maximum number of callbacks to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, session_id: _str | None = ..., state: StatusCallback.State | _str | None = ..., page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListCallbacksResponse(_Message):
    """Response of ListCallbacks."""
    callbacks: _Messages[StatusCallback]
    """The callbacks, newest first."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, callbacks: _Iterable[StatusCallback | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class RedeliverCallbackRequest(_Message):
    """Request of RedeliverCallback."""
    callback_id: _str
    """Id of the callback."""
    def __init__(self, *, callback_id: _str | None = ...) -> None: ...

class RedeliverCallbackResponse(_Message):
    """Response of RedeliverCallback."""
    callback: StatusCallback
    """The callback, which is now pending."""
    def __init__(self, *, callback: StatusCallback | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["callback"]) -> _bool: ...

class CallbackService(_Service):
    """
    Works on status callbacks: the delivered, pending and failed reports of sessions to their hosts.

    A callback belongs to the client of its session. Every other client gets NOT_FOUND with reason CALLBACK_NOT_FOUND, exactly as
    for an unknown id.
    """
    def list_callbacks(self, request: ListCallbacksRequest, *, timeout: _float | None = ...) -> ListCallbacksResponse:
        """Lists the callbacks of the calling client, newest first. Delivered and dead callbacks are kept as long as logs are."""
        ...
    def redeliver_callback(self, request: RedeliverCallbackRequest, *, timeout: _float | None = ...) -> RedeliverCallbackResponse:
        """
        Makes a delivered or dead callback pending again and returns it.

        The callback is sent after all callbacks of its session that are pending, with as many attempts as a new one. It becomes
        the newest in the list. A pending callback stays as it is, so the call may be retried while it is pending.
        """
        ...

class AsyncCallbackService(_AsyncService):
    """
    Works on status callbacks: the delivered, pending and failed reports of sessions to their hosts.

    A callback belongs to the client of its session. Every other client gets NOT_FOUND with reason CALLBACK_NOT_FOUND, exactly as
    for an unknown id.
    """
    async def list_callbacks(self, request: ListCallbacksRequest, *, timeout: _float | None = ...) -> ListCallbacksResponse:
        """Lists the callbacks of the calling client, newest first. Delivered and dead callbacks are kept as long as logs are."""
        ...
    async def redeliver_callback(self, request: RedeliverCallbackRequest, *, timeout: _float | None = ...) -> RedeliverCallbackResponse:
        """
        Makes a delivered or dead callback pending again and returns it.

        The callback is sent after all callbacks of its session that are pending, with as many attempts as a new one. It becomes
        the newest in the list. A pending callback stays as it is, so the call may be retried while it is pending.
        """
        ...

class File(_Message):
    """An entry of a directory in the work directory of a session."""
    class Type(_int):
        """Type of an entry."""
        TYPE_UNSPECIFIED: _ClassVar[File.Type]
        """Unspecified: not a valid type."""
        TYPE_FILE: _ClassVar[File.Type]
        """A regular file. ReadFile reads it, unless it is one that the tools of agents refuse as well."""
        TYPE_DIRECTORY: _ClassVar[File.Type]
        """A directory, which ListFiles lists."""
        TYPE_LINK: _ClassVar[File.Type]
        """A symbolic link, listed as itself. Both calls follow it inside the work directory."""
        TYPE_OTHER: _ClassVar[File.Type]
        """Anything else, such as a pipe or a device. No call opens it."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> File.Type: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[File.Type]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, File.Type]]: ...
    TYPE_UNSPECIFIED: _ClassVar[File.Type]
    TYPE_FILE: _ClassVar[File.Type]
    TYPE_DIRECTORY: _ClassVar[File.Type]
    TYPE_LINK: _ClassVar[File.Type]
    TYPE_OTHER: _ClassVar[File.Type]

    path: _str
    """
    Path relative to the work directory, for the `path` of a call. Bytes of a name that are not UTF-8 are replaced, and no call
    opens such an entry.
    """
    type: File.Type
    """Type of the entry."""
    size_bytes: _int
    """Size, in bytes."""
    update_time: _Timestamp
    """Time of the last change of the content; unset for one outside the years 1 to 9999."""
    def __init__(self, *, path: _str | None = ..., type: File.Type | _str | None = ..., size_bytes: _int | None = ..., update_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["update_time"]) -> _bool: ...

class ListFilesRequest(_Message):
    """Request of ListFiles."""
    session_id: _str
    """Id of the session."""
    path: _str
    """Path of the directory; unset means the work directory."""
    page_size: _int
    """Maximum number of entries to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page, with the same path; unset means the first page."""
    def __init__(self, *, session_id: _str | None = ..., path: _str | None = ..., page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListFilesResponse(_Message):
    """Response of ListFiles."""
    files: _Messages[File]
    """The entries."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, files: _Iterable[File | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class ReadFileRequest(_Message):
    """Request of ReadFile."""
    session_id: _str
    """Id of the session."""
    path: _str
    """Path of the file."""
    def __init__(self, *, session_id: _str | None = ..., path: _str | None = ...) -> None: ...

class ReadFileResponse(_Message):
    """Response of ReadFile."""
    piece: _m_google_api.HttpBody
    """
    The next bytes of the file, in `data`; the only piece of an empty file has none. The first piece has the media type of the
    file's name in `content_type`.
    """
    def __init__(self, *, piece: _m_google_api.HttpBody | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["piece"]) -> _bool: ...

class FileService(_Service):
    """
    Reads the files in the work directory of a session: those that its agents have written, and those that were there before.

    A path is relative to the work directory, or absolute inside it, as for the file tools of agents, and has their rules:

    * INVALID_ARGUMENT when it leads out of the work directory, also by a link.
    * NOT_FOUND (FILE_NOT_FOUND) when nothing is there.
    * FAILED_PRECONDITION (FILE_REFUSED) for what the tools refuse: credentials such as `.ssh`, files of the service, devices, files
      with several hard links, and what the service has no permission to read.

    A session without a `work_dir` gets a directory of its own when a tool of it first works there, on the disk of the replica of that
    run. Before that, and on a replica with another disk, the calls give FAILED_PRECONDITION (WORK_DIR_UNAVAILABLE). With several
    replicas, operators set `sessions.work_root` to a directory that all of them share. A session of another client gives NOT_FOUND
    (SESSION_NOT_FOUND), and so does a deleted one.
    """
    def list_files(self, request: ListFilesRequest, *, timeout: _float | None = ...) -> ListFilesResponse:
        """
        Lists one directory, sorted by name, with hidden entries. FAILED_PRECONDITION (FILE_REFUSED) when it has more than 100,000
        entries. May be retried.
        """
        ...
    def read_file(self, request: ReadFileRequest, *, timeout: _float | None = ...) -> _Iterator[ReadFileResponse]:
        """
        Reads one file, in pieces.

        The stream has the bytes that the file has when the call begins, even if it grows meanwhile. It breaks off with ABORTED (BUSY)
        when the file becomes shorter. FAILED_PRECONDITION (FILE_REFUSED) for a directory, and for a file of more than 1 GiB. OK means
        that all bytes were delivered. May be retried.

        Over REST the answer is the file itself, with the media type of its name, and browsers save it. A connection that closes before
        the end of the answer means that bytes are missing.
        """
        ...

class AsyncFileService(_AsyncService):
    """
    Reads the files in the work directory of a session: those that its agents have written, and those that were there before.

    A path is relative to the work directory, or absolute inside it, as for the file tools of agents, and has their rules:

    * INVALID_ARGUMENT when it leads out of the work directory, also by a link.
    * NOT_FOUND (FILE_NOT_FOUND) when nothing is there.
    * FAILED_PRECONDITION (FILE_REFUSED) for what the tools refuse: credentials such as `.ssh`, files of the service, devices, files
      with several hard links, and what the service has no permission to read.

    A session without a `work_dir` gets a directory of its own when a tool of it first works there, on the disk of the replica of that
    run. Before that, and on a replica with another disk, the calls give FAILED_PRECONDITION (WORK_DIR_UNAVAILABLE). With several
    replicas, operators set `sessions.work_root` to a directory that all of them share. A session of another client gives NOT_FOUND
    (SESSION_NOT_FOUND), and so does a deleted one.
    """
    async def list_files(self, request: ListFilesRequest, *, timeout: _float | None = ...) -> ListFilesResponse:
        """
        Lists one directory, sorted by name, with hidden entries. FAILED_PRECONDITION (FILE_REFUSED) when it has more than 100,000
        entries. May be retried.
        """
        ...
    def read_file(self, request: ReadFileRequest, *, timeout: _float | None = ...) -> _AsyncIterator[ReadFileResponse]:
        """
        Reads one file, in pieces.

        The stream has the bytes that the file has when the call begins, even if it grows meanwhile. It breaks off with ABORTED (BUSY)
        when the file becomes shorter. FAILED_PRECONDITION (FILE_REFUSED) for a directory, and for a file of more than 1 GiB. OK means
        that all bytes were delivered. May be retried.

        Over REST the answer is the file itself, with the media type of its name, and browsers save it. A connection that closes before
        the end of the answer means that bytes are missing.
        """
        ...

class KnownMcpServer(_Message):
    """A server of the settings. Its headers, its program and the path of its URL stay secret."""
    class Transport(_int):
        """How the service talks to the server."""
        TRANSPORT_UNSPECIFIED: _ClassVar[KnownMcpServer.Transport]
        """Unspecified: not a valid transport."""
        TRANSPORT_HTTP: _ClassVar[KnownMcpServer.Transport]
        """Streamable HTTP."""
        TRANSPORT_SSE: _ClassVar[KnownMcpServer.Transport]
        """Server-sent events of the revision 2024-11-05."""
        TRANSPORT_STDIO: _ClassVar[KnownMcpServer.Transport]
        """Standard input and output of a program that the service runs."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> KnownMcpServer.Transport: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[KnownMcpServer.Transport]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, KnownMcpServer.Transport]]: ...
    TRANSPORT_UNSPECIFIED: _ClassVar[KnownMcpServer.Transport]
    TRANSPORT_HTTP: _ClassVar[KnownMcpServer.Transport]
    TRANSPORT_SSE: _ClassVar[KnownMcpServer.Transport]
    TRANSPORT_STDIO: _ClassVar[KnownMcpServer.Transport]

    name: _str
    """Name of the server, as `McpServer.name` takes it."""
    transport: KnownMcpServer.Transport
    """How the service talks to the server."""
    origin: _str
    """Scheme and host of its URL, such as `https://docs.example`; empty for a program."""
    def __init__(self, *, name: _str | None = ..., transport: KnownMcpServer.Transport | _str | None = ..., origin: _str | None = ...) -> None: ...

class McpTool(_Message):
    """A tool of a server."""
    name: _str
    """Name of the tool, as the server writes it."""
    tool_name: _str
    """Name that a model sees."""
    title: _str
    """Title for people; empty when the server gives none."""
    description: _str
    """What the tool does, in the words of the server."""
    input_schema: _str
    """JSON Schema of the arguments."""
    annotations: McpToolAnnotations
    """What the server says of the effects of the tool; unset when it says nothing. Nothing proves it."""
    def __init__(self, *, name: _str | None = ..., tool_name: _str | None = ..., title: _str | None = ..., description: _str | None = ..., input_schema: _str | None = ..., annotations: McpToolAnnotations | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["annotations"]) -> _bool: ...

class McpToolAnnotations(_Message):
    """What a server says of the effects of a tool. An unset field means that it does not say."""
    read_only: _bool
    """True for a tool that changes nothing."""
    destructive: _bool
    """True for a tool that may destroy something."""
    idempotent: _bool
    """True for a tool whose second call with the same arguments changes nothing more."""
    open_world: _bool
    """True for a tool that reaches beyond the server, such as into the web."""
    def __init__(self, *, read_only: _bool | None = ..., destructive: _bool | None = ..., idempotent: _bool | None = ..., open_world: _bool | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["read_only", "destructive", "idempotent", "open_world"]) -> _bool: ...

class ListMcpServersRequest(_Message):
    """Request of ListMcpServers."""
    def __init__(self) -> None: ...

class ListMcpServersResponse(_Message):
    """Response of ListMcpServers."""
    servers: _Messages[KnownMcpServer]
    """The servers."""
    def __init__(self, *, servers: _Iterable[KnownMcpServer | _Mapping[_str, _Any]] | None = ...) -> None: ...

class ListMcpToolsRequest(_Message):
    """Request of ListMcpTools."""
    server: McpServer
    """The server, as an agent gives it."""
    def __init__(self, *, server: McpServer | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["server"]) -> _bool: ...

class ListMcpToolsResponse(_Message):
    """Response of ListMcpTools."""
    tools: _Messages[McpTool]
    """The tools, at most 128, in the order of the server."""
    problems: _Scalars[_str]
    """Why the service leaves out other tools of the server, or parts of schemas."""
    def __init__(self, *, tools: _Iterable[McpTool | _Mapping[_str, _Any]] | None = ..., problems: _Iterable[_str] | None = ...) -> None: ...

class CallMcpToolRequest(_Message):
    """Request of CallMcpTool."""
    server: McpServer
    """The server, as an agent gives it. A tool that is not in its `allowed_tools` is not found."""
    tool: _str
    """Name of the tool, as the server writes it."""
    arguments: _str
    """Arguments as a JSON object; unset means none."""
    def __init__(self, *, server: McpServer | _Mapping[_str, _Any] | None = ..., tool: _str | None = ..., arguments: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["server"]) -> _bool: ...

class CallMcpToolResponse(_Message):
    """Response of CallMcpTool: what the log of a run has as the end of the call."""
    result: _str
    """
    Result of the tool, as in `ToolCallCompleted.result`: a JSON object with `content`, and with `media` and `structured_content` where
    the server returns them. Unset when the call failed.
    """
    error: _str
    """Why the call failed; unset when it succeeded."""
    def __init__(self, *, result: _str | None = ..., error: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["result", "error"]) -> _bool: ...

class McpService(_Service):
    """
    Works on servers of the Model Context Protocol, as the agents of the calling client reach them: the same servers of the settings, the
    same hosts and the same limits. Who may start a run with a server may list and call its tools here.
    """
    def list_mcp_servers(self, request: ListMcpServersRequest, *, timeout: _float | None = ...) -> ListMcpServersResponse:
        """Lists the servers of the setting `mcp.servers` that agents of the client may name, in its order. No server is asked. May be retried."""
        ...
    def list_mcp_tools(self, request: ListMcpToolsRequest, *, timeout: _float | None = ...) -> ListMcpToolsResponse:
        """
        Connects to a server and lists its tools, as a run with this server would get them. NOT_FOUND (MCP_SERVER_NOT_FOUND) for a name that
        the settings lack; UNAVAILABLE (MCP_SERVER_FAILED) when the server cannot be reached or gives no list. May be retried.

        A server that is a program works where sessions do that name no directory, if they share one; otherwise in a directory that the
        client has for such calls.
        """
        ...
    def call_mcp_tool(self, request: CallMcpToolRequest, *, timeout: _float | None = ...) -> CallMcpToolResponse:
        """
        Connects to a server and calls one of its tools, for at most 45 seconds, or the `timeout_sec` of the server when this is shorter.
        No model has a part in it, no run and no log exist, and the call waits for no approval. A tool that fails is an answer with `error`,
        and so are arguments that its schema refuses.

        Errors as in ListMcpTools, and NOT_FOUND (MCP_TOOL_NOT_FOUND) for a tool that the server lacks. A retry calls the tool again.
        """
        ...

class AsyncMcpService(_AsyncService):
    """
    Works on servers of the Model Context Protocol, as the agents of the calling client reach them: the same servers of the settings, the
    same hosts and the same limits. Who may start a run with a server may list and call its tools here.
    """
    async def list_mcp_servers(self, request: ListMcpServersRequest, *, timeout: _float | None = ...) -> ListMcpServersResponse:
        """Lists the servers of the setting `mcp.servers` that agents of the client may name, in its order. No server is asked. May be retried."""
        ...
    async def list_mcp_tools(self, request: ListMcpToolsRequest, *, timeout: _float | None = ...) -> ListMcpToolsResponse:
        """
        Connects to a server and lists its tools, as a run with this server would get them. NOT_FOUND (MCP_SERVER_NOT_FOUND) for a name that
        the settings lack; UNAVAILABLE (MCP_SERVER_FAILED) when the server cannot be reached or gives no list. May be retried.

        A server that is a program works where sessions do that name no directory, if they share one; otherwise in a directory that the
        client has for such calls.
        """
        ...
    async def call_mcp_tool(self, request: CallMcpToolRequest, *, timeout: _float | None = ...) -> CallMcpToolResponse:
        """
        Connects to a server and calls one of its tools, for at most 45 seconds, or the `timeout_sec` of the server when this is shorter.
        No model has a part in it, no run and no log exist, and the call waits for no approval. A tool that fails is an answer with `error`,
        and so are arguments that its schema refuses.

        Errors as in ListMcpTools, and NOT_FOUND (MCP_TOOL_NOT_FOUND) for a tool that the server lacks. A retry calls the tool again.
        """
        ...

class GetMemoryRequest(_Message):
    """Request of GetMemory."""
    session_id: _str
    """Id of the session whose memory it is. Set `session_id` or `agent`; with neither, it is the memory of the client."""
    agent: _str
    """Name of the agent whose memory it is."""
    key: _str
    """Key of the entry."""
    def __init__(self, *, session_id: _str | None = ..., agent: _str | None = ..., key: _str | None = ...) -> None: ...

class GetMemoryResponse(_Message):
    """Response of GetMemory."""
    entry: MemoryEntry
    """The entry."""
    def __init__(self, *, entry: MemoryEntry | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["entry"]) -> _bool: ...

class ListMemoryRequest(_Message):
    """Request of ListMemory."""
    session_id: _str
    """Id of the session whose memory it is. Set `session_id` or `agent`; with neither, it is the memory of the client."""
    agent: _str
    """Name of the agent whose memory it is."""
    key_prefix: _str
    """Lists only keys that start with this text."""
    page_size: _int
    """Maximum number of entries to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, session_id: _str | None = ..., agent: _str | None = ..., key_prefix: _str | None = ..., page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListMemoryResponse(_Message):
    """Response of ListMemory."""
    entries: _Messages[MemoryEntry]
    """The entries, without their values."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, entries: _Iterable[MemoryEntry | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class SearchMemoryRequest(_Message):
    """Request of SearchMemory."""
    session_id: _str
    """Id of the session whose memory it is. Set `session_id` or `agent`; with neither, it is the memory of the client."""
    agent: _str
    """Name of the agent whose memory it is."""
    query: _str
    """One to eight words, separated by spaces, at most 256 characters. A word is found inside of words too."""
    limit: _int
    """Maximum number of entries to return: 1 to 20; 0 means 10."""
    def __init__(self, *, session_id: _str | None = ..., agent: _str | None = ..., query: _str | None = ..., limit: _int | None = ...) -> None: ...

class SearchMemoryResponse(_Message):
    """Response of SearchMemory."""
    matches: _Messages[MemoryMatch]
    """The entries that were found, the newest first."""
    def __init__(self, *, matches: _Iterable[MemoryMatch | _Mapping[_str, _Any]] | None = ...) -> None: ...

class MemoryMatch(_Message):
    """An entry that a search has found."""
    entry: MemoryEntry
    """The entry, without its value."""
    excerpt: _str
    """Up to 300 characters of the value, around the first word that was found in it."""
    def __init__(self, *, entry: MemoryEntry | _Mapping[_str, _Any] | None = ..., excerpt: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["entry"]) -> _bool: ...

class WriteMemoryRequest(_Message):
    """Request of WriteMemory."""
    session_id: _str
    """Id of the session whose memory it is. Set `session_id` or `agent`; with neither, it is the memory of the client."""
    agent: _str
    """Name of the agent whose memory it is."""
    key: _str
    """Key of the entry: 1 to 255 characters without control characters."""
    value: _str
    """The value: any JSON, at most 65,536 bytes."""
    if_version: _int
    """The version that the entry must have; 0 means that it must not exist. Unset writes in any case."""
    def __init__(self, *, session_id: _str | None = ..., agent: _str | None = ..., key: _str | None = ..., value: _str | None = ..., if_version: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["if_version"]) -> _bool: ...

class WriteMemoryResponse(_Message):
    """Response of WriteMemory."""
    entry: MemoryEntry
    """The entry with its new version, without its value."""
    def __init__(self, *, entry: MemoryEntry | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["entry"]) -> _bool: ...

class DeleteMemoryRequest(_Message):
    """Request of DeleteMemory."""
    session_id: _str
    """Id of the session whose memory it is. Set `session_id` or `agent`; with neither, it is the memory of the client."""
    agent: _str
    """Name of the agent whose memory it is."""
    key: _str
    """Key of the entry."""
    if_version: _int
    """The version that the entry must have; unset deletes it in any case."""
    def __init__(self, *, session_id: _str | None = ..., agent: _str | None = ..., key: _str | None = ..., if_version: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["if_version"]) -> _bool: ...

class DeleteMemoryResponse(_Message):
    """Response of DeleteMemory."""
    def __init__(self) -> None: ...

class MemoryService(_Service):
    """
    Works on the memories of the calling client: of its sessions, of its agents, and its own. Agents reach the same entries with the tools
    `memory_read`, `memory_write` and `memory_search`. A session of another client gives NOT_FOUND with reason SESSION_NOT_FOUND,
    exactly as an unknown or a deleted one.
    """
    def get_memory(self, request: GetMemoryRequest, *, timeout: _float | None = ...) -> GetMemoryResponse:
        """Returns one entry. NOT_FOUND (MEMORY_NOT_FOUND) when the memory has no entry with that key."""
        ...
    def list_memory(self, request: ListMemoryRequest, *, timeout: _float | None = ...) -> ListMemoryResponse:
        """Lists the entries of a memory without their values, in the order of the bytes of their keys."""
        ...
    def search_memory(self, request: SearchMemoryRequest, *, timeout: _float | None = ...) -> SearchMemoryResponse:
        """
        Returns the entries whose key or value has all words of a query, the newest first. The case of letters does not matter. It looks
        through all entries of the memory, at most 2 MiB.
        """
        ...
    def write_memory(self, request: WriteMemoryRequest, *, timeout: _float | None = ...) -> WriteMemoryResponse:
        """
        Writes an entry: creates it, or replaces its value. ABORTED (MEMORY_CHANGED) when `if_version` is set and is not the version of the
        entry; RESOURCE_EXHAUSTED (PAYLOAD_TOO_LARGE) for a value of more than 65,536 bytes; FAILED_PRECONDITION (MEMORY_FULL) when the
        memory has no room. A refused call changes nothing. A retry writes the same value again, with a new version; a retry with
        `if_version` gives MEMORY_CHANGED when the first attempt has written.
        """
        ...
    def delete_memory(self, request: DeleteMemoryRequest, *, timeout: _float | None = ...) -> DeleteMemoryResponse:
        """
        Deletes an entry. NOT_FOUND (MEMORY_NOT_FOUND) when the memory has no entry with that key; ABORTED (MEMORY_CHANGED) as in
        WriteMemory.
        """
        ...

class AsyncMemoryService(_AsyncService):
    """
    Works on the memories of the calling client: of its sessions, of its agents, and its own. Agents reach the same entries with the tools
    `memory_read`, `memory_write` and `memory_search`. A session of another client gives NOT_FOUND with reason SESSION_NOT_FOUND,
    exactly as an unknown or a deleted one.
    """
    async def get_memory(self, request: GetMemoryRequest, *, timeout: _float | None = ...) -> GetMemoryResponse:
        """Returns one entry. NOT_FOUND (MEMORY_NOT_FOUND) when the memory has no entry with that key."""
        ...
    async def list_memory(self, request: ListMemoryRequest, *, timeout: _float | None = ...) -> ListMemoryResponse:
        """Lists the entries of a memory without their values, in the order of the bytes of their keys."""
        ...
    async def search_memory(self, request: SearchMemoryRequest, *, timeout: _float | None = ...) -> SearchMemoryResponse:
        """
        Returns the entries whose key or value has all words of a query, the newest first. The case of letters does not matter. It looks
        through all entries of the memory, at most 2 MiB.
        """
        ...
    async def write_memory(self, request: WriteMemoryRequest, *, timeout: _float | None = ...) -> WriteMemoryResponse:
        """
        Writes an entry: creates it, or replaces its value. ABORTED (MEMORY_CHANGED) when `if_version` is set and is not the version of the
        entry; RESOURCE_EXHAUSTED (PAYLOAD_TOO_LARGE) for a value of more than 65,536 bytes; FAILED_PRECONDITION (MEMORY_FULL) when the
        memory has no room. A refused call changes nothing. A retry writes the same value again, with a new version; a retry with
        `if_version` gives MEMORY_CHANGED when the first attempt has written.
        """
        ...
    async def delete_memory(self, request: DeleteMemoryRequest, *, timeout: _float | None = ...) -> DeleteMemoryResponse:
        """
        Deletes an entry. NOT_FOUND (MEMORY_NOT_FOUND) when the memory has no entry with that key; ABORTED (MEMORY_CHANGED) as in
        WriteMemory.
        """
        ...

class Message(_Message):
    """A message of a conversation (LangBot AgentRunner Protocol v1, §7.2 `Message`)."""
    role: _str
    """Role of the speaker, usually `user`, `assistant` or `tool`. Other values are accepted."""
    name: _str
    """Name of the speaker."""
    text: _str
    """Plain text."""
    parts: ContentParts
    """Several parts, for instance text and images."""
    tool_calls: _Messages[ToolCall]
    """Tool calls that the message requests, in order."""
    tool_call_id: _str
    """Id of the tool call that a `tool` message answers."""
    resp_message_id: _str
    """Id of the response, assigned by the provider."""
    provider_specific_fields: _str
    """Data that the provider must get back unchanged, as a JSON object."""
    is_error: _bool
    """True when the tool call that a `tool` message answers failed."""
    source: _str
    """
    The whole message as its runner wrote it, a JSON object. Set where the other fields do not hold all of it. Unset for
    messages that the service itself made.
    """
    id: _str
    """Id of the message, chosen by its sender; the service only keeps it."""
    citations: _Messages[Citation]
    """Sources that a model cites in its text, in the order of the provider: at most 256."""
    logprobs: _Messages[TokenLogprob]
    """
    Log probabilities of the tokens of a model's text, in its order. Set in `message.completed` alone, when the provider sent them; see
    `Agent.top_logprobs`. The service keeps about 1 MiB of them here, those of the first tokens. The chunks of a longer text have all.
    """
    def __init__(self, *, role: _str | None = ..., name: _str | None = ..., text: _str | None = ..., parts: ContentParts | _Mapping[_str, _Any] | None = ..., tool_calls: _Iterable[ToolCall | _Mapping[_str, _Any]] | None = ..., tool_call_id: _str | None = ..., resp_message_id: _str | None = ..., provider_specific_fields: _str | None = ..., is_error: _bool | None = ..., source: _str | None = ..., id: _str | None = ..., citations: _Iterable[Citation | _Mapping[_str, _Any]] | None = ..., logprobs: _Iterable[TokenLogprob | _Mapping[_str, _Any]] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["name", "text", "parts", "tool_call_id", "resp_message_id", "provider_specific_fields", "is_error", "source", "id", "content"]) -> _bool: ...
    def WhichOneof(self, oneof_group: _Literal["content"]) -> _Literal["text", "parts"] | None: ...

class TokenLogprob(_Message):
    """How likely a model held a token of its text to be."""
    token: _str
    """The token as text."""
    logprob: _float
    """Natural logarithm of its probability."""
    bytes: _bytes
    """The bytes of the token in UTF-8; a character may have several tokens. Unset where the provider gives none."""
    top: _Messages[TopLogprob]
    """The likeliest tokens of this place, the likeliest first: at most 20. The chosen token may be absent."""
    def __init__(self, *, token: _str | None = ..., logprob: _float | None = ..., bytes: _bytes | None = ..., top: _Iterable[TopLogprob | _Mapping[_str, _Any]] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["bytes"]) -> _bool: ...

class TopLogprob(_Message):
    """One of the likeliest tokens of a place in a text."""
    token: _str
    """The token as text."""
    logprob: _float
    """Natural logarithm of its probability."""
    bytes: _bytes
    """The bytes of the token in UTF-8. Unset where the provider gives none."""
    def __init__(self, *, token: _str | None = ..., logprob: _float | None = ..., bytes: _bytes | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["bytes"]) -> _bool: ...

class Citation(_Message):
    """A source that a model cites."""
    url: _str
    """URL of the source; empty for a document of the conversation."""
    title: _str
    """Title of the source."""
    text: _str
    """The words of the source that are cited, where the provider gives them."""
    start: _int
    """Place of the first character of the message's text that the source supports; unset where the provider gives none."""
    end: _int
    """Place after the last such character."""
    def __init__(self, *, url: _str | None = ..., title: _str | None = ..., text: _str | None = ..., start: _int | None = ..., end: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["start", "end"]) -> _bool: ...

class MessageChunk(_Message):
    """
    A chunk of a message while its runner writes it (LangBot AgentRunner Protocol v1, §7.2 `MessageChunk`).

    In a log, `content` is always an increment: the text of a message is the `content` of its chunks, joined. Runners differ.
    Some send increments, some send the text so far (a snapshot), and some send increments and then the whole text with
    `is_final`. The host turns all of these into increments before they enter the log:

    1. `all_content`, where a runner sends it, is the text so far.
    2. Otherwise a chunk that begins with all text so far and is longer is a snapshot. The host then reads the chunks of this
       message as snapshots. Any other second chunk makes the host read them as increments.
    3. A chunk with `is_final` that begins with all text so far, or differs from it only in outer white space, is the whole text.
    4. After `is_final` or `message.completed` a new message begins. A snapshot that begins with the text of the previous message
       continues that message.

    An increment that begins with all text so far, such as `10` after `1`, looks like a snapshot. `DeliveryPolicy.chunk_content`
    of the binding, or `metadata.chunk_content` of the manifest, declares which of the two the runner sends.
    """
    role: _str
    """Role of the speaker."""
    content: _str
    """The text that is new with this chunk. Empty when the runner repeated text that it had already sent."""
    all_content: _str
    """The text so far, which a runner may report. Never set in a log, where `content` holds the increment."""
    is_final: _bool
    """True on the last chunk of a message."""
    msg_sequence: _int
    """Number that the runner assigned. Some runners number messages and others number chunks, so readers cannot rely on it."""
    tool_calls: _Messages[ToolCall]
    """Tool calls that arrived with the chunk."""
    provider_specific_fields: _str
    """Data that the provider must get back unchanged, as a JSON object."""
    source: _str
    """The chunk as its runner wrote it, a JSON object without its text. Set where the other fields do not hold all of it."""
    replaces_text: _bool
    """
    True when the runner revised its text: `content` replaces the text of all chunks since the last `message.completed`, or
    since the start of the run.
    """
    logprobs: _Messages[TokenLogprob]
    """
    Log probabilities of tokens that arrived with the chunk. Joined over the chunks of a message, they are those of its text; a chunk
    may have some whose text came in another chunk, or no text at all.
    """
    def __init__(self, *, role: _str | None = ..., content: _str | None = ..., all_content: _str | None = ..., is_final: _bool | None = ..., msg_sequence: _int | None = ..., tool_calls: _Iterable[ToolCall | _Mapping[_str, _Any]] | None = ..., provider_specific_fields: _str | None = ..., source: _str | None = ..., replaces_text: _bool | None = ..., logprobs: _Iterable[TokenLogprob | _Mapping[_str, _Any]] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["all_content", "provider_specific_fields", "source"]) -> _bool: ...

class ContentParts(_Message):
    """The parts of a message, in order."""
    elements: _Messages[ContentElement]
    """The parts."""
    def __init__(self, *, elements: _Iterable[ContentElement | _Mapping[_str, _Any]] | None = ...) -> None: ...

class ContentElement(_Message):
    """One part of a message. `type` says which of the other fields applies. Unknown types are kept."""
    type: _str
    """`text`, `image_url`, `image_base64`, `file_url`, `file_base64`, or a type of the runner's own."""
    text: _str
    """The text of a `text` part."""
    image_url: _str
    """URL of the image of an `image_url` part."""
    image_base64: _str
    """The image of an `image_base64` part, in base64."""
    file_url: _str
    """URL of the file of a `file_url` part."""
    file_base64: _str
    """The file of a `file_base64` part, in base64."""
    file_name: _str
    """Name of the file."""
    def __init__(self, *, type: _str | None = ..., text: _str | None = ..., image_url: _str | None = ..., image_base64: _str | None = ..., file_url: _str | None = ..., file_base64: _str | None = ..., file_name: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["text", "image_url", "image_base64", "file_url", "file_base64", "file_name"]) -> _bool: ...

class ToolCall(_Message):
    """A tool call that a model requests."""
    id: _str
    """Id of the call, unique in its message."""
    name: _str
    """Name of the tool."""
    arguments: _str
    """Arguments as the model wrote them: JSON text that may be malformed."""
    provider_specific_fields: _str
    """Data that the provider must get back unchanged, as a JSON object."""
    def __init__(self, *, id: _str | None = ..., name: _str | None = ..., arguments: _str | None = ..., provider_specific_fields: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["provider_specific_fields"]) -> _bool: ...

class ModelCall(_Message):
    """
    One HTTP exchange with a provider of models, as it was: the body that was sent, and the bytes that came back.

    `[redacted]` takes the place of secrets of the service, of credentials inside the body, and of texts that look like a credential.
    """
    call_id: _str
    """Id of the call. Ids sort by the time of the request."""
    turn: _int
    """Turn of the run that the call belongs to, from 1 on. A turn has several calls when the first ones failed or were continued."""
    provider: _str
    """Name of the provider, as in `provider:model`."""
    model: _str
    """The provider's own name of the model."""
    create_time: _Timestamp
    """Time of the request."""
    duration_ms: _int
    """Time from the request until the service had read its answer, in milliseconds."""
    path: _str
    """Path of the request below the base URL of the provider."""
    request_headers: _str
    """Headers of the request, one a line: `accept: text/event-stream`. Those that carry credentials are left out."""
    request: _str
    """The body of the request."""
    request_size_bytes: _int
    """Size of the body as it was sent, in bytes."""
    request_cut: _bool
    """True when `request` is the beginning of the body."""
    status: _int
    """HTTP status of the answer; 0 without an answer."""
    answer_headers: _str
    """Headers of the answer, one a line. Those that carry credentials are left out."""
    answer: _str
    """The answer as it arrived: mostly the text of server-sent events."""
    answer_size_bytes: _int
    """Size of the answer that the service has read, in bytes."""
    answer_cut: _bool
    """True when `answer` is the beginning of what the service has read."""
    error: _str
    """Why the call gave no response; empty for one that gave one."""
    def __init__(self, *, call_id: _str | None = ..., turn: _int | None = ..., provider: _str | None = ..., model: _str | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ..., duration_ms: _int | None = ..., path: _str | None = ..., request_headers: _str | None = ..., request: _str | None = ..., request_size_bytes: _int | None = ..., request_cut: _bool | None = ..., status: _int | None = ..., answer_headers: _str | None = ..., answer: _str | None = ..., answer_size_bytes: _int | None = ..., answer_cut: _bool | None = ..., error: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["create_time"]) -> _bool: ...

class Provider(_Message):
    """One account at one model provider."""
    class Circuit(_int):
        """State of a circuit breaker."""
        CIRCUIT_UNSPECIFIED: _ClassVar[Provider.Circuit]
        """Unspecified: not a valid state."""
        CIRCUIT_CLOSED: _ClassVar[Provider.Circuit]
        """Requests are sent."""
        CIRCUIT_OPEN: _ClassVar[Provider.Circuit]
        """Requests are refused until `retry_time`."""
        CIRCUIT_HALF_OPEN: _ClassVar[Provider.Circuit]
        """One request is sent to test whether the provider has recovered."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> Provider.Circuit: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[Provider.Circuit]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, Provider.Circuit]]: ...
    CIRCUIT_UNSPECIFIED: _ClassVar[Provider.Circuit]
    CIRCUIT_CLOSED: _ClassVar[Provider.Circuit]
    CIRCUIT_OPEN: _ClassVar[Provider.Circuit]
    CIRCUIT_HALF_OPEN: _ClassVar[Provider.Circuit]

    name: _str
    """Name of the provider, as in `provider:model`."""
    configured: _bool
    """True when the provider can be used: it has a key, or a base URL of its own is set."""
    circuit: Provider.Circuit
    """State of its worst circuit breaker; unset when the provider is not configured."""
    failures: _int
    """Number of failures that this circuit breaker has counted."""
    retry_time: _Timestamp
    """Time when this circuit breaker, if it is open, lets a request through again."""
    def __init__(self, *, name: _str | None = ..., configured: _bool | None = ..., circuit: Provider.Circuit | _str | None = ..., failures: _int | None = ..., retry_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["retry_time"]) -> _bool: ...

class KnownModel(_Message):
    """A model that an agent may name."""
    name: _str
    """Name of the model, as `Agent.model` takes it."""
    provider: _str
    """Name of its provider."""
    context_tokens: _int
    """Size of its context in tokens."""
    def __init__(self, *, name: _str | None = ..., provider: _str | None = ..., context_tokens: _int | None = ...) -> None: ...

class ListModelsRequest(_Message):
    """Request of ListModels."""
    def __init__(self) -> None: ...

class ListModelsResponse(_Message):
    """Response of ListModels."""
    models: _Messages[KnownModel]
    """The models; the default model of the service is the first."""
    def __init__(self, *, models: _Iterable[KnownModel | _Mapping[_str, _Any]] | None = ...) -> None: ...

class CountTokensRequest(_Message):
    """Request of CountTokens."""
    agent: Agent
    """The agent. Remote tools, and those of MCP servers, do not count."""
    messages: _Messages[Message]
    """The messages of the conversation."""
    def __init__(self, *, agent: Agent | _Mapping[_str, _Any] | None = ..., messages: _Iterable[Message | _Mapping[_str, _Any]] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["agent"]) -> _bool: ...

class CountTokensResponse(_Message):
    """Response of CountTokens."""
    input_tokens: _int
    """Number of input tokens."""
    def __init__(self, *, input_tokens: _int | None = ...) -> None: ...

class GetModelRequest(_Message):
    """Request of GetModel."""
    name: _str
    """Name of the model."""
    def __init__(self, *, name: _str | None = ...) -> None: ...

class GetModelResponse(_Message):
    """Response of GetModel."""
    model: KnownModel
    """The model."""
    def __init__(self, *, model: KnownModel | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["model"]) -> _bool: ...

class ListProvidersRequest(_Message):
    """Request of ListProviders."""
    def __init__(self) -> None: ...

class ListProvidersResponse(_Message):
    """Response of ListProviders."""
    providers: _Messages[Provider]
    """The providers, in the order in which model names are matched."""
    def __init__(self, *, providers: _Iterable[Provider | _Mapping[_str, _Any]] | None = ...) -> None: ...

class ProviderService(_Service):
    """Works on model providers and their models, as seen by the replica that answers."""
    def list_providers(self, request: ListProvidersRequest, *, timeout: _float | None = ...) -> ListProvidersResponse:
        """
        Lists the model providers with their configuration state and the state of their circuit breakers. Each replica has its own
        circuit breakers: for each model one of each client, and one of all clients. The worst one is shown. May be retried.
        """
        ...
    def list_models(self, request: ListModelsRequest, *, timeout: _float | None = ...) -> ListModelsResponse:
        """Lists the models that are known in advance, of the configured providers, and the default model. Other names work too."""
        ...
    def count_tokens(self, request: CountTokensRequest, *, timeout: _float | None = ...) -> CountTokensResponse:
        """
        Counts the input tokens of a request to a model, without sending it. A provider that counts itself is asked, for at most 5 seconds.
        Otherwise the result is the service's estimate: about a quarter may be missing or too much. INVALID_ARGUMENT (MODEL_UNSUPPORTED)
        for an unknown model. May be retried.
        """
        ...
    def get_model(self, request: GetModelRequest, *, timeout: _float | None = ...) -> GetModelResponse:
        """
        Returns a model by any name that `Agent.model` takes, whether it is known in advance or not. INVALID_ARGUMENT
        (MODEL_UNSUPPORTED) when the name is unknown, or its provider is not configured. The provider is not asked. May be retried.
        """
        ...

class AsyncProviderService(_AsyncService):
    """Works on model providers and their models, as seen by the replica that answers."""
    async def list_providers(self, request: ListProvidersRequest, *, timeout: _float | None = ...) -> ListProvidersResponse:
        """
        Lists the model providers with their configuration state and the state of their circuit breakers. Each replica has its own
        circuit breakers: for each model one of each client, and one of all clients. The worst one is shown. May be retried.
        """
        ...
    async def list_models(self, request: ListModelsRequest, *, timeout: _float | None = ...) -> ListModelsResponse:
        """Lists the models that are known in advance, of the configured providers, and the default model. Other names work too."""
        ...
    async def count_tokens(self, request: CountTokensRequest, *, timeout: _float | None = ...) -> CountTokensResponse:
        """
        Counts the input tokens of a request to a model, without sending it. A provider that counts itself is asked, for at most 5 seconds.
        Otherwise the result is the service's estimate: about a quarter may be missing or too much. INVALID_ARGUMENT (MODEL_UNSUPPORTED)
        for an unknown model. May be retried.
        """
        ...
    async def get_model(self, request: GetModelRequest, *, timeout: _float | None = ...) -> GetModelResponse:
        """
        Returns a model by any name that `Agent.model` takes, whether it is known in advance or not. INVALID_ARGUMENT
        (MODEL_UNSUPPORTED) when the name is unknown, or its provider is not configured. The provider is not asked. May be retried.
        """
        ...

class GetReceiptRequest(_Message):
    """Request of GetReceipt."""
    run_id: _str
    """Id of the run."""
    def __init__(self, *, run_id: _str | None = ...) -> None: ...

class GetReceiptResponse(_Message):
    """Response of GetReceipt: the content of a file for `runnel verify`."""
    jws: _str
    """The signed statement as a compact JWS (RFC 7515). One of the keys of ReceiptService.GetJwks verifies it."""
    statement: _str
    """The statement as a JSON object, for people. It is not signed: a program that relies on the statement reads it from `jws`."""
    def __init__(self, *, jws: _str | None = ..., statement: _str | None = ...) -> None: ...

class GetJwksRequest(_Message):
    """Request of GetJwks."""
    def __init__(self) -> None: ...

class GetJwksResponse(_Message):
    """Response of GetJwks."""
    keys: _Messages[Jwk]
    """The keys, newest first."""
    def __init__(self, *, keys: _Iterable[Jwk | _Mapping[_str, _Any]] | None = ...) -> None: ...

class ReceiptService(_Service):
    """Works on receipts, the signed statements about the logs of ended runs, and on the public keys that verify them."""
    def get_receipt(self, request: GetReceiptRequest, *, timeout: _float | None = ...) -> GetReceiptResponse:
        """
        Returns the receipt of a run: a signed statement about its log.

        The statement has the number of the log's entries by type, the hashes of the first and the last entry, and how the run
        ended. For a run of a job it also says which signed JobSpec the run worked on. With only the receipt and the log, `runnel
        verify` finds any entry that is missing, changed or out of order, without calling a service.

        FAILED_PRECONDITION (RUN_ACTIVE) until the run has ended. FAILED_PRECONDITION (RECEIPT_UNAVAILABLE) when the log was purged
        or was not hash-chained. DATA_LOSS (LOG_DAMAGED) when the stored log differs from the log that was written. May be retried.
        """
        ...
    def get_jwks(self, request: GetJwksRequest, *, timeout: _float | None = ...) -> GetJwksResponse:
        """Returns the public keys that verify receipts, newest first (RFC 7517). Needs no credentials."""
        ...

class AsyncReceiptService(_AsyncService):
    """Works on receipts, the signed statements about the logs of ended runs, and on the public keys that verify them."""
    async def get_receipt(self, request: GetReceiptRequest, *, timeout: _float | None = ...) -> GetReceiptResponse:
        """
        Returns the receipt of a run: a signed statement about its log.

        The statement has the number of the log's entries by type, the hashes of the first and the last entry, and how the run
        ended. For a run of a job it also says which signed JobSpec the run worked on. With only the receipt and the log, `runnel
        verify` finds any entry that is missing, changed or out of order, without calling a service.

        FAILED_PRECONDITION (RUN_ACTIVE) until the run has ended. FAILED_PRECONDITION (RECEIPT_UNAVAILABLE) when the log was purged
        or was not hash-chained. DATA_LOSS (LOG_DAMAGED) when the stored log differs from the log that was written. May be retried.
        """
        ...
    async def get_jwks(self, request: GetJwksRequest, *, timeout: _float | None = ...) -> GetJwksResponse:
        """Returns the public keys that verify receipts, newest first (RFC 7517). Needs no credentials."""
        ...

class RunResult(_Message):
    """
    One entry of a run's log. Entries are immutable. The service encodes an entry once, and every reader gets those bytes, except one that
    asks for less of its text.
    """
    run_id: _str
    """Id of the run that the entry belongs to."""
    sequence: _int
    """Position in the log: 1, 2, 3 … without a gap, in the order in which the entries became durable."""
    create_time: _Timestamp
    """Time when the entry was created, by the clock of the replica that owned the run."""
    usage: Usage
    """Tokens that this step used; set where a model was called."""
    purged_sha256: _str
    """
    SHA-256 of the original entry, lower-case hex. Set when the session was purged: type and numbers are unchanged, every text
    is erased.
    """
    runner_sequence: _int
    """Number that the runner assigned to the result; 0 for results of the host."""
    bytes_left_out: _int
    """
    Number of bytes in UTF-8 of the entry's text that are left out, because `text_chars_max` of TailRun asked for no more. The log has the
    whole entry, and the hash chain of a receipt covers it.
    """
    message_delta: MessageDelta
    """A piece of text while it is being written."""
    message_completed: MessageCompleted
    """A complete message."""
    tool_call_started: ToolCallStarted
    """A tool is about to be called."""
    tool_call_completed: ToolCallCompleted
    """A tool call ended."""
    artifact_created: ArtifactCreated
    """The run created a file or another artifact."""
    state_updated: StateUpdated
    """The run changed a value of the host's state."""
    action_requested: ActionRequested
    """The run requests an action of the platform. The service records the request and never executes it."""
    run_completed: RunCompleted
    """The run ended successfully."""
    run_failed: RunFailed
    """The run failed or was cancelled."""
    reasoning_delta: ReasoningDelta
    """A piece of the model's reasoning while it is being written."""
    turn_started: TurnStarted
    """A turn of the loop began."""
    turn_restarted: TurnRestarted
    """A turn began again because the replica that ran it was lost."""
    run_waiting: RunWaiting
    """The run is parked until an event occurs or a time is reached."""
    approval_requested: ApprovalRequested
    """The run asks for the approval of an action."""
    result_lost: ResultLost
    """The database has lost an entry that the service had acknowledged."""
    tool_call_progress: ToolCallProgress
    """A call of a tool has got further."""
    child_run_started: ChildRunStarted
    """A tool call started a child run."""
    context_compacted: ContextCompacted
    """A summary took the place of the oldest messages."""
    handoff_completed: HandoffCompleted
    """The agent handed the conversation over."""
    plan_updated: PlanUpdated
    """The run changed its plan."""
    skills_listed: SkillsListed
    """The skills that the agent may use, or changes of them."""
    tools_changed: ToolsChanged
    """An MCP server has other tools than the run."""
    extension: Extension
    """A result of a type that this version does not know, kept as it arrived."""
    def __init__(self, *, run_id: _str | None = ..., sequence: _int | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ..., usage: Usage | _Mapping[_str, _Any] | None = ..., purged_sha256: _str | None = ..., runner_sequence: _int | None = ..., bytes_left_out: _int | None = ..., message_delta: MessageDelta | _Mapping[_str, _Any] | None = ..., message_completed: MessageCompleted | _Mapping[_str, _Any] | None = ..., tool_call_started: ToolCallStarted | _Mapping[_str, _Any] | None = ..., tool_call_completed: ToolCallCompleted | _Mapping[_str, _Any] | None = ..., artifact_created: ArtifactCreated | _Mapping[_str, _Any] | None = ..., state_updated: StateUpdated | _Mapping[_str, _Any] | None = ..., action_requested: ActionRequested | _Mapping[_str, _Any] | None = ..., run_completed: RunCompleted | _Mapping[_str, _Any] | None = ..., run_failed: RunFailed | _Mapping[_str, _Any] | None = ..., reasoning_delta: ReasoningDelta | _Mapping[_str, _Any] | None = ..., turn_started: TurnStarted | _Mapping[_str, _Any] | None = ..., turn_restarted: TurnRestarted | _Mapping[_str, _Any] | None = ..., run_waiting: RunWaiting | _Mapping[_str, _Any] | None = ..., approval_requested: ApprovalRequested | _Mapping[_str, _Any] | None = ..., result_lost: ResultLost | _Mapping[_str, _Any] | None = ..., tool_call_progress: ToolCallProgress | _Mapping[_str, _Any] | None = ..., child_run_started: ChildRunStarted | _Mapping[_str, _Any] | None = ..., context_compacted: ContextCompacted | _Mapping[_str, _Any] | None = ..., handoff_completed: HandoffCompleted | _Mapping[_str, _Any] | None = ..., plan_updated: PlanUpdated | _Mapping[_str, _Any] | None = ..., skills_listed: SkillsListed | _Mapping[_str, _Any] | None = ..., tools_changed: ToolsChanged | _Mapping[_str, _Any] | None = ..., extension: Extension | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["create_time", "usage", "message_delta", "message_completed", "tool_call_started", "tool_call_completed", "artifact_created", "state_updated", "action_requested", "run_completed", "run_failed", "reasoning_delta", "turn_started", "turn_restarted", "run_waiting", "approval_requested", "result_lost", "tool_call_progress", "child_run_started", "context_compacted", "handoff_completed", "plan_updated", "skills_listed", "tools_changed", "extension", "payload"]) -> _bool: ...
    def WhichOneof(self, oneof_group: _Literal["payload"]) -> _Literal["message_delta", "message_completed", "tool_call_started", "tool_call_completed", "artifact_created", "state_updated", "action_requested", "run_completed", "run_failed", "reasoning_delta", "turn_started", "turn_restarted", "run_waiting", "approval_requested", "result_lost", "tool_call_progress", "child_run_started", "context_compacted", "handoff_completed", "plan_updated", "skills_listed", "tools_changed", "extension"] | None: ...

class MessageDelta(_Message):
    """`message.delta` (LangBot AgentRunner Protocol v1, §7.2)."""
    chunk: MessageChunk
    """The new chunk; its `content` is an increment. Adjacent chunks of one message may be merged before they enter the log."""
    def __init__(self, *, chunk: MessageChunk | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["chunk"]) -> _bool: ...

class MessageCompleted(_Message):
    """`message.completed` (LangBot AgentRunner Protocol v1, §7.2)."""
    message: Message
    """The complete message, as a caller should remember it."""
    def __init__(self, *, message: Message | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["message"]) -> _bool: ...

class ToolCallStarted(_Message):
    """`tool.call.started` (LangBot AgentRunner Protocol v1, §7.2)."""
    tool_call_id: _str
    """Id of the call, unique in its run."""
    tool_name: _str
    """Name of the tool."""
    parameters: _str
    """Arguments as a JSON object; `{}` when the model gave no arguments."""
    run_by_provider: _bool
    """True when the provider of the model runs the tool itself, such as a web search. Nothing runs here."""
    def __init__(self, *, tool_call_id: _str | None = ..., tool_name: _str | None = ..., parameters: _str | None = ..., run_by_provider: _bool | None = ...) -> None: ...

class ToolCallCompleted(_Message):
    """`tool.call.completed` (LangBot AgentRunner Protocol v1, §7.2). Every started call gets exactly one of these results."""
    tool_call_id: _str
    """Id of the call."""
    tool_name: _str
    """Name of the tool."""
    result: _str
    """
    Result of the tool, as a JSON object; unset on failure. Built-in tools return `{"content": text}`. Tools of MCP servers add
    `media`, a list of `{"type", "mime_type", "data"}` with base64, and `structured_content`, where the server returns them.
    """
    error: _str
    """Why the call failed; unset on success. `interrupted: …` when a crash or a cancellation interrupted it."""
    run_by_provider: _bool
    """True when the provider of the model ran the tool itself. `result` is then `{"content": …}` with the provider's own JSON."""
    def __init__(self, *, tool_call_id: _str | None = ..., tool_name: _str | None = ..., result: _str | None = ..., error: _str | None = ..., run_by_provider: _bool | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["result", "error"]) -> _bool: ...

class ToolCallProgress(_Message):
    """
    `tool.call.progress`, in no other document: how far a call of an MCP server has got, as the server says. At most one a second for
    each call, between the call's start and its end. A reader may leave it out.
    """
    tool_call_id: _str
    """Id of the call."""
    tool_name: _str
    """Name of the tool."""
    progress: _float
    """How far the call has got, in units of the server; it rises with each report."""
    total: _float
    """Where `progress` ends; unset when the server does not know."""
    message: _str
    """What the call does now, for people; at most 1,024 characters."""
    def __init__(self, *, tool_call_id: _str | None = ..., tool_name: _str | None = ..., progress: _float | None = ..., total: _float | None = ..., message: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["total"]) -> _bool: ...

class ChildRunStarted(_Message):
    """
    `child.run.started`, in no other document: a call of a tool of `AgentTools.agents` started a run. It is in the log exactly when
    that run exists. The call ends when the run and all runs below it have ended.
    """
    tool_call_id: _str
    """Id of the call."""
    tool_name: _str
    """Name of the tool."""
    run_id: _str
    """Id of the child run."""
    continues_run_id: _str
    """Id of the earlier child run that it continues; unset for a run in a new session."""
    def __init__(self, *, tool_call_id: _str | None = ..., tool_name: _str | None = ..., run_id: _str | None = ..., continues_run_id: _str | None = ...) -> None: ...

class ContextCompacted(_Message):
    """
    `context.compacted`, in no other document: the model gets a summary in place of the oldest messages of the conversation, from now on
    and in later runs of the session. `usage` is that of the summary.
    """
    summary: _str
    """The summary."""
    model: _str
    """Model that wrote it, as `provider:name`."""
    messages: _int
    """Number of messages that the summary covers; one of them may be an earlier summary."""
    tokens_before: _int
    """Tokens of the conversation before, estimated."""
    tokens_after: _int
    """Tokens of the conversation with the summary, estimated."""
    def __init__(self, *, summary: _str | None = ..., model: _str | None = ..., messages: _int | None = ..., tokens_before: _int | None = ..., tokens_after: _int | None = ...) -> None: ...

class HandoffCompleted(_Message):
    """
    `handoff.completed`, in no other document: another agent has the conversation from the next response on. The result of the call is
    the entry before.
    """
    tool_call_id: _str
    """Id of the call."""
    from_agent: _str
    """Name of the agent that handed over."""
    to_agent: _str
    """Name of the agent that has the conversation now."""
    model: _str
    """Model of that agent."""
    def __init__(self, *, tool_call_id: _str | None = ..., from_agent: _str | None = ..., to_agent: _str | None = ..., model: _str | None = ...) -> None: ...

class ArtifactCreated(_Message):
    """`artifact.created` (LangBot AgentRunner Protocol v1, §7.2)."""
    artifact_type: _str
    """Type of the artifact, chosen by the runner: `image`, `file`, … An image that a model makes is `image`."""
    artifact_id: _str
    """Id of the artifact; the host chooses one when it is unset."""
    mime_type: _str
    """Media type of the content."""
    name: _str
    """Name of the artifact for people."""
    size_bytes: _int
    """Size of the content in bytes."""
    sha256: _str
    """SHA-256 of the content, lower-case hex."""
    metadata: _str
    """Further properties, as a JSON object."""
    content_base64: _str
    """The content in base64, for small artifacts: at most 1 MiB decoded."""
    def __init__(self, *, artifact_type: _str | None = ..., artifact_id: _str | None = ..., mime_type: _str | None = ..., name: _str | None = ..., size_bytes: _int | None = ..., sha256: _str | None = ..., metadata: _str | None = ..., content_base64: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["artifact_id", "mime_type", "name", "size_bytes", "sha256", "metadata", "content_base64"]) -> _bool: ...

class StateUpdated(_Message):
    """`state.updated` (LangBot AgentRunner Protocol v1, §7.2)."""
    class Scope(_int):
        """The owner of a state value."""
        SCOPE_UNSPECIFIED: _ClassVar[StateUpdated.Scope]
        """Unspecified: an invalid scope, which the service refuses."""
        SCOPE_CONVERSATION: _ClassVar[StateUpdated.Scope]
        """The conversation."""
        SCOPE_ACTOR: _ClassVar[StateUpdated.Scope]
        """The actor."""
        SCOPE_SUBJECT: _ClassVar[StateUpdated.Scope]
        """The subject."""
        SCOPE_RUNNER: _ClassVar[StateUpdated.Scope]
        """The runner."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> StateUpdated.Scope: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[StateUpdated.Scope]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, StateUpdated.Scope]]: ...
    SCOPE_UNSPECIFIED: _ClassVar[StateUpdated.Scope]
    SCOPE_CONVERSATION: _ClassVar[StateUpdated.Scope]
    SCOPE_ACTOR: _ClassVar[StateUpdated.Scope]
    SCOPE_SUBJECT: _ClassVar[StateUpdated.Scope]
    SCOPE_RUNNER: _ClassVar[StateUpdated.Scope]

    scope: StateUpdated.Scope
    """Scope that the value belongs to."""
    key: _str
    """Key of the value."""
    value: _str
    """The new value, as JSON."""
    def __init__(self, *, scope: StateUpdated.Scope | _str | None = ..., key: _str | None = ..., value: _str | None = ...) -> None: ...

class ActionRequested(_Message):
    """`action.requested` (LangBot AgentRunner Protocol v1, §7.2)."""
    action: _str
    """Name of the requested action."""
    target: _str
    """Target of the action, as a JSON object."""
    payload: _str
    """Arguments of the action, as a JSON object."""
    def __init__(self, *, action: _str | None = ..., target: _str | None = ..., payload: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["target", "payload"]) -> _bool: ...

class RunCompleted(_Message):
    """`run.completed` (LangBot AgentRunner Protocol v1, §7.2), with the properties of the Agent Runner document's `done` event."""
    finish_reason: _str
    """Why the run ended: `stop`, or the reason that the model reported."""
    message: Message
    """The last complete message; its text is the run's output. Unset when the runner reported no complete message."""
    turns: _int
    """Number of model responses in the run."""
    duration_ms: _int
    """Duration of the run from start to end, in milliseconds."""
    output: _str
    """The run's output when `message` is unset: the text of its chunks, at most 1,000,000 characters of it."""
    pending_tool_calls: _Messages[ToolCall]
    """
    Calls of `AgentTools.functions` that the caller has to answer with the next `messages` of SendMessage. The finish reason is
    then `tool-calls`.
    """
    stop_sequence: _str
    """The stop sequence of `Agent.stop` that ended the last response. Unset when none did, or when the provider does not say which."""
    def __init__(self, *, finish_reason: _str | None = ..., message: Message | _Mapping[_str, _Any] | None = ..., turns: _int | None = ..., duration_ms: _int | None = ..., output: _str | None = ..., pending_tool_calls: _Iterable[ToolCall | _Mapping[_str, _Any]] | None = ..., stop_sequence: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["message", "stop_sequence"]) -> _bool: ...

class RunFailed(_Message):
    """`run.failed` (LangBot AgentRunner Protocol v1, §7.2), with the properties of the Agent Runner document's `done` event."""
    code: _str
    """Dotted failure code, such as `cancelled`, `runner.timeout`, `runner.error` or `host.run_lost`."""
    error: _str
    """Description of the failure, for people."""
    retryable: _bool
    """True when the same request may succeed later. Runnel itself does not start the run again."""
    output: _str
    """The run's output up to the failure."""
    turns: _int
    """Number of model responses in the run."""
    duration_ms: _int
    """Duration of the run from start to end, in milliseconds."""
    model_error: ModelError
    """Why the model gave no response; unset when the run failed for another reason."""
    def __init__(self, *, code: _str | None = ..., error: _str | None = ..., retryable: _bool | None = ..., output: _str | None = ..., turns: _int | None = ..., duration_ms: _int | None = ..., model_error: ModelError | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["model_error"]) -> _bool: ...

class ModelError(_Message):
    """Why the provider of a model gave no response."""
    class Cause(_int):
        """
        Kind of a provider's error. Of these, RATE_LIMIT, OVERLOADED, TIMEOUT and UNAVAILABLE may pass by themselves: Runnel repeats
        such a request before the run fails.
        """
        CAUSE_UNSPECIFIED: _ClassVar[ModelError.Cause]
        """Unspecified: not a valid cause."""
        CAUSE_RATE_LIMIT: _ClassVar[ModelError.Cause]
        """Too many requests for the operator's account."""
        CAUSE_CONTEXT_LENGTH: _ClassVar[ModelError.Cause]
        """The request is longer than the model can read."""
        CAUSE_AUTHENTICATION: _ClassVar[ModelError.Cause]
        """The operator's key is invalid, or may not use the model."""
        CAUSE_QUOTA: _ClassVar[ModelError.Cause]
        """The operator's account has no money or tokens left."""
        CAUSE_OVERLOADED: _ClassVar[ModelError.Cause]
        """The provider has too much to do."""
        CAUSE_CONTENT_FILTER: _ClassVar[ModelError.Cause]
        """The provider withheld the response, or refused the request for its content."""
        CAUSE_INVALID_REQUEST: _ClassVar[ModelError.Cause]
        """The provider refused the request."""
        CAUSE_NOT_FOUND: _ClassVar[ModelError.Cause]
        """The provider does not have the model."""
        CAUSE_TIMEOUT: _ClassVar[ModelError.Cause]
        """The provider did not answer in time."""
        CAUSE_UNAVAILABLE: _ClassVar[ModelError.Cause]
        """Any other fault of the provider, or of the way to it."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> ModelError.Cause: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[ModelError.Cause]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, ModelError.Cause]]: ...
    CAUSE_UNSPECIFIED: _ClassVar[ModelError.Cause]
    CAUSE_RATE_LIMIT: _ClassVar[ModelError.Cause]
    CAUSE_CONTEXT_LENGTH: _ClassVar[ModelError.Cause]
    CAUSE_AUTHENTICATION: _ClassVar[ModelError.Cause]
    CAUSE_QUOTA: _ClassVar[ModelError.Cause]
    CAUSE_OVERLOADED: _ClassVar[ModelError.Cause]
    CAUSE_CONTENT_FILTER: _ClassVar[ModelError.Cause]
    CAUSE_INVALID_REQUEST: _ClassVar[ModelError.Cause]
    CAUSE_NOT_FOUND: _ClassVar[ModelError.Cause]
    CAUSE_TIMEOUT: _ClassVar[ModelError.Cause]
    CAUSE_UNAVAILABLE: _ClassVar[ModelError.Cause]

    cause: ModelError.Cause
    """Kind of the error."""
    status: _int
    """HTTP status of the provider's answer; 0 when there was none."""
    code: _str
    """The provider's own word for the error, such as `insufficient_quota`; empty when it gave none."""
    retry_after_ms: _int
    """The wait that the provider asked for, in milliseconds; 0 when it gave none."""
    def __init__(self, *, cause: ModelError.Cause | _str | None = ..., status: _int | None = ..., code: _str | None = ..., retry_after_ms: _int | None = ...) -> None: ...

class ReasoningDelta(_Message):
    """`reasoning.delta`: a piece of the model's reasoning."""
    content: _str
    """The new piece of text."""
    def __init__(self, *, content: _str | None = ...) -> None: ...

class TurnStarted(_Message):
    """`turn.started`: a turn of the agent loop began."""
    turn: _int
    """Number of the turn, counted from 1."""
    def __init__(self, *, turn: _int | None = ...) -> None: ...

class TurnRestarted(_Message):
    """
    `turn.restarted`: a turn begins again, because its replica died or stopped, or because the model's provider began its response
    again. Every entry from `from_sequence` up to this one is void for each reader that received it. The entries of the repeated turn
    follow this entry.
    """
    turn: _int
    """Number of the turn that begins again."""
    from_sequence: _int
    """Sequence of the first void entry."""
    def __init__(self, *, turn: _int | None = ..., from_sequence: _int | None = ...) -> None: ...

class ResultLost(_Message):
    """
    `result.lost`: takes the place of an entry that the service had acknowledged and the database has lost, as after the promotion
    of a standby that had not received it. So no sequence is used twice, and the log has no gap. Readers that received the entry
    keep it. The entries after it continue the run from what the database still has: `turn.restarted` or `run.failed` follows.
    """
    def __init__(self) -> None: ...

class RunWaiting(_Message):
    """`run.waiting`: the run is parked."""
    reason: _str
    """Why the run waits."""
    wake_time: _Timestamp
    """Time when the run continues by itself; unset means that it continues only when it is woken."""
    def __init__(self, *, reason: _str | None = ..., wake_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["wake_time"]) -> _bool: ...

class ApprovalRequested(_Message):
    """
    `approval.requested`: the request for an approval. It follows the `action.requested` of a runner that needs the approval, or
    the `tool.call.started` results of a response.
    """
    tool_call_id: _str
    """Id of the tool call that waits; unset for an action of a runner."""
    tool_name: _str
    """Name of the tool."""
    parameters: _str
    """Arguments as a JSON object."""
    reason: _str
    """Why the approval is needed, for people."""
    approval_id: _str
    """Id of the Approval."""
    action: _str
    """Name of the action or the tool, cut to at most 1,024 characters."""
    digest: _str
    """`digest` of the Approval."""
    expire_time: _Timestamp
    """Time until which the approval can be decided."""
    action_sequence: _int
    """Number that the runner assigned to the `action.requested`; unset for a tool call."""
    def __init__(self, *, tool_call_id: _str | None = ..., tool_name: _str | None = ..., parameters: _str | None = ..., reason: _str | None = ..., approval_id: _str | None = ..., action: _str | None = ..., digest: _str | None = ..., expire_time: _datetime | _Mapping[_str, _Any] | None = ..., action_sequence: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["expire_time"]) -> _bool: ...

class SkillsListed(_Message):
    """
    `skills.listed`, in no other document: the skills of the agent, as the run found them when it began. The model sees this list to the
    end of the run. When the run goes on later, in another process or after it has waited, and a SKILL.md is no longer the same,
    there is another such entry.
    """
    skills: _Messages[Skill]
    """The skills, in the order of `AgentTools.skills`."""
    changed: _Scalars[_str]
    """Names of the skills whose SKILL.md has changed since the entry before; empty in the first one."""
    def __init__(self, *, skills: _Iterable[Skill | _Mapping[_str, _Any]] | None = ..., changed: _Iterable[_str] | None = ...) -> None: ...

class Skill(_Message):
    """A skill: a folder with a SKILL.md and other files (agentskills.io/specification)."""
    name: _str
    """Name of the skill, and of its folder."""
    description: _str
    """What the skill does and when to use it, in one line, as its SKILL.md said when the run began."""
    path: _str
    """Path of its SKILL.md for the tools of the agent: absolute for a skill of the operator, else relative to the work directory."""
    sha256: _str
    """SHA-256 of the bytes of its SKILL.md, in hexadecimal digits; empty when it is gone."""
    def __init__(self, *, name: _str | None = ..., description: _str | None = ..., path: _str | None = ..., sha256: _str | None = ...) -> None: ...

class ToolsChanged(_Message):
    """
    `tools.changed`, in no other document: the list of an MCP server differs from the list that it gave when the run began. The run keeps
    its own list to its end: a call of a tool that the server no longer has fails. The run lists the tools again when the server sends
    `notifications/tools/list_changed` with the answer to a call or over its standard output, when it refuses a call, and when the run
    connects to it again, such as after a takeover. Another entry for a server replaces the one before; all its lists are empty when the
    server has the tools of the run again.
    """
    server: _str
    """Name of the server in the agent."""
    added: _Scalars[_str]
    """Names of the tools that the run does not have, as the server writes them."""
    removed: _Scalars[_str]
    """Names of the tools that the server no longer has."""
    changed: _Scalars[_str]
    """Names of the tools with another description or another schema."""
    def __init__(self, *, server: _str | None = ..., added: _Iterable[_str] | None = ..., removed: _Iterable[_str] | None = ..., changed: _Iterable[_str] | None = ...) -> None: ...

class PlanUpdated(_Message):
    """
    `plan.updated`, in no other document: the steps that the agent means to take. Each one has the whole plan, and replaces the one
    before.
    """
    entries: _Messages[PlanEntry]
    """The steps, in their order; empty when the agent has no plan any more."""
    def __init__(self, *, entries: _Iterable[PlanEntry | _Mapping[_str, _Any]] | None = ...) -> None: ...

class PlanEntry(_Message):
    """One step of a plan."""
    class Status(_int):
        """How far a step has got."""
        STATUS_UNSPECIFIED: _ClassVar[PlanEntry.Status]
        """Unspecified: not a valid status."""
        STATUS_PENDING: _ClassVar[PlanEntry.Status]
        """The agent has not begun."""
        STATUS_IN_PROGRESS: _ClassVar[PlanEntry.Status]
        """The agent works on it."""
        STATUS_COMPLETED: _ClassVar[PlanEntry.Status]
        """It is done."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> PlanEntry.Status: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[PlanEntry.Status]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, PlanEntry.Status]]: ...
    STATUS_UNSPECIFIED: _ClassVar[PlanEntry.Status]
    STATUS_PENDING: _ClassVar[PlanEntry.Status]
    STATUS_IN_PROGRESS: _ClassVar[PlanEntry.Status]
    STATUS_COMPLETED: _ClassVar[PlanEntry.Status]

    class Priority(_int):
        """How important a step is."""
        PRIORITY_UNSPECIFIED: _ClassVar[PlanEntry.Priority]
        """Unspecified: the agent gave none."""
        PRIORITY_HIGH: _ClassVar[PlanEntry.Priority]
        """High."""
        PRIORITY_MEDIUM: _ClassVar[PlanEntry.Priority]
        """Medium."""
        PRIORITY_LOW: _ClassVar[PlanEntry.Priority]
        """Low."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> PlanEntry.Priority: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[PlanEntry.Priority]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, PlanEntry.Priority]]: ...
    PRIORITY_UNSPECIFIED: _ClassVar[PlanEntry.Priority]
    PRIORITY_HIGH: _ClassVar[PlanEntry.Priority]
    PRIORITY_MEDIUM: _ClassVar[PlanEntry.Priority]
    PRIORITY_LOW: _ClassVar[PlanEntry.Priority]

    text: _str
    """What the agent means to do, for people."""
    status: PlanEntry.Status
    """How far it has got."""
    priority: PlanEntry.Priority
    """How important it is. Coding agents give one, and the tool `todo` does not."""
    def __init__(self, *, text: _str | None = ..., status: PlanEntry.Status | _str | None = ..., priority: PlanEntry.Priority | _str | None = ...) -> None: ...

class Extension(_Message):
    """A result of a type that this version does not know."""
    type: _str
    """Dotted name of the type."""
    json: _str
    """Payload of the result, as JSON."""
    def __init__(self, *, type: _str | None = ..., json: _str | None = ...) -> None: ...

class GetRunRequest(_Message):
    """Request of GetRun."""
    run_id: _str
    """Id of the run."""
    output_chars_max: _int
    """Maximum number of characters of the run's `output`: the rest is left out, and `is_output_cut` says so. 0 means all."""
    def __init__(self, *, run_id: _str | None = ..., output_chars_max: _int | None = ...) -> None: ...

class GetRunResponse(_Message):
    """Response of GetRun."""
    run: Run
    """The run."""
    log_sequence: _int
    """Sequence of the last result in its log by now."""
    def __init__(self, *, run: Run | _Mapping[_str, _Any] | None = ..., log_sequence: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["run"]) -> _bool: ...

class GetRunInputRequest(_Message):
    """Request of GetRunInput."""
    run_id: _str
    """Id of the run."""
    def __init__(self, *, run_id: _str | None = ...) -> None: ...

class GetRunInputResponse(_Message):
    """Response of GetRunInput."""
    run_id: _str
    """Id of the run."""
    messages: _Messages[Message]
    """The messages that started the run, oldest first."""
    agent: Agent
    """
    The effective settings of the agent: those of the session, with those that SendMessage replaced for this run. `model` is the
    model as it was resolved.
    """
    annotations: _str
    """The `annotations` of the SendMessage call; unset when it had none."""
    def __init__(self, *, run_id: _str | None = ..., messages: _Iterable[Message | _Mapping[_str, _Any]] | None = ..., agent: Agent | _Mapping[_str, _Any] | None = ..., annotations: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["agent"]) -> _bool: ...

class ListRunsRequest(_Message):
    """Request of ListRuns."""
    class Order(_int):
        """Order of a list."""
        ORDER_UNSPECIFIED: _ClassVar[ListRunsRequest.Order]
        """Unspecified: by creation, newest first."""
        ORDER_CHANGE_TIME: _ClassVar[ListRunsRequest.Order]
        """By `change_time`, newest first. A run that changes between two pages moves to the beginning of the list."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> ListRunsRequest.Order: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[ListRunsRequest.Order]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, ListRunsRequest.Order]]: ...
    ORDER_UNSPECIFIED: _ClassVar[ListRunsRequest.Order]
    ORDER_CHANGE_TIME: _ClassVar[ListRunsRequest.Order]

    session_id: _str
    """Id of a session: returns only its runs; unset means the runs of all sessions."""
    page_size: _int
    """
    Maximum number of runs to return: 1 to 250; 0 means 50. A page of large outputs may be shorter. Up to 50 read at most 1,000 runs, more
    read 2,500.
    """
    page_token: _str
    """`next_page_token` of the previous page, with the same filters; unset means the first page."""
    states: _Scalars[Run.State]
    """States to return; empty means all."""
    create_time_from: _Timestamp
    """Earliest creation time, inclusive; unset means no limit."""
    create_time_to: _Timestamp
    """Latest creation time, exclusive; unset means no limit."""
    agent_name: _str
    """Exact name of the agent; unset means any."""
    runner_id: _str
    """Exact id of the runner that works on the run; unset means any."""
    model: _str
    """Exact `model` of the run; unset means any."""
    error_contains: _str
    """
    Text in the code or the message of the failure, of which the first 4,096 characters are searched. A to Z also match a to z.
    Unset means any run.
    """
    parent_run_id: _str
    """Id of a run: returns only its child runs; unset means any."""
    root_run_id: _str
    """Id of a run that a caller started: returns only the runs of its tree, without itself; unset means any."""
    order: ListRunsRequest.Order
    """Order of the list; unset means by creation."""
    change_time_from: _Timestamp
    """Earliest time of the last change, inclusive; unset means no limit."""
    failure_code: _str
    """Exact code of the failure, such as `runner.timeout`; unset means any run."""
    failure_code_not: _str
    """Exact code of a failure to leave out, such as `rejected`; unset means none."""
    count: _bool
    """True also counts the runs that match the filters: `total_size`."""
    change_time_to: _Timestamp
    """Latest time of the last change, exclusive; unset means no limit."""
    output_chars_max: _int
    """Maximum number of characters of the `output` of each run: the rest is left out, and `is_output_cut` says so. 0 means all."""
    def __init__(self, *, session_id: _str | None = ..., page_size: _int | None = ..., page_token: _str | None = ..., states: _Iterable[Run.State | _str] | None = ..., create_time_from: _datetime | _Mapping[_str, _Any] | None = ..., create_time_to: _datetime | _Mapping[_str, _Any] | None = ..., agent_name: _str | None = ..., runner_id: _str | None = ..., model: _str | None = ..., error_contains: _str | None = ..., parent_run_id: _str | None = ..., root_run_id: _str | None = ..., order: ListRunsRequest.Order | _str | None = ..., change_time_from: _datetime | _Mapping[_str, _Any] | None = ..., failure_code: _str | None = ..., failure_code_not: _str | None = ..., count: _bool | None = ..., change_time_to: _datetime | _Mapping[_str, _Any] | None = ..., output_chars_max: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["create_time_from", "create_time_to", "change_time_from", "change_time_to"]) -> _bool: ...

class ListRunsResponse(_Message):
    """Response of ListRuns."""
    runs: _Messages[Run]
    """The runs, newest first. May be empty before the last page."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    total_size: _int
    """
    Number of runs that match the filters, on all pages. The count reads at most 1,000 active and 1,000 ended runs: with more of them, at
    least so many match. 1,000 means 1,000 or more. Set only when the request asks for `count`.
    """
    def __init__(self, *, runs: _Iterable[Run | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ..., total_size: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["total_size"]) -> _bool: ...

class SearchRunsRequest(_Message):
    """Request of SearchRuns."""
    query: _str
    """Words that a text must have. Quotes make a phrase, `or` between words gives a choice, and a minus leaves a word out."""
    page_size: _int
    """Maximum number of matches to return: 1 to 250; 0 means 20. A page has at most 50, and one of large outputs may be shorter."""
    page_token: _str
    """`next_page_token` of the previous page, with the same query and filters; unset means the first page."""
    session_id: _str
    """Id of a session: only its runs; unset means the runs of all sessions."""
    agent_name: _str
    """Exact name of the agent; unset means any."""
    create_time_from: _Timestamp
    """Earliest creation time, inclusive; unset means no limit."""
    create_time_to: _Timestamp
    """Latest creation time, exclusive; unset means no limit."""
    annotation: _str
    """A member of the annotations and its value as text, such as `team=billing`; unset means any."""
    def __init__(self, *, query: _str | None = ..., page_size: _int | None = ..., page_token: _str | None = ..., session_id: _str | None = ..., agent_name: _str | None = ..., create_time_from: _datetime | _Mapping[_str, _Any] | None = ..., create_time_to: _datetime | _Mapping[_str, _Any] | None = ..., annotation: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["create_time_from", "create_time_to"]) -> _bool: ...

class SearchRunsResponse(_Message):
    """Response of SearchRuns."""
    matches: _Messages[RunMatch]
    """The matches, newest run first."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, matches: _Iterable[RunMatch | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class RunMatch(_Message):
    """A run whose text matches."""
    run: Run
    """The run."""
    snippet: _Messages[SnippetPart]
    """A part of its text around the words that were found."""
    def __init__(self, *, run: Run | _Mapping[_str, _Any] | None = ..., snippet: _Iterable[SnippetPart | _Mapping[_str, _Any]] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["run"]) -> _bool: ...

class SnippetPart(_Message):
    """A piece of a snippet."""
    text: _str
    """The piece as plain text."""
    is_match: _bool
    """True for a word that was found."""
    def __init__(self, *, text: _str | None = ..., is_match: _bool | None = ...) -> None: ...

class WatchRunsRequest(_Message):
    """Request of WatchRuns."""
    session_id: _str
    """Id of a session: only its runs; unset means the runs of all sessions."""
    after: _str
    """
    `cursor` of the last response that the caller received: the active runs come first, and those that have ended since. Unset
    means now.
    """
    output_chars_max: _int
    """Maximum number of characters of the `output` of each run: the rest is left out, and `is_output_cut` says so. 0 means all."""
    def __init__(self, *, session_id: _str | None = ..., after: _str | None = ..., output_chars_max: _int | None = ...) -> None: ...

class WatchRunsResponse(_Message):
    """Response of WatchRuns."""
    cursor: _str
    """Position after this response, for `after`."""
    run: Run
    """The run as it is now."""
    def __init__(self, *, cursor: _str | None = ..., run: Run | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["run", "change"]) -> _bool: ...
    def WhichOneof(self, oneof_group: _Literal["change"]) -> _Literal["run"] | None: ...

class TailRunRequest(_Message):
    """Request of TailRun."""
    run_id: _str
    """Id of the run."""
    after: _int
    """Sequence of the last result that the caller received; 0 means from the start."""
    text_chars_max: _int
    """
    Maximum number of characters of a text that repeats earlier entries: of the message of `message.completed` and of `run.completed`, and
    of the output of `run.completed` and `run.failed`. `bytes_left_out` of such an entry counts the rest. A message in parts stays whole. 0
    means all.
    """
    def __init__(self, *, run_id: _str | None = ..., after: _int | None = ..., text_chars_max: _int | None = ...) -> None: ...

class TailRunResponse(_Message):
    """Response of TailRun."""
    results: _Messages[RunResult]
    """The next results, in order. An empty list keeps the stream alive."""
    def __init__(self, *, results: _Iterable[RunResult | _Mapping[_str, _Any]] | None = ...) -> None: ...

class TailRunTreeRequest(_Message):
    """Request of TailRunTree."""
    run_id: _str
    """Id of the run at the top."""
    after: _str
    """`cursor` of the last response that the caller received; unset means from the start."""
    def __init__(self, *, run_id: _str | None = ..., after: _str | None = ...) -> None: ...

class TailRunTreeResponse(_Message):
    """Response of TailRunTree."""
    cursor: _str
    """Position after this response, for `after`."""
    result: RunResult
    """The result; `run_id` names its run."""
    def __init__(self, *, cursor: _str | None = ..., result: RunResult | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["result", "item"]) -> _bool: ...
    def WhichOneof(self, oneof_group: _Literal["item"]) -> _Literal["result"] | None: ...

class ListRunResultsRequest(_Message):
    """Request of ListRunResults."""
    run_id: _str
    """Id of the run."""
    page_size: _int
    """Maximum number of results to return: 1 to 250; 0 means 50. A page of large results may be shorter."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, run_id: _str | None = ..., page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListRunResultsResponse(_Message):
    """Response of ListRunResults."""
    results: _Messages[RunResult]
    """The results, oldest first."""
    next_page_token: _str
    """Token of the next page; empty when there are no more results for now."""
    def __init__(self, *, results: _Iterable[RunResult | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class ListModelCallsRequest(_Message):
    """Request of ListModelCalls."""
    run_id: _str
    """Id of the run."""
    page_size: _int
    """Maximum number of calls to return: 1 to 250; 0 means 50. A page of large calls may be shorter."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    turn: _int
    """Returns only the calls of this turn; 0 means all turns."""
    def __init__(self, *, run_id: _str | None = ..., page_size: _int | None = ..., page_token: _str | None = ..., turn: _int | None = ...) -> None: ...

class ListModelCallsResponse(_Message):
    """Response of ListModelCalls."""
    model_calls: _Messages[ModelCall]
    """The calls, oldest first."""
    next_page_token: _str
    """Token of the next page; empty when there are no more calls for now."""
    def __init__(self, *, model_calls: _Iterable[ModelCall | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class CancelRunRequest(_Message):
    """Request of CancelRun."""
    run_id: _str
    """Id of the run."""
    def __init__(self, *, run_id: _str | None = ...) -> None: ...

class CancelRunResponse(_Message):
    """Response of CancelRun."""
    run: Run
    """The run after the request was recorded."""
    def __init__(self, *, run: Run | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["run"]) -> _bool: ...

class CancelRunsRequest(_Message):
    """Request of CancelRuns. Set a filter, or `all`."""
    session_id: _str
    """Id of a session: cancels only its run; unset means the runs of all sessions."""
    create_time_from: _Timestamp
    """Earliest creation time, inclusive; unset means no limit."""
    create_time_to: _Timestamp
    """Latest creation time, exclusive; unset means no limit."""
    agent_name: _str
    """Exact name of the agent; unset means any."""
    runner_id: _str
    """Exact id of the runner that works on the run; unset means any."""
    model: _str
    """Exact `model` of the run; unset means any."""
    all: _bool
    """True allows a request without filters, which cancels all active runs. Filters still apply."""
    def __init__(self, *, session_id: _str | None = ..., create_time_from: _datetime | _Mapping[_str, _Any] | None = ..., create_time_to: _datetime | _Mapping[_str, _Any] | None = ..., agent_name: _str | None = ..., runner_id: _str | None = ..., model: _str | None = ..., all: _bool | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["create_time_from", "create_time_to"]) -> _bool: ...

class CancelRunsResponse(_Message):
    """Response of CancelRuns."""
    cancelled: _int
    """Number of runs whose cancellation this call requested."""
    def __init__(self, *, cancelled: _int | None = ...) -> None: ...

class DeleteRunRequest(_Message):
    """Request of DeleteRun."""
    run_id: _str
    """Id of the run."""
    def __init__(self, *, run_id: _str | None = ...) -> None: ...

class DeleteRunResponse(_Message):
    """Response of DeleteRun."""
    def __init__(self) -> None: ...

class TailRunBytes(_Message):
    """
    TailRunResponse with the entries as stored bytes, for readers that check them against a receipt. Both messages are the same
    on the wire, so a client may decode the responses of TailRun as this message. With `text_chars_max` an entry may not be as stored.
    """
    results: _Scalars[_bytes]
    """The encoded results, in order."""
    def __init__(self, *, results: _Iterable[_bytes] | None = ...) -> None: ...

class RunService(_Service):
    """
    Works on runs and their logs.

    A run belongs to the client whose session started it. Every other client gets NOT_FOUND with reason RUN_NOT_FOUND, exactly as
    for an unknown id.
    """
    def get_run(self, request: GetRunRequest, *, timeout: _float | None = ...) -> GetRunResponse:
        """Returns one run."""
        ...
    def get_run_input(self, request: GetRunInputRequest, *, timeout: _float | None = ...) -> GetRunInputResponse:
        """
        Returns the messages that started a run, and the settings that it works with.

        After a purge of its session there are no messages.
        """
        ...
    def list_runs(self, request: ListRunsRequest, *, timeout: _float | None = ...) -> ListRunsResponse:
        """
        Lists the runs of the calling client, newest first: those that match all filters that are set. `order` says what newest means.

        A page reads a bounded number of runs. When few of them match, the page is short or empty, and `next_page_token` is set while the
        list goes on: follow it until it is empty.

        Deleted runs are left out. Runs that started before an upgrade to a version with filters have no agent name and no runner id.
        """
        ...
    def search_runs(self, request: SearchRunsRequest, *, timeout: _float | None = ...) -> SearchRunsResponse:
        """
        Searches the texts of the runs of the calling client: their messages, results of tools, outputs and errors. Newest runs first.

        A text is found a few seconds after it was written, and the first 65,536 characters of a run are searched. Upper and lower case
        are the same. Deleted runs and those of deleted sessions are left out. FAILED_PRECONDITION (SEARCH_OFF) when the service keeps no
        texts.
        """
        ...
    def delete_run(self, request: DeleteRunRequest, *, timeout: _float | None = ...) -> DeleteRunResponse:
        """
        Deletes a run for its client, and cancels it when it is active.

        From then on every call with its id gives RUN_NOT_FOUND, and no list has it. Open streams still get the end of the run. Its
        session keeps its messages, and shows its end while it is the latest run; PurgeSession erases both.
        """
        ...
    def watch_runs(self, request: WatchRunsRequest, *, timeout: _float | None = ...) -> _Iterator[WatchRunsResponse]:
        """
        Streams the runs of the calling client as they change: as they begin, wait, continue, take a turn and end.

        Each response is a whole run, and a run may come more than once in the same state. Without `after` the active runs come first.
        A response without a run opens the stream at once and keeps it alive every 15 s. The stream ends only with an error: after
        UNAVAILABLE (RESUME), and after any failure of the connection, call again with the last `cursor`. A change arrives within two
        seconds; a state that lasts less than a second may be left out. Of more than 1,000 active runs, those that began last appear.
        Deleted runs do not appear. RESOURCE_EXHAUSTED (CONCURRENCY_EXHAUSTED) when the client has 100 watches on this replica. May be
        retried.
        """
        ...
    def tail_run(self, request: TailRunRequest, *, timeout: _float | None = ...) -> _Iterator[TailRunResponse]:
        """
        Streams the log of a run from any position: first the stored results, then each new one, until the terminal result.

        A response without results opens the stream at once and keeps it alive every 15 s. OK means that the terminal result was
        delivered. After UNAVAILABLE (RESUME), and after any failure of the connection, call again with `after`. Such a failure
        looks different in each client; docs/resuming.md lists the codes that end the stream.

        `after` beyond the end of the log waits while the run is active, and gives OUT_OF_RANGE (OFFSET_BEYOND_END) when the run
        has ended. Reading changes nothing. May be retried.
        """
        ...
    def tail_run_tree(self, request: TailRunTreeRequest, *, timeout: _float | None = ...) -> _Iterator[TailRunTreeResponse]:
        """
        Streams the logs of a run and of all child runs below it, until all of them have ended: first the stored results, then each new one.

        The results of a run come in their order; those of a child run come after the `child.run.started` that names it. `cursor` of a
        response is the position of the whole tree: `after` with it continues with the next result of each run. Opening, keeping alive and
        breaking are those of TailRun. RESOURCE_EXHAUSTED (CONCURRENCY_EXHAUSTED) when the client has 100 watches on this replica. Results
        of child runs that are no longer kept are left out. Reading changes nothing. May be retried.
        """
        ...
    def list_run_results(self, request: ListRunResultsRequest, *, timeout: _float | None = ...) -> ListRunResultsResponse:
        """Lists the stored results of a run, oldest first, without waiting for more."""
        ...
    def list_model_calls(self, request: ListModelCallsRequest, *, timeout: _float | None = ...) -> ListModelCallsResponse:
        """
        Lists the calls of models of a run, oldest first: what was sent to the provider, and what it answered.

        The service keeps calls only while its setting `providers.keep_calls` is on. They are deleted with the run, and after the retention
        of logs. Calls of a decision cycle and of the host API are not kept.
        """
        ...
    def cancel_run(self, request: CancelRunRequest, *, timeout: _float | None = ...) -> CancelRunResponse:
        """
        Requests the cancellation of a run and returns the run without waiting for its end.

        A queued or waiting run ends at once. A running run receives a cancel signal. Follow its log for the `run.failed` with code
        `cancelled`. Cancelling an ended run changes nothing. May be retried.
        """
        ...
    def cancel_runs(self, request: CancelRunsRequest, *, timeout: _float | None = ...) -> CancelRunsResponse:
        """
        Requests the cancellation of all active runs of the calling client that match all filters that are set, newest first.

        Each run is cancelled as by CancelRun, in groups of up to 100: an interrupted call has cancelled some of the runs. Runs that
        start during the call may stay active. May be retried: a retry continues with the runs that have no cancel request yet.
        """
        ...

class AsyncRunService(_AsyncService):
    """
    Works on runs and their logs.

    A run belongs to the client whose session started it. Every other client gets NOT_FOUND with reason RUN_NOT_FOUND, exactly as
    for an unknown id.
    """
    async def get_run(self, request: GetRunRequest, *, timeout: _float | None = ...) -> GetRunResponse:
        """Returns one run."""
        ...
    async def get_run_input(self, request: GetRunInputRequest, *, timeout: _float | None = ...) -> GetRunInputResponse:
        """
        Returns the messages that started a run, and the settings that it works with.

        After a purge of its session there are no messages.
        """
        ...
    async def list_runs(self, request: ListRunsRequest, *, timeout: _float | None = ...) -> ListRunsResponse:
        """
        Lists the runs of the calling client, newest first: those that match all filters that are set. `order` says what newest means.

        A page reads a bounded number of runs. When few of them match, the page is short or empty, and `next_page_token` is set while the
        list goes on: follow it until it is empty.

        Deleted runs are left out. Runs that started before an upgrade to a version with filters have no agent name and no runner id.
        """
        ...
    async def search_runs(self, request: SearchRunsRequest, *, timeout: _float | None = ...) -> SearchRunsResponse:
        """
        Searches the texts of the runs of the calling client: their messages, results of tools, outputs and errors. Newest runs first.

        A text is found a few seconds after it was written, and the first 65,536 characters of a run are searched. Upper and lower case
        are the same. Deleted runs and those of deleted sessions are left out. FAILED_PRECONDITION (SEARCH_OFF) when the service keeps no
        texts.
        """
        ...
    async def delete_run(self, request: DeleteRunRequest, *, timeout: _float | None = ...) -> DeleteRunResponse:
        """
        Deletes a run for its client, and cancels it when it is active.

        From then on every call with its id gives RUN_NOT_FOUND, and no list has it. Open streams still get the end of the run. Its
        session keeps its messages, and shows its end while it is the latest run; PurgeSession erases both.
        """
        ...
    def watch_runs(self, request: WatchRunsRequest, *, timeout: _float | None = ...) -> _AsyncIterator[WatchRunsResponse]:
        """
        Streams the runs of the calling client as they change: as they begin, wait, continue, take a turn and end.

        Each response is a whole run, and a run may come more than once in the same state. Without `after` the active runs come first.
        A response without a run opens the stream at once and keeps it alive every 15 s. The stream ends only with an error: after
        UNAVAILABLE (RESUME), and after any failure of the connection, call again with the last `cursor`. A change arrives within two
        seconds; a state that lasts less than a second may be left out. Of more than 1,000 active runs, those that began last appear.
        Deleted runs do not appear. RESOURCE_EXHAUSTED (CONCURRENCY_EXHAUSTED) when the client has 100 watches on this replica. May be
        retried.
        """
        ...
    def tail_run(self, request: TailRunRequest, *, timeout: _float | None = ...) -> _AsyncIterator[TailRunResponse]:
        """
        Streams the log of a run from any position: first the stored results, then each new one, until the terminal result.

        A response without results opens the stream at once and keeps it alive every 15 s. OK means that the terminal result was
        delivered. After UNAVAILABLE (RESUME), and after any failure of the connection, call again with `after`. Such a failure
        looks different in each client; docs/resuming.md lists the codes that end the stream.

        `after` beyond the end of the log waits while the run is active, and gives OUT_OF_RANGE (OFFSET_BEYOND_END) when the run
        has ended. Reading changes nothing. May be retried.
        """
        ...
    def tail_run_tree(self, request: TailRunTreeRequest, *, timeout: _float | None = ...) -> _AsyncIterator[TailRunTreeResponse]:
        """
        Streams the logs of a run and of all child runs below it, until all of them have ended: first the stored results, then each new one.

        The results of a run come in their order; those of a child run come after the `child.run.started` that names it. `cursor` of a
        response is the position of the whole tree: `after` with it continues with the next result of each run. Opening, keeping alive and
        breaking are those of TailRun. RESOURCE_EXHAUSTED (CONCURRENCY_EXHAUSTED) when the client has 100 watches on this replica. Results
        of child runs that are no longer kept are left out. Reading changes nothing. May be retried.
        """
        ...
    async def list_run_results(self, request: ListRunResultsRequest, *, timeout: _float | None = ...) -> ListRunResultsResponse:
        """Lists the stored results of a run, oldest first, without waiting for more."""
        ...
    async def list_model_calls(self, request: ListModelCallsRequest, *, timeout: _float | None = ...) -> ListModelCallsResponse:
        """
        Lists the calls of models of a run, oldest first: what was sent to the provider, and what it answered.

        The service keeps calls only while its setting `providers.keep_calls` is on. They are deleted with the run, and after the retention
        of logs. Calls of a decision cycle and of the host API are not kept.
        """
        ...
    async def cancel_run(self, request: CancelRunRequest, *, timeout: _float | None = ...) -> CancelRunResponse:
        """
        Requests the cancellation of a run and returns the run without waiting for its end.

        A queued or waiting run ends at once. A running run receives a cancel signal. Follow its log for the `run.failed` with code
        `cancelled`. Cancelling an ended run changes nothing. May be retried.
        """
        ...
    async def cancel_runs(self, request: CancelRunsRequest, *, timeout: _float | None = ...) -> CancelRunsResponse:
        """
        Requests the cancellation of all active runs of the calling client that match all filters that are set, newest first.

        Each run is cancelled as by CancelRun, in groups of up to 100: an interrupted call has cancelled some of the runs. Runs that
        start during the call may stay active. May be retried: a retry continues with the runs that have no cancel request yet.
        """
        ...

class CreateSessionRequest(_Message):
    """Request of CreateSession."""
    session_id: _str
    """Id of the new session; when it is unset, the service chooses one."""
    work_dir: _str
    """
    Absolute path of an existing directory that the tools work in; unset means an empty directory of the session's own. It must
    be in one of the directories that the operator lists, and outside the directories of the system, of the service and of other
    sessions. A directory that a client names is its own for good: no other client may name it, one in it or one around it.
    """
    agent: Agent
    """Configuration of the agent. With a preset or a fork: its fields replace those of the preset's or the origin's agent."""
    callback: Callback
    """Endpoint that receives status callbacks and remote tool calls."""
    request_id: _str
    """Idempotency key: the same id with the same request gives the same answer for 24 hours, so that a retry is safe."""
    fork: Fork
    """
    The place in another session from which the new one continues; unset means an empty session. A fork has the callback of its
    origin unless `callback` is set, and a work directory of its own.
    """
    annotations: _str
    """A JSON object of the caller's own. GetSession returns it."""
    preset: _str
    """Name of a preset of the service, whose agent the session gets; unset means none."""
    def __init__(self, *, session_id: _str | None = ..., work_dir: _str | None = ..., agent: Agent | _Mapping[_str, _Any] | None = ..., callback: Callback | _Mapping[_str, _Any] | None = ..., request_id: _str | None = ..., fork: Fork | _Mapping[_str, _Any] | None = ..., annotations: _str | None = ..., preset: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["agent", "callback", "fork"]) -> _bool: ...

class CreateSessionResponse(_Message):
    """Response of CreateSession."""
    session_id: _str
    """Id of the session."""
    status: Session.State
    """Always STATE_CREATED."""
    def __init__(self, *, session_id: _str | None = ..., status: Session.State | _str | None = ...) -> None: ...

class GetSessionRequest(_Message):
    """Request of GetSession."""
    session_id: _str
    """Id of the session."""
    def __init__(self, *, session_id: _str | None = ...) -> None: ...

class GetSessionResponse(_Message):
    """Response of GetSession."""
    session: Session
    """The session."""
    def __init__(self, *, session: Session | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["session"]) -> _bool: ...

class ListSessionsRequest(_Message):
    """Request of ListSessions."""
    page_size: _int
    """
    Maximum number of sessions to return: 1 to 250; 0 means 50. A page of large outputs may be shorter. Up to 50 read at most 1,000
    sessions, more read 2,500.
    """
    page_token: _str
    """`next_page_token` of the previous page, with the same filters; unset means the first page."""
    states: _Scalars[Session.State]
    """States to return; empty means all."""
    agent_name: _str
    """Exact name of the agent of the latest run; unset means any."""
    fork_of: _str
    """
    Id of a session: returns only its forks, without forks of these; unset means any. Forks from before an upgrade to a version with
    this filter are left out.
    """
    def __init__(self, *, page_size: _int | None = ..., page_token: _str | None = ..., states: _Iterable[Session.State | _str] | None = ..., agent_name: _str | None = ..., fork_of: _str | None = ...) -> None: ...

class ListSessionsResponse(_Message):
    """Response of ListSessions."""
    sessions: _Messages[Session]
    """The sessions, newest first. May be empty before the last page."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, sessions: _Iterable[Session | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class ListPresetsRequest(_Message):
    """Request of ListPresets."""
    def __init__(self) -> None: ...

class ListPresetsResponse(_Message):
    """Response of ListPresets."""
    presets: _Messages[Agent]
    """The presets, in the order of the settings. Without any in the settings there is one, `default`, with the service's defaults."""
    def __init__(self, *, presets: _Iterable[Agent | _Mapping[_str, _Any]] | None = ...) -> None: ...

class DeleteSessionRequest(_Message):
    """Request of DeleteSession."""
    session_id: _str
    """Id of the session."""
    def __init__(self, *, session_id: _str | None = ...) -> None: ...

class DeleteSessionResponse(_Message):
    """Response of DeleteSession."""
    status: _str
    """Always `deleted`."""
    def __init__(self, *, status: _str | None = ...) -> None: ...

class PurgeSessionRequest(_Message):
    """Request of PurgeSession."""
    session_id: _str
    """Id of the session, which may be deleted."""
    def __init__(self, *, session_id: _str | None = ...) -> None: ...

class PurgeSessionResponse(_Message):
    """Response of PurgeSession."""
    runs: _int
    """Number of runs that the call covers."""
    results: _int
    """Number of log entries that this call erased; 0 when all were erased before."""
    def __init__(self, *, runs: _int | None = ..., results: _int | None = ...) -> None: ...

class SendMessageRequest(_Message):
    """Request of SendMessage."""
    session_id: _str
    """Id of the session."""
    message: _str
    """The message to the agent: the task or question."""
    request_id: _str
    """Idempotency key: the same id with the same request gives the same answer for 24 hours, so that a retry is safe."""
    messages: _Messages[Message]
    """
    Several messages to the agent, oldest first, in place of `message`: a history, results of the caller's tools, images or
    files. The roles are `system`, `developer`, `user`, `assistant` and `tool`. The last message is of a user or a tool, or a text of
    the assistant that the model continues, where it can. Messages of a tool answer the calls of the assistant's message before them. When the session's last run ended with
    `pending_tool_calls`, either answer all of them first, or none: the model then learns that they have no result.
    """
    agent: Agent
    """Settings of this run: each field that is set replaces that of the session's agent. They are kept with the run."""
    annotations: _str
    """A JSON object of the caller's own. RunService.GetRunInput returns it."""
    after_run_id: _str
    """
    Id of the session's latest run: when it is another one, the call gives FAILED_PRECONDITION (SESSION_MOVED) and starts nothing.
    Unset means any.
    """
    start_time: _Timestamp
    """
    Time at which the run begins, at most 30 days ahead; unset, or a time in the past, means at once. Until then the run is
    queued: it counts as active, and can be cancelled. Its timeout begins at this time.
    """
    priority: _int
    """
    Priority among the queued runs of the calling client, -100 to 100: the highest begins first. Clients take turns: the
    priorities of one do not concern another.
    """
    queue_if_busy: _bool
    """
    Whether the message waits while a run of the session is active, instead of SESSION_BUSY. Its run is queued with the
    `wait_reason` `session`, and may begin within a second of the end of the run before it, however that ended. Waiting messages
    begin in the order in which they were sent, and SESSION_BUSY refuses a message that does not wait behind them. The model
    sees a waiting message when its run begins; a run that is cancelled before never shows it. A session has at most 100 of
    them: RESOURCE_EXHAUSTED (CONCURRENCY_EXHAUSTED). The timeout of the run begins when its turn has come.
    """
    replace_history: _bool
    """
    Whether the messages take the place of the session's earlier ones, as for a caller that sends the whole conversation each time.
    The earlier messages leave the session; its runs and their logs stay. Does not go with `queue_if_busy`.
    """
    def __init__(self, *, session_id: _str | None = ..., message: _str | None = ..., request_id: _str | None = ..., messages: _Iterable[Message | _Mapping[_str, _Any]] | None = ..., agent: Agent | _Mapping[_str, _Any] | None = ..., annotations: _str | None = ..., after_run_id: _str | None = ..., start_time: _datetime | _Mapping[_str, _Any] | None = ..., priority: _int | None = ..., queue_if_busy: _bool | None = ..., replace_history: _bool | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["agent", "start_time"]) -> _bool: ...

class SendMessageResponse(_Message):
    """Response of SendMessage."""
    session_id: _str
    """Id of the session."""
    status: Session.State
    """Always STATE_RUNNING."""
    tools_registered: _Scalars[_str]
    """Names of the tools that the model may call, in the order of the request."""
    run_id: _str
    """Id of the run that was started. RunService.TailRun follows it."""
    def __init__(self, *, session_id: _str | None = ..., status: Session.State | _str | None = ..., tools_registered: _Iterable[_str] | None = ..., run_id: _str | None = ...) -> None: ...

class ListMessagesRequest(_Message):
    """Request of ListMessages."""
    class Order(_int):
        """Order of a list."""
        ORDER_UNSPECIFIED: _ClassVar[ListMessagesRequest.Order]
        """Unspecified: oldest first."""
        ORDER_NEWEST_FIRST: _ClassVar[ListMessagesRequest.Order]
        """Newest first, as a reader needs them who begins at the end of a long conversation."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> ListMessagesRequest.Order: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[ListMessagesRequest.Order]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, ListMessagesRequest.Order]]: ...
    ORDER_UNSPECIFIED: _ClassVar[ListMessagesRequest.Order]
    ORDER_NEWEST_FIRST: _ClassVar[ListMessagesRequest.Order]

    session_id: _str
    """Id of the session."""
    page_size: _int
    """Maximum number of messages to return: 1 to 250; 0 means 50. A page of large messages may be shorter."""
    page_token: _str
    """`next_page_token` of the previous page, with the same order; unset means the first page."""
    order: ListMessagesRequest.Order
    """Order of the messages; unset means oldest first."""
    def __init__(self, *, session_id: _str | None = ..., page_size: _int | None = ..., page_token: _str | None = ..., order: ListMessagesRequest.Order | _str | None = ...) -> None: ...

class ListMessagesResponse(_Message):
    """Response of ListMessages."""
    messages: _Messages[SessionMessage]
    """The messages, in the order of the request."""
    next_page_token: _str
    """Token of the next page; empty when there are no more messages for now."""
    def __init__(self, *, messages: _Iterable[SessionMessage | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class SessionMessage(_Message):
    """A message of a session."""
    number: _int
    """Number of the message in its session, from 1. `Fork.message_count` of this number copies up to this message."""
    run_id: _str
    """
    Id of the run that received or produced the message; empty for one that AddMessages wrote. In a fork it may be a run of the
    origin.
    """
    message: Message
    """The message."""
    def __init__(self, *, number: _int | None = ..., run_id: _str | None = ..., message: Message | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["message"]) -> _bool: ...

class AddMessagesRequest(_Message):
    """Request of AddMessages."""
    session_id: _str
    """Id of the session."""
    messages: _Messages[Message]
    """The messages, oldest first, with the roles of SendMessage. Results of tools answer calls before them."""
    request_id: _str
    """Idempotency key: the same id with the same request gives the same answer for 24 hours, so that a retry is safe."""
    def __init__(self, *, session_id: _str | None = ..., messages: _Iterable[Message | _Mapping[_str, _Any]] | None = ..., request_id: _str | None = ...) -> None: ...

class AddMessagesResponse(_Message):
    """Response of AddMessages."""
    first_number: _int
    """Number of the first message that was added. The others follow it."""
    def __init__(self, *, first_number: _int | None = ...) -> None: ...

class DeleteMessageRequest(_Message):
    """Request of DeleteMessage."""
    session_id: _str
    """Id of the session."""
    number: _int
    """Number of the message."""
    def __init__(self, *, session_id: _str | None = ..., number: _int | None = ...) -> None: ...

class DeleteMessageResponse(_Message):
    """Response of DeleteMessage."""
    def __init__(self) -> None: ...

class UpdateSessionRequest(_Message):
    """Request of UpdateSession."""
    session_id: _str
    """Id of the session."""
    annotations: _str
    """A JSON object of the caller's own, in place of the one before; unset removes it."""
    def __init__(self, *, session_id: _str | None = ..., annotations: _str | None = ...) -> None: ...

class UpdateSessionResponse(_Message):
    """Response of UpdateSession."""
    session: Session
    """The session."""
    def __init__(self, *, session: Session | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["session"]) -> _bool: ...

class StreamSessionRequest(_Message):
    """Request of StreamSession."""
    session_id: _str
    """Id of the session."""
    after: _str
    """
    `id` of the last event that the caller received; the stream continues after it. Unset means from the start of the latest
    run. While the session has no run, every id and every `Last-Event-ID` means from the start.
    """
    def __init__(self, *, session_id: _str | None = ..., after: _str | None = ...) -> None: ...

class StreamSessionResponse(_Message):
    """One event of a session's stream. The events of one result arrive together, and only the last of them has an id."""
    id: _str
    """Position after this event, for `after`: `<run_id>.<sequence>`."""
    text: TextEvent
    """A piece of the model's text."""
    tool_call: ToolCallEvent
    """A tool is about to be called."""
    tool_result: ToolResultEvent
    """A tool call ended."""
    error: ErrorEvent
    """
    The run failed, and `done` follows; or the stream ended before the run did, and `reason` says why. A cancelled run sends only
    `done`.
    """
    done: DoneEvent
    """The run ended. This is the last event."""
    turn_restarted: TurnRestartedEvent
    """Earlier events are void because a turn began again. The Agent Runner document does not have this event."""
    def __init__(self, *, id: _str | None = ..., text: TextEvent | _Mapping[_str, _Any] | None = ..., tool_call: ToolCallEvent | _Mapping[_str, _Any] | None = ..., tool_result: ToolResultEvent | _Mapping[_str, _Any] | None = ..., error: ErrorEvent | _Mapping[_str, _Any] | None = ..., done: DoneEvent | _Mapping[_str, _Any] | None = ..., turn_restarted: TurnRestartedEvent | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["text", "tool_call", "tool_result", "error", "done", "turn_restarted", "event"]) -> _bool: ...
    def WhichOneof(self, oneof_group: _Literal["event"]) -> _Literal["text", "tool_call", "tool_result", "error", "done", "turn_restarted"] | None: ...

class TextEvent(_Message):
    """Event `text`: a piece of the model's text."""
    content: _str
    """The new piece of text."""
    def __init__(self, *, content: _str | None = ...) -> None: ...

class ToolCallEvent(_Message):
    """Event `tool_call`: a tool is about to be called."""
    tool: _str
    """Name of the tool."""
    args: _str
    """Arguments as a JSON object."""
    def __init__(self, *, tool: _str | None = ..., args: _str | None = ...) -> None: ...

class ToolResultEvent(_Message):
    """Event `tool_result`: a tool call ended."""
    tool: _str
    """Name of the tool."""
    success: _bool
    """True when the call succeeded."""
    content: _str
    """Output of the tool; empty on failure."""
    error: _str
    """Why the call failed; unset on success."""
    def __init__(self, *, tool: _str | None = ..., success: _bool | None = ..., content: _str | None = ..., error: _str | None = ...) -> None: ...

class ErrorEvent(_Message):
    """Event `error`: the run failed; or, over SSE alone, the stream ended for a reason other than RESUME."""
    message: _str
    """Description of the failure."""
    reason: _str
    """
    Reason for the end of the stream, such as TOKEN_INVALID when the caller's API key was revoked; no `done` follows, and the run
    goes on. Unset when the run failed. Over gRPC and Connect, the status of the call has it.
    """
    def __init__(self, *, message: _str | None = ..., reason: _str | None = ...) -> None: ...

class TurnRestartedEvent(_Message):
    """
    Event `turn_restarted`: the replica that ran a turn died or stopped, and the turn begins again. Earlier events are void.

    Over SSE its data is `{"from_id":"<run_id>.<sequence>"}`. The reader drops every event that it received with this id or a
    later one, including tool calls and their results. It then takes the events that follow. The number after the dot orders the
    ids of a run. `from_id` need not be the id of an event that the reader received. A reader that ignores this event shows the
    void text too; `output` of `done` never holds it.
    """
    from_id: _str
    """Id of the first void event."""
    def __init__(self, *, from_id: _str | None = ...) -> None: ...

class DoneEvent(_Message):
    """Event `done`: the run ended."""
    status: Session.State
    """Final state of the run: STATE_COMPLETED, STATE_FAILED or STATE_CANCELLED."""
    output: _str
    """Output of the run."""
    turns: _int
    """Number of model responses in the run."""
    duration_ms: _int
    """Duration of the run, in milliseconds."""
    def __init__(self, *, status: Session.State | _str | None = ..., output: _str | None = ..., turns: _int | None = ..., duration_ms: _int | None = ...) -> None: ...

class SessionService(_Service):
    """
    Works on sessions: the API of the Agent Runner document, over every surface.

    A session belongs to the client that created it. Every other client gets NOT_FOUND with reason SESSION_NOT_FOUND, exactly as
    for an unknown id.
    """
    def create_session(self, request: CreateSessionRequest, *, timeout: _float | None = ...) -> CreateSessionResponse:
        """
        Creates a session, or a fork of one.

        The session does nothing until a message is sent. A fork begins with messages of another session, which stays as it is.
        ALREADY_EXISTS (SESSION_EXISTS) when the client has a session with that
        id. May be retried safely with the same `request_id`. The request is checked in the order of the Agent Runner document.
        """
        ...
    def get_session(self, request: GetSessionRequest, *, timeout: _float | None = ...) -> GetSessionResponse:
        """Returns one session with the state of its latest run."""
        ...
    def list_sessions(self, request: ListSessionsRequest, *, timeout: _float | None = ...) -> ListSessionsResponse:
        """
        Lists the sessions of the calling client, newest first: those that match all filters that are set.

        A page reads a bounded number of sessions. When few of them match, the page is short or empty, and `next_page_token` is set while the
        list goes on: follow it until it is empty.
        """
        ...
    def list_presets(self, request: ListPresetsRequest, *, timeout: _float | None = ...) -> ListPresetsResponse:
        """Lists the presets of the service: agents that its settings name."""
        ...
    def delete_session(self, request: DeleteSessionRequest, *, timeout: _float | None = ...) -> DeleteSessionResponse:
        """
        Deletes a session in any state and cancels its active run.

        The session is gone at once. Open streams still get the end of the run, and its log stays readable by run id. A second call
        gives NOT_FOUND.
        """
        ...
    def purge_session(self, request: PurgeSessionRequest, *, timeout: _float | None = ...) -> PurgeSessionResponse:
        """
        Erases the content of a session and of its runs permanently, and deletes the session if it still exists.

        The logs keep the sequence, type, numbers and SHA-256 of each entry. A client that kept a copy of the content can prove it
        with these. Every text, argument and file content is erased, also from the transcript. The call covers every session that
        the client ever had under this id. FAILED_PRECONDITION (SESSION_BUSY) while a run is active: cancel it first. May be
        retried.
        """
        ...
    def send_message(self, request: SendMessageRequest, *, timeout: _float | None = ...) -> SendMessageResponse:
        """
        Sends a message and starts a run. Returns as soon as the run is durable. The run needs no reader.

        FAILED_PRECONDITION (SESSION_BUSY) while a run of the session is active, unless `queue_if_busy` is set, or after its only
        message where the service is set to one message per session. RESOURCE_EXHAUSTED (CONCURRENCY_EXHAUSTED) when the service or the client has its maximum
        number of active runs. May be retried safely with the same `request_id`.
        """
        ...
    def list_messages(self, request: ListMessagesRequest, *, timeout: _float | None = ...) -> ListMessagesResponse:
        """Lists the messages of a session: what its model has received and produced. A message appears here when it is complete."""
        ...
    def add_messages(self, request: AddMessagesRequest, *, timeout: _float | None = ...) -> AddMessagesResponse:
        """
        Adds messages to a session without starting a run: the next run's model sees them.

        FAILED_PRECONDITION (SESSION_BUSY) while a run of the session is active. May be retried safely with the same `request_id`.
        """
        ...
    def delete_message(self, request: DeleteMessageRequest, *, timeout: _float | None = ...) -> DeleteMessageResponse:
        """
        Deletes a message of a session, and the results that answer its calls. Later runs do not see them; the logs of the runs before
        stay. The other messages keep their numbers.

        FAILED_PRECONDITION (SESSION_BUSY) while a run of the session is active. INVALID_ARGUMENT when the session has no such message.
        """
        ...
    def update_session(self, request: UpdateSessionRequest, *, timeout: _float | None = ...) -> UpdateSessionResponse:
        """Replaces the annotations of a session."""
        ...
    def stream_session(self, request: StreamSessionRequest, *, timeout: _float | None = ...) -> _Iterator[StreamSessionResponse]:
        """
        Streams the session's latest run as the events of the Agent Runner document, and ends after `done`.

        The stream waits when no message was sent yet. When the session is deleted before that, the stream ends with a `done` as
        cancelled. An event without a member opens the stream at once and keeps it alive every 15 s. OK means that `done` was
        delivered.

        After UNAVAILABLE (RESUME), and after any failure of the connection, call again with `after`. Such a failure looks
        different in each client; docs/resuming.md lists the codes that end the stream. May be retried.
        """
        ...

class AsyncSessionService(_AsyncService):
    """
    Works on sessions: the API of the Agent Runner document, over every surface.

    A session belongs to the client that created it. Every other client gets NOT_FOUND with reason SESSION_NOT_FOUND, exactly as
    for an unknown id.
    """
    async def create_session(self, request: CreateSessionRequest, *, timeout: _float | None = ...) -> CreateSessionResponse:
        """
        Creates a session, or a fork of one.

        The session does nothing until a message is sent. A fork begins with messages of another session, which stays as it is.
        ALREADY_EXISTS (SESSION_EXISTS) when the client has a session with that
        id. May be retried safely with the same `request_id`. The request is checked in the order of the Agent Runner document.
        """
        ...
    async def get_session(self, request: GetSessionRequest, *, timeout: _float | None = ...) -> GetSessionResponse:
        """Returns one session with the state of its latest run."""
        ...
    async def list_sessions(self, request: ListSessionsRequest, *, timeout: _float | None = ...) -> ListSessionsResponse:
        """
        Lists the sessions of the calling client, newest first: those that match all filters that are set.

        A page reads a bounded number of sessions. When few of them match, the page is short or empty, and `next_page_token` is set while the
        list goes on: follow it until it is empty.
        """
        ...
    async def list_presets(self, request: ListPresetsRequest, *, timeout: _float | None = ...) -> ListPresetsResponse:
        """Lists the presets of the service: agents that its settings name."""
        ...
    async def delete_session(self, request: DeleteSessionRequest, *, timeout: _float | None = ...) -> DeleteSessionResponse:
        """
        Deletes a session in any state and cancels its active run.

        The session is gone at once. Open streams still get the end of the run, and its log stays readable by run id. A second call
        gives NOT_FOUND.
        """
        ...
    async def purge_session(self, request: PurgeSessionRequest, *, timeout: _float | None = ...) -> PurgeSessionResponse:
        """
        Erases the content of a session and of its runs permanently, and deletes the session if it still exists.

        The logs keep the sequence, type, numbers and SHA-256 of each entry. A client that kept a copy of the content can prove it
        with these. Every text, argument and file content is erased, also from the transcript. The call covers every session that
        the client ever had under this id. FAILED_PRECONDITION (SESSION_BUSY) while a run is active: cancel it first. May be
        retried.
        """
        ...
    async def send_message(self, request: SendMessageRequest, *, timeout: _float | None = ...) -> SendMessageResponse:
        """
        Sends a message and starts a run. Returns as soon as the run is durable. The run needs no reader.

        FAILED_PRECONDITION (SESSION_BUSY) while a run of the session is active, unless `queue_if_busy` is set, or after its only
        message where the service is set to one message per session. RESOURCE_EXHAUSTED (CONCURRENCY_EXHAUSTED) when the service or the client has its maximum
        number of active runs. May be retried safely with the same `request_id`.
        """
        ...
    async def list_messages(self, request: ListMessagesRequest, *, timeout: _float | None = ...) -> ListMessagesResponse:
        """Lists the messages of a session: what its model has received and produced. A message appears here when it is complete."""
        ...
    async def add_messages(self, request: AddMessagesRequest, *, timeout: _float | None = ...) -> AddMessagesResponse:
        """
        Adds messages to a session without starting a run: the next run's model sees them.

        FAILED_PRECONDITION (SESSION_BUSY) while a run of the session is active. May be retried safely with the same `request_id`.
        """
        ...
    async def delete_message(self, request: DeleteMessageRequest, *, timeout: _float | None = ...) -> DeleteMessageResponse:
        """
        Deletes a message of a session, and the results that answer its calls. Later runs do not see them; the logs of the runs before
        stay. The other messages keep their numbers.

        FAILED_PRECONDITION (SESSION_BUSY) while a run of the session is active. INVALID_ARGUMENT when the session has no such message.
        """
        ...
    async def update_session(self, request: UpdateSessionRequest, *, timeout: _float | None = ...) -> UpdateSessionResponse:
        """Replaces the annotations of a session."""
        ...
    def stream_session(self, request: StreamSessionRequest, *, timeout: _float | None = ...) -> _AsyncIterator[StreamSessionResponse]:
        """
        Streams the session's latest run as the events of the Agent Runner document, and ends after `done`.

        The stream waits when no message was sent yet. When the session is deleted before that, the stream ends with a `done` as
        cancelled. An event without a member opens the stream at once and keeps it alive every 15 s. OK means that `done` was
        delivered.

        After UNAVAILABLE (RESUME), and after any failure of the connection, call again with `after`. Such a failure looks
        different in each client; docs/resuming.md lists the codes that end the stream. May be retried.
        """
        ...

class Schedule(_Message):
    """
    A message that is sent again and again, at times of a calendar.

    Each time gives at most one run. When no replica works at a time, the run starts as soon as one does; of several missed times
    only one gives a run. A time whose message is refused gives none, and `last_error` says why.
    """
    schedule_id: _str
    """Id of the schedule, unique for its client; when it is unset, the service chooses one."""
    cron: _str
    """Times in the format of cron, five fields: minute, hour, day of the month, month, day of the week. Example: `0 7 * * MON-FRI`."""
    time_zone: _str
    """
    Time zone of the times, a name of the IANA database such as `Europe/Rome`; unset means UTC. A time that the clocks skip in
    spring is moved behind the gap.
    """
    session_id: _str
    """Id of the session that gets the message each time."""
    session: CreateSessionRequest
    """The session that is created for each time. `session_id` and `request_id` must be unset."""
    message: SendMessageRequest
    """The message. `session_id`, `request_id`, `after_run_id` and `start_time` must be unset."""
    next_time: _Timestamp
    """The next time; unset while the schedule is paused."""
    last_time: _Timestamp
    """The last time that was worked on, or the start of the run of a later TriggerSchedule; unset before the first one."""
    last_run_id: _str
    """Id of the run of `last_time`; unset when the time gave none."""
    last_error: _str
    """Why `last_time` gave no run."""
    create_time: _Timestamp
    """Time of creation."""
    paused: _bool
    """Whether PauseSchedule has paused it."""
    def __init__(self, *, schedule_id: _str | None = ..., cron: _str | None = ..., time_zone: _str | None = ..., session_id: _str | None = ..., session: CreateSessionRequest | _Mapping[_str, _Any] | None = ..., message: SendMessageRequest | _Mapping[_str, _Any] | None = ..., next_time: _datetime | _Mapping[_str, _Any] | None = ..., last_time: _datetime | _Mapping[_str, _Any] | None = ..., last_run_id: _str | None = ..., last_error: _str | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ..., paused: _bool | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["session", "message", "next_time", "last_time", "create_time"]) -> _bool: ...

class CreateScheduleRequest(_Message):
    """Request of CreateSchedule."""
    schedule: Schedule
    """The schedule."""
    def __init__(self, *, schedule: Schedule | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["schedule"]) -> _bool: ...

class CreateScheduleResponse(_Message):
    """Response of CreateSchedule."""
    schedule: Schedule
    """The schedule, with its next time."""
    def __init__(self, *, schedule: Schedule | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["schedule"]) -> _bool: ...

class GetScheduleRequest(_Message):
    """Request of GetSchedule."""
    schedule_id: _str
    """Id of the schedule."""
    def __init__(self, *, schedule_id: _str | None = ...) -> None: ...

class GetScheduleResponse(_Message):
    """Response of GetSchedule."""
    schedule: Schedule
    """The schedule."""
    def __init__(self, *, schedule: Schedule | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["schedule"]) -> _bool: ...

class ListSchedulesRequest(_Message):
    """Request of ListSchedules."""
    page_size: _int
    """Maximum number of schedules to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListSchedulesResponse(_Message):
    """Response of ListSchedules."""
    schedules: _Messages[Schedule]
    """The schedules, in the order of their ids."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, schedules: _Iterable[Schedule | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class DeleteScheduleRequest(_Message):
    """Request of DeleteSchedule."""
    schedule_id: _str
    """Id of the schedule."""
    def __init__(self, *, schedule_id: _str | None = ...) -> None: ...

class DeleteScheduleResponse(_Message):
    """Response of DeleteSchedule."""
    def __init__(self) -> None: ...

class PauseScheduleRequest(_Message):
    """Request of PauseSchedule."""
    schedule_id: _str
    """Id of the schedule."""
    def __init__(self, *, schedule_id: _str | None = ...) -> None: ...

class PauseScheduleResponse(_Message):
    """Response of PauseSchedule."""
    schedule: Schedule
    """The schedule."""
    def __init__(self, *, schedule: Schedule | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["schedule"]) -> _bool: ...

class ResumeScheduleRequest(_Message):
    """Request of ResumeSchedule."""
    schedule_id: _str
    """Id of the schedule."""
    def __init__(self, *, schedule_id: _str | None = ...) -> None: ...

class ResumeScheduleResponse(_Message):
    """Response of ResumeSchedule."""
    schedule: Schedule
    """The schedule, with its next time."""
    def __init__(self, *, schedule: Schedule | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["schedule"]) -> _bool: ...

class TriggerScheduleRequest(_Message):
    """Request of TriggerSchedule."""
    schedule_id: _str
    """Id of the schedule."""
    request_id: _str
    """Makes the call repeatable: calls with the same id start one run. Unset: each call starts a run."""
    def __init__(self, *, schedule_id: _str | None = ..., request_id: _str | None = ...) -> None: ...

class TriggerScheduleResponse(_Message):
    """Response of TriggerSchedule."""
    run_id: _str
    """Id of the run."""
    session_id: _str
    """Id of its session."""
    def __init__(self, *, run_id: _str | None = ..., session_id: _str | None = ...) -> None: ...

class ScheduleService(_Service):
    """
    Works on schedules. A schedule belongs to the client that created it. Every other client gets NOT_FOUND with reason
    SCHEDULE_NOT_FOUND, exactly as for an unknown id.
    """
    def create_schedule(self, request: CreateScheduleRequest, *, timeout: _float | None = ...) -> CreateScheduleResponse:
        """
        Creates a schedule. ALREADY_EXISTS (SCHEDULE_EXISTS) when the client has one with that id; RESOURCE_EXHAUSTED (QUOTA_EXHAUSTED)
        at 1,000 schedules.
        """
        ...
    def get_schedule(self, request: GetScheduleRequest, *, timeout: _float | None = ...) -> GetScheduleResponse:
        """Returns one schedule, with its next time and what its last time gave."""
        ...
    def list_schedules(self, request: ListSchedulesRequest, *, timeout: _float | None = ...) -> ListSchedulesResponse:
        """Lists the schedules of the calling client, in the order of their ids."""
        ...
    def delete_schedule(self, request: DeleteScheduleRequest, *, timeout: _float | None = ...) -> DeleteScheduleResponse:
        """Deletes a schedule. Runs that it has started go on. A second call gives NOT_FOUND."""
        ...
    def pause_schedule(self, request: PauseScheduleRequest, *, timeout: _float | None = ...) -> PauseScheduleResponse:
        """
        Pauses a schedule: no time gives a run until ResumeSchedule. Runs that it has started go on, and a time that a replica already works
        on may still give its run. Pausing a paused schedule changes nothing.
        """
        ...
    def resume_schedule(self, request: ResumeScheduleRequest, *, timeout: _float | None = ...) -> ResumeScheduleResponse:
        """
        Ends the pause of a schedule: its next time is the first one from now on. The times of the pause give no run. Resuming a schedule that
        is not paused changes nothing.
        """
        ...
    def trigger_schedule(self, request: TriggerScheduleRequest, *, timeout: _float | None = ...) -> TriggerScheduleResponse:
        """
        Starts a run of a schedule now, also of a paused one, as a time would.

        The run becomes the last one of the schedule, with `last_time`; `next_time` stays. A run that is refused changes nothing: the call has
        the error of CreateSession or SendMessage. May be retried safely with the same `request_id`.
        """
        ...

class AsyncScheduleService(_AsyncService):
    """
    Works on schedules. A schedule belongs to the client that created it. Every other client gets NOT_FOUND with reason
    SCHEDULE_NOT_FOUND, exactly as for an unknown id.
    """
    async def create_schedule(self, request: CreateScheduleRequest, *, timeout: _float | None = ...) -> CreateScheduleResponse:
        """
        Creates a schedule. ALREADY_EXISTS (SCHEDULE_EXISTS) when the client has one with that id; RESOURCE_EXHAUSTED (QUOTA_EXHAUSTED)
        at 1,000 schedules.
        """
        ...
    async def get_schedule(self, request: GetScheduleRequest, *, timeout: _float | None = ...) -> GetScheduleResponse:
        """Returns one schedule, with its next time and what its last time gave."""
        ...
    async def list_schedules(self, request: ListSchedulesRequest, *, timeout: _float | None = ...) -> ListSchedulesResponse:
        """Lists the schedules of the calling client, in the order of their ids."""
        ...
    async def delete_schedule(self, request: DeleteScheduleRequest, *, timeout: _float | None = ...) -> DeleteScheduleResponse:
        """Deletes a schedule. Runs that it has started go on. A second call gives NOT_FOUND."""
        ...
    async def pause_schedule(self, request: PauseScheduleRequest, *, timeout: _float | None = ...) -> PauseScheduleResponse:
        """
        Pauses a schedule: no time gives a run until ResumeSchedule. Runs that it has started go on, and a time that a replica already works
        on may still give its run. Pausing a paused schedule changes nothing.
        """
        ...
    async def resume_schedule(self, request: ResumeScheduleRequest, *, timeout: _float | None = ...) -> ResumeScheduleResponse:
        """
        Ends the pause of a schedule: its next time is the first one from now on. The times of the pause give no run. Resuming a schedule that
        is not paused changes nothing.
        """
        ...
    async def trigger_schedule(self, request: TriggerScheduleRequest, *, timeout: _float | None = ...) -> TriggerScheduleResponse:
        """
        Starts a run of a schedule now, also of a paused one, as a time would.

        The run becomes the last one of the schedule, with `last_time`; `next_time` stays. A run that is refused changes nothing: the call has
        the error of CreateSession or SendMessage. May be retried safely with the same `request_id`.
        """
        ...

class GetVersionRequest(_Message):
    """Request of GetVersion."""
    def __init__(self) -> None: ...

class GetVersionResponse(_Message):
    """Response of GetVersion."""
    version: _str
    """Version of Runnel."""
    node_version: _str
    """Version of Node.js that runs the service."""
    postgres_version: _str
    """Version of the Postgres server."""
    def __init__(self, *, version: _str | None = ..., node_version: _str | None = ..., postgres_version: _str | None = ...) -> None: ...

class GetLimitsRequest(_Message):
    """Request of GetLimits."""
    def __init__(self) -> None: ...

class GetLimitsResponse(_Message):
    """Response of GetLimits."""
    message_bytes_max: _int
    """Maximum size of one gRPC or Connect message, in bytes."""
    rest_body_bytes_max: _int
    """Maximum size of a REST body, in bytes."""
    concurrent_runs_max: _int
    """Maximum number of active runs over all replicas; 0 means no limit."""
    turns_max: _int
    """Maximum number of model responses per run, unless the session sets a lower number."""
    run_seconds_max: _int
    """Maximum duration of a run, in seconds."""
    tool_output_bytes_max: _int
    """Maximum size of a tool's output, in bytes. Longer output is cut."""
    tool_call_seconds_max: _int
    """Maximum duration of one tool call, in seconds."""
    parallel_tool_calls_max: _int
    """Maximum number of parallel tool calls in one run."""
    run_tokens_max: _int
    """Maximum number of tokens of one run; 0 means no limit."""
    run_cost_micro_usd_max: _int
    """Maximum cost of one run, in millionths of a US dollar; 0 means no limit."""
    history_messages_max: _int
    """Maximum number of earlier messages of a session that a model receives."""
    client_concurrent_runs_max: _int
    """Maximum number of the caller's active runs over all replicas; 0 means that only the limit over all clients applies."""
    def __init__(self, *, message_bytes_max: _int | None = ..., rest_body_bytes_max: _int | None = ..., concurrent_runs_max: _int | None = ..., turns_max: _int | None = ..., run_seconds_max: _int | None = ..., tool_output_bytes_max: _int | None = ..., tool_call_seconds_max: _int | None = ..., parallel_tool_calls_max: _int | None = ..., run_tokens_max: _int | None = ..., run_cost_micro_usd_max: _int | None = ..., history_messages_max: _int | None = ..., client_concurrent_runs_max: _int | None = ...) -> None: ...

class Setting(_Message):
    """A setting of a replica."""
    key: _str
    """Key in a file of settings, such as `server.port`."""
    value: _str
    """
    Value in force, as text; empty means that it has none. A secret is only `(set)` or `(unset)`. Texts that look like a
    credential, such as the password in a URL, are replaced by `[redacted]`.
    """
    default_value: _str
    """Value without any source, in the same form."""
    origin: _str
    """
    Source of the value: `default`, `file <path>`, `environment <variable>`, `file of <variable>` for a secret in a file of its
    own, or `flag` for what the command line or the command itself sets.
    """
    about: _str
    """What the setting does, in Markdown."""
    variables: _Scalars[_str]
    """Environment variables that set it. The first one that is not empty counts."""
    is_secret: _bool
    """True for a setting whose value is never shown."""
    def __init__(self, *, key: _str | None = ..., value: _str | None = ..., default_value: _str | None = ..., origin: _str | None = ..., about: _str | None = ..., variables: _Iterable[_str] | None = ..., is_secret: _bool | None = ...) -> None: ...

class ListSettingsRequest(_Message):
    """Request of ListSettings."""
    def __init__(self) -> None: ...

class ListSettingsResponse(_Message):
    """Response of ListSettings."""
    settings: _Messages[Setting]
    """The settings, grouped by section."""
    def __init__(self, *, settings: _Iterable[Setting | _Mapping[_str, _Any]] | None = ...) -> None: ...

class Replica(_Message):
    """A process that works on runs."""
    replica_id: _str
    """Id of its lease. A replica that loses its lease takes a new one."""
    version: _str
    """Version of Runnel; empty for a version without this field."""
    start_time: _Timestamp
    """Time when it took the lease."""
    lease_time: _Timestamp
    """Time until which it may write, unless it renews the lease before. After this time another replica takes over its runs."""
    slots: _int
    """Number of runs that it works on at once; 0 when it is unknown."""
    runs: _int
    """Number of runs that it works on. Runs of runners elsewhere need no slot, so it may be larger than `slots`."""
    def __init__(self, *, replica_id: _str | None = ..., version: _str | None = ..., start_time: _datetime | _Mapping[_str, _Any] | None = ..., lease_time: _datetime | _Mapping[_str, _Any] | None = ..., slots: _int | None = ..., runs: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["start_time", "lease_time"]) -> _bool: ...

class ListReplicasRequest(_Message):
    """Request of ListReplicas."""
    def __init__(self) -> None: ...

class ListReplicasResponse(_Message):
    """Response of ListReplicas."""
    replicas: _Messages[Replica]
    """The replicas, oldest lease first."""
    queued: _int
    """Number of runs that wait for a slot, and of those that are to start later."""
    waiting: _int
    """Number of runs that wait for an approval, a child run, a person or a time."""
    pending: _int
    """Number of runs that wait for the run before them in their session."""
    oldest_queued_time: _Timestamp
    """Time since which the oldest queued run could have begun; unset when no run waits for a slot."""
    time: _Timestamp
    """Time of the database, by which leases are judged."""
    def __init__(self, *, replicas: _Iterable[Replica | _Mapping[_str, _Any]] | None = ..., queued: _int | None = ..., waiting: _int | None = ..., pending: _int | None = ..., oldest_queued_time: _datetime | _Mapping[_str, _Any] | None = ..., time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["oldest_queued_time", "time"]) -> _bool: ...

class GetUsageRequest(_Message):
    """Request of GetUsage."""
    def __init__(self) -> None: ...

class GetUsageResponse(_Message):
    """Response of GetUsage."""
    day: _str
    """The day of these numbers, UTC, such as `2026-11-21`."""
    tokens: _int
    """
    Tokens that were used, and tokens that active runs have reserved. Counted only where a daily budget of tokens or cost is
    set for a client; ListUsage has the sums of ended runs without one.
    """
    cost_micro_usd: _int
    """Cost in millionths of a US dollar, counted like `tokens`."""
    tokens_max: _int
    """Maximum number of tokens per day; 0 means no limit."""
    cost_micro_usd_max: _int
    """Maximum cost per day, in millionths of a US dollar; 0 means no limit."""
    client_id: _str
    """Id of the client that calls."""
    def __init__(self, *, day: _str | None = ..., tokens: _int | None = ..., cost_micro_usd: _int | None = ..., tokens_max: _int | None = ..., cost_micro_usd_max: _int | None = ..., client_id: _str | None = ...) -> None: ...

class DayUsage(_Message):
    """Usage of a client's ended runs on one day, with one model and one agent."""
    day: _str
    """Day of the runs' ends, UTC, such as `2026-11-21`."""
    model: _str
    """`model` of the runs; empty for runs of drivers without a model."""
    agent_name: _str
    """Name of the agent; empty after a purge of the session."""
    runs: _int
    """Number of runs that ended, failed and cancelled ones included."""
    prompt_tokens: _int
    """Number of input tokens, where the runs' providers or runners reported them."""
    completion_tokens: _int
    """Number of output tokens, counted like `prompt_tokens`."""
    cost_micro_usd: _int
    """Cost in millionths of a US dollar. A run with a model without a known price adds nothing."""
    def __init__(self, *, day: _str | None = ..., model: _str | None = ..., agent_name: _str | None = ..., runs: _int | None = ..., prompt_tokens: _int | None = ..., completion_tokens: _int | None = ..., cost_micro_usd: _int | None = ...) -> None: ...

class ListUsageRequest(_Message):
    """Request of ListUsage."""
    day_from: _str
    """First day, UTC, such as `2026-11-21`; unset means 29 days before `day_to`. A request spans at most 92 days."""
    day_to: _str
    """Last day, UTC; unset means today."""
    page_size: _int
    """Maximum number of rows to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page, with the same days; unset means the first page."""
    def __init__(self, *, day_from: _str | None = ..., day_to: _str | None = ..., page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListUsageResponse(_Message):
    """Response of ListUsage."""
    days: _Messages[DayUsage]
    """The rows, newest day first, then by model and agent."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, days: _Iterable[DayUsage | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class SystemService(_Service):
    """Returns the version of this service, its limits and its settings, and the caller's usage."""
    def get_version(self, request: GetVersionRequest, *, timeout: _float | None = ...) -> GetVersionResponse:
        """Returns the versions of the software in use. Needs no credentials. May be retried."""
        ...
    def get_limits(self, request: GetLimitsRequest, *, timeout: _float | None = ...) -> GetLimitsResponse:
        """Returns the limits in force. Needs no credentials. May be retried."""
        ...
    def list_settings(self, request: ListSettingsRequest, *, timeout: _float | None = ...) -> ListSettingsResponse:
        """
        Lists all settings of the replica that answers, grouped by section. May be retried.

        A replica reads its settings once, when it starts. Other replicas may run with other settings. Values of secrets are never
        returned.
        """
        ...
    def list_replicas(self, request: ListReplicasRequest, *, timeout: _float | None = ...) -> ListReplicasResponse:
        """Lists the replicas of the service with their leases, and counts the runs of all clients that wait. May be retried."""
        ...
    def get_usage(self, request: GetUsageRequest, *, timeout: _float | None = ...) -> GetUsageResponse:
        """Returns what the caller's runs have used today (UTC), and the caller's daily budget. May be retried."""
        ...
    def list_usage(self, request: ListUsageRequest, *, timeout: _float | None = ...) -> ListUsageResponse:
        """
        Lists what the caller's ended runs have used, by day (UTC), model and agent, newest day first. Needs no budget. May be
        retried.

        A run counts on the day of its end, with the `usage` of GetRun. The sums are those that UsageService keeps by the day: for 92
        days, also when the run is deleted, and of more than 200 agents and models of a day without the names of the others.
        """
        ...

class AsyncSystemService(_AsyncService):
    """Returns the version of this service, its limits and its settings, and the caller's usage."""
    async def get_version(self, request: GetVersionRequest, *, timeout: _float | None = ...) -> GetVersionResponse:
        """Returns the versions of the software in use. Needs no credentials. May be retried."""
        ...
    async def get_limits(self, request: GetLimitsRequest, *, timeout: _float | None = ...) -> GetLimitsResponse:
        """Returns the limits in force. Needs no credentials. May be retried."""
        ...
    async def list_settings(self, request: ListSettingsRequest, *, timeout: _float | None = ...) -> ListSettingsResponse:
        """
        Lists all settings of the replica that answers, grouped by section. May be retried.

        A replica reads its settings once, when it starts. Other replicas may run with other settings. Values of secrets are never
        returned.
        """
        ...
    async def list_replicas(self, request: ListReplicasRequest, *, timeout: _float | None = ...) -> ListReplicasResponse:
        """Lists the replicas of the service with their leases, and counts the runs of all clients that wait. May be retried."""
        ...
    async def get_usage(self, request: GetUsageRequest, *, timeout: _float | None = ...) -> GetUsageResponse:
        """Returns what the caller's runs have used today (UTC), and the caller's daily budget. May be retried."""
        ...
    async def list_usage(self, request: ListUsageRequest, *, timeout: _float | None = ...) -> ListUsageResponse:
        """
        Lists what the caller's ended runs have used, by day (UTC), model and agent, newest day first. Needs no budget. May be
        retried.

        A run counts on the day of its end, with the `usage` of GetRun. The sums are those that UsageService keeps by the day: for 92
        days, also when the run is deleted, and of more than 200 agents and models of a day without the names of the others.
        """
        ...

class UsageGroup(_int):
    """What a report has a series for."""
    USAGE_GROUP_UNSPECIFIED: _ClassVar[UsageGroup]
    """Unspecified: one series with all runs."""
    USAGE_GROUP_AGENT: _ClassVar[UsageGroup]
    """A series for each agent."""
    USAGE_GROUP_MODEL: _ClassVar[UsageGroup]
    """A series for each model."""
    USAGE_GROUP_CLIENT: _ClassVar[UsageGroup]
    """A series for each client; only the operator has several."""
    @classmethod
    def Name(cls, number: _int) -> _str: ...
    @classmethod
    def Value(cls, name: _str) -> UsageGroup: ...
    @classmethod
    def keys(cls) -> list[_str]: ...
    @classmethod
    def values(cls) -> list[UsageGroup]: ...
    @classmethod
    def items(cls) -> list[tuple[_str, UsageGroup]]: ...
USAGE_GROUP_UNSPECIFIED: UsageGroup
USAGE_GROUP_AGENT: UsageGroup
USAGE_GROUP_MODEL: UsageGroup
USAGE_GROUP_CLIENT: UsageGroup

class TimePercentiles(_Message):
    """Percentiles of a time. They come from buckets, so each is wrong by at most 10 %."""
    count: _int
    """Number of runs that were measured."""
    p50_ms: _int
    """Half of the runs took at most this time, in milliseconds."""
    p95_ms: _int
    """95 % of the runs took at most this time, in milliseconds."""
    p99_ms: _int
    """99 % of the runs took at most this time, in milliseconds."""
    def __init__(self, *, count: _int | None = ..., p50_ms: _int | None = ..., p95_ms: _int | None = ..., p99_ms: _int | None = ...) -> None: ...

class UsagePoint(_Message):
    """What the runs used that ended in a period."""
    start_time: _Timestamp
    """Start of the period; unset for the sum of all periods."""
    completed: _int
    """Number of runs that completed."""
    failed: _int
    """Number of runs that failed."""
    cancelled: _int
    """Number of runs that were cancelled."""
    prompt_tokens: _int
    """Number of input tokens, where the runs' providers or runners reported them."""
    completion_tokens: _int
    """Number of output tokens, counted like `prompt_tokens`."""
    cost_micro_usd: _int
    """Cost in millionths of a US dollar. A run with a model without a known price adds nothing."""
    duration: TimePercentiles
    """
    Time from the start of a run to its end, waits included; unset when no run had started, and in a report of more than 20,000 sums
    of days.
    """
    first_text: TimePercentiles
    """
    Time from the start of a run to its first text; unset when no run was measured, and where `duration` is. A run counts that the replica which began it
    has also ended, without a wait.
    """
    def __init__(self, *, start_time: _datetime | _Mapping[_str, _Any] | None = ..., completed: _int | None = ..., failed: _int | None = ..., cancelled: _int | None = ..., prompt_tokens: _int | None = ..., completion_tokens: _int | None = ..., cost_micro_usd: _int | None = ..., duration: TimePercentiles | _Mapping[_str, _Any] | None = ..., first_text: TimePercentiles | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["start_time", "duration", "first_text"]) -> _bool: ...

class UsageSeries(_Message):
    """The runs of one agent, model or client."""
    name: _str
    """
    Name of the agent, the model or the client; a client has its realm, such as `key/team-a`. Empty for a report without groups,
    and for runs without a name.
    """
    is_rest: _bool
    """True for the last series, which has the runs of all names that have no series of their own."""
    total: UsagePoint
    """Sum of all periods."""
    points: _Messages[UsagePoint]
    """The periods, oldest first. A period without runs is left out."""
    def __init__(self, *, name: _str | None = ..., is_rest: _bool | None = ..., total: UsagePoint | _Mapping[_str, _Any] | None = ..., points: _Iterable[UsagePoint | _Mapping[_str, _Any]] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["total"]) -> _bool: ...

class UsageReport(_Message):
    """Usage over time."""
    time_from: _Timestamp
    """Start of the first period, inclusive."""
    time_to: _Timestamp
    """End of the last period, exclusive."""
    step_seconds: _int
    """
    Length of a period in seconds: the shortest one that the service keeps for this time, with at most 300 periods, and with at most
    20,000 sums of a client's agent and model in a period. A day (86,400) when no other fits.
    """
    series: _Messages[UsageSeries]
    """The series: the ten names with the most runs, and the rest. Empty when no run ended."""
    def __init__(self, *, time_from: _datetime | _Mapping[_str, _Any] | None = ..., time_to: _datetime | _Mapping[_str, _Any] | None = ..., step_seconds: _int | None = ..., series: _Iterable[UsageSeries | _Mapping[_str, _Any]] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["time_from", "time_to"]) -> _bool: ...

class QueryUsageRequest(_Message):
    """Request of QueryUsage."""
    time_from: _Timestamp
    """Earliest end of a run, inclusive; unset means a day before `time_to`. A request spans at most 92 days."""
    time_to: _Timestamp
    """Latest end of a run, exclusive; unset means now."""
    group_by: UsageGroup
    """What the report has a series for; unset means one series."""
    agent_name: _str
    """Exact name of the agent; unset means any."""
    model: _str
    """Exact `model` of the runs; unset means any."""
    def __init__(self, *, time_from: _datetime | _Mapping[_str, _Any] | None = ..., time_to: _datetime | _Mapping[_str, _Any] | None = ..., group_by: UsageGroup | _str | None = ..., agent_name: _str | None = ..., model: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["time_from", "time_to"]) -> _bool: ...

class QueryUsageResponse(_Message):
    """Response of QueryUsage."""
    report: UsageReport
    """The usage."""
    def __init__(self, *, report: UsageReport | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["report"]) -> _bool: ...

class QueryUsageOfClientsRequest(_Message):
    """Request of QueryUsageOfClients."""
    time_from: _Timestamp
    """Earliest end of a run, inclusive; unset means a day before `time_to`. A request spans at most 92 days."""
    time_to: _Timestamp
    """Latest end of a run, exclusive; unset means now."""
    group_by: UsageGroup
    """What the report has a series for; unset means one series."""
    agent_name: _str
    """Exact name of the agent; unset means any."""
    model: _str
    """Exact `model` of the runs; unset means any."""
    client: _str
    """Exact client with its realm, such as `key/team-a`; unset means all clients."""
    def __init__(self, *, time_from: _datetime | _Mapping[_str, _Any] | None = ..., time_to: _datetime | _Mapping[_str, _Any] | None = ..., group_by: UsageGroup | _str | None = ..., agent_name: _str | None = ..., model: _str | None = ..., client: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["time_from", "time_to"]) -> _bool: ...

class QueryUsageOfClientsResponse(_Message):
    """Response of QueryUsageOfClients."""
    report: UsageReport
    """The usage."""
    def __init__(self, *, report: UsageReport | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["report"]) -> _bool: ...

class UsageService(_Service):
    """
    Returns what ended runs used, over time.

    A run counts once, in the period of its end, from its end on. The service keeps the sums by the minute for a day, by 5 minutes
    for 3 days, by the hour for 14 days and by the day (UTC) for 92 days, also when the run is deleted. A purge of its session
    removes the name of the agent. Runs that ended before an upgrade to a version with this service do not count.
    """
    def query_usage(self, request: QueryUsageRequest, *, timeout: _float | None = ...) -> QueryUsageResponse:
        """
        Returns the usage of the calling client: how many runs ended how, how long they took, their tokens and their cost. May be
        retried.
        """
        ...
    def query_usage_of_clients(self, request: QueryUsageOfClientsRequest, *, timeout: _float | None = ...) -> QueryUsageOfClientsResponse:
        """Returns the usage of all clients, or of one, for the operator. May be retried."""
        ...

class AsyncUsageService(_AsyncService):
    """
    Returns what ended runs used, over time.

    A run counts once, in the period of its end, from its end on. The service keeps the sums by the minute for a day, by 5 minutes
    for 3 days, by the hour for 14 days and by the day (UTC) for 92 days, also when the run is deleted. A purge of its session
    removes the name of the agent. Runs that ended before an upgrade to a version with this service do not count.
    """
    async def query_usage(self, request: QueryUsageRequest, *, timeout: _float | None = ...) -> QueryUsageResponse:
        """
        Returns the usage of the calling client: how many runs ended how, how long they took, their tokens and their cost. May be
        retried.
        """
        ...
    async def query_usage_of_clients(self, request: QueryUsageOfClientsRequest, *, timeout: _float | None = ...) -> QueryUsageOfClientsResponse:
        """Returns the usage of all clients, or of one, for the operator. May be retried."""
        ...

