# Generated from the contract by `npm run generate`: do not edit.
"""The messages, enums and services of runnel.runner.v1."""

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

from . import v1 as _m_v1
from .repeated import Messages as _Messages, Scalars as _Scalars
from .service import AsyncService as _AsyncService, Service as _Service

class ChunkContent(_int):
    """Form of `content` in the chunks that a runner reports."""
    CHUNK_CONTENT_UNSPECIFIED: _ClassVar[ChunkContent]
    """The host detects the form for each message."""
    CHUNK_CONTENT_SNAPSHOT: _ClassVar[ChunkContent]
    """The text of the message so far."""
    CHUNK_CONTENT_INCREMENT: _ClassVar[ChunkContent]
    """Only the new text."""
    @classmethod
    def Name(cls, number: _int) -> _str: ...
    @classmethod
    def Value(cls, name: _str) -> ChunkContent: ...
    @classmethod
    def keys(cls) -> list[_str]: ...
    @classmethod
    def values(cls) -> list[ChunkContent]: ...
    @classmethod
    def items(cls) -> list[tuple[_str, ChunkContent]]: ...
CHUNK_CONTENT_UNSPECIFIED: ChunkContent
CHUNK_CONTENT_SNAPSHOT: ChunkContent
CHUNK_CONTENT_INCREMENT: ChunkContent

class Binding(_Message):
    """
    A binding of events to a runner: the events, the runner with its configuration, and the resources that it may use for them
    (LangBot AgentRunner Protocol v1, §4.4 and §13). An event must match exactly one enabled binding. Otherwise no run is
    started: without a match it is NOT_FOUND (BINDING_NOT_FOUND), with several matches FAILED_PRECONDITION (BINDING_AMBIGUOUS).
    """
    binding_id: _str
    """Id of the binding, unique among the client's bindings."""
    scope: BindingScope
    """Scope of the events that the binding matches; unset means all events of the client."""
    event_types: _Scalars[_str]
    """Types of the events that the binding matches; empty means only `message.received`."""
    runner_id: _str
    """Id of the runner; unset where `agent_id` is set."""
    runner_config: _str
    """
    Configuration of the runner, a JSON object. Its `timeout` is the maximum duration of the run in seconds. An absent timeout
    means 300, null means the host's maximum (3600), and no value exceeds that maximum.
    """
    resource_policy: ResourcePolicy
    """Resources that the runner may use. Unset grants only the resources that selectors of the configuration name."""
    state_policy: StatePolicy
    """State that the runner may change."""
    delivery_policy: DeliveryPolicy
    """How the runner's messages are delivered."""
    enabled: _bool
    """False disables the binding: it matches no events. Unset means true."""
    agent_id: _str
    """
    Id of the agent that handles the events (AgentProfile). The agent then defines everything about the runner: `runner_id`,
    `runner_config` and the policies are unset here.
    """
    approval_policy: ApprovalPolicy
    """Whether the runner's actions need an approval; unset means that they need no approval."""
    create_time: _Timestamp
    """Time of creation."""
    update_time: _Timestamp
    """Time of the last PutBinding. Runs that had started by then keep their grants."""
    def __init__(self, *, binding_id: _str | None = ..., scope: BindingScope | _Mapping[_str, _Any] | None = ..., event_types: _Iterable[_str] | None = ..., runner_id: _str | None = ..., runner_config: _str | None = ..., resource_policy: ResourcePolicy | _Mapping[_str, _Any] | None = ..., state_policy: StatePolicy | _Mapping[_str, _Any] | None = ..., delivery_policy: DeliveryPolicy | _Mapping[_str, _Any] | None = ..., enabled: _bool | None = ..., agent_id: _str | None = ..., approval_policy: ApprovalPolicy | _Mapping[_str, _Any] | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ..., update_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["scope", "runner_config", "resource_policy", "state_policy", "delivery_policy", "enabled", "approval_policy", "create_time", "update_time"]) -> _bool: ...

class BindingScope(_Message):
    """Scope of the events that a binding matches."""
    class Kind(_int):
        """Kind of scope."""
        KIND_UNSPECIFIED: _ClassVar[BindingScope.Kind]
        """Same as KIND_GLOBAL."""
        KIND_GLOBAL: _ClassVar[BindingScope.Kind]
        """All events of the client."""
        KIND_WORKSPACE: _ClassVar[BindingScope.Kind]
        """The events of one workspace."""
        KIND_BOT: _ClassVar[BindingScope.Kind]
        """The events of one bot."""
        KIND_AGENT: _ClassVar[BindingScope.Kind]
        """The events of one agent."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> BindingScope.Kind: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[BindingScope.Kind]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, BindingScope.Kind]]: ...
    KIND_UNSPECIFIED: _ClassVar[BindingScope.Kind]
    KIND_GLOBAL: _ClassVar[BindingScope.Kind]
    KIND_WORKSPACE: _ClassVar[BindingScope.Kind]
    KIND_BOT: _ClassVar[BindingScope.Kind]
    KIND_AGENT: _ClassVar[BindingScope.Kind]

    kind: BindingScope.Kind
    """Kind of scope."""
    id: _str
    """Id of the workspace, bot or agent; unset for the global scope."""
    def __init__(self, *, kind: BindingScope.Kind | _str | None = ..., id: _str | None = ...) -> None: ...

class ResourcePolicy(_Message):
    """The resources that a binding lets its runner use. A resource that is not listed is not granted."""
    allowed_models: _Scalars[_str]
    """Models, in addition to the models that selectors of the configuration name."""
    allowed_tools: _Scalars[_str]
    """Names of the tools."""
    allowed_knowledge_bases: _Scalars[_str]
    """Knowledge bases, in addition to those that selectors of the configuration name."""
    skills: _Messages[SkillResource]
    """Skills that the runner's context lists."""
    allow_plugin_storage: _bool
    """Whether the runner may use the storage of its plugin; unset means true."""
    allow_workspace_storage: _bool
    """Whether the runner may use the storage of the workspace."""
    mcp_servers: _Messages[_m_v1.McpServer]
    """
    MCP servers whose tools the runner may use, at most 16. StartRun lists the tools, and the run keeps that list:
    `resources.tools` has each of them by the name that `McpServer.prefix` gives it, with the type `mcp`. A server that gives no list
    refuses the event (MCP_SERVER_FAILED). `McpServer.approve` needs `approval_policy.required`; `McpServer.repeatable` is unset, because
    a runner repeats its calls itself. No answer of the service has the values of headers.
    """
    def __init__(self, *, allowed_models: _Iterable[_str] | None = ..., allowed_tools: _Iterable[_str] | None = ..., allowed_knowledge_bases: _Iterable[_str] | None = ..., skills: _Iterable[SkillResource | _Mapping[_str, _Any]] | None = ..., allow_plugin_storage: _bool | None = ..., allow_workspace_storage: _bool | None = ..., mcp_servers: _Iterable[_m_v1.McpServer | _Mapping[_str, _Any]] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["allow_plugin_storage"]) -> _bool: ...

class SkillResource(_Message):
    """A skill that a runner's context may list (LangBot AgentRunner Protocol v1, §6)."""
    skill_name: _str
    """Name of the skill."""
    display_name: _str
    """Display name."""
    description: _str
    """Description of the skill."""
    def __init__(self, *, skill_name: _str | None = ..., display_name: _str | None = ..., description: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["display_name", "description"]) -> _bool: ...

class StatePolicy(_Message):
    """The state that a binding lets its runner change."""
    enable_state: _bool
    """False refuses all state; unset means true."""
    state_scopes: _Scalars[_str]
    """Scopes of the state: `conversation`, `actor`, `subject`, `runner`. Empty means the first two."""
    def __init__(self, *, enable_state: _bool | None = ..., state_scopes: _Iterable[_str] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["enable_state"]) -> _bool: ...

class DeliveryPolicy(_Message):
    """How the messages of a runner are delivered."""
    enable_streaming: _bool
    """True delivers pieces of messages; unset means true. False refuses them (`refused_policy`)."""
    enable_reply: _bool
    """True delivers messages; unset means true. False refuses them."""
    max_message_size: _int
    """
    Maximum length of a message's text in characters, no matter how often the runner repeats it; 0 means no limit. A longer
    message is refused.
    """
    chunk_content: ChunkContent
    """
    Form of the runner's chunks. Unset means `metadata.chunk_content` of the manifest. Without that, the host detects the form
    for each message by the rule at MessageChunk.
    """
    def __init__(self, *, enable_streaming: _bool | None = ..., enable_reply: _bool | None = ..., max_message_size: _int | None = ..., chunk_content: ChunkContent | _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["enable_streaming", "enable_reply"]) -> _bool: ...

class ApprovalPolicy(_Message):
    """
    Whether the actions that a runner requests by `action.requested` need an approval. Without this policy such a result is only
    an entry of the log.
    """
    required: _bool
    """True creates an Approval for each requested action, and `approval.requested` follows the action in the log."""
    expire_seconds: _int
    """Time to decide, in seconds: 1 to 86,400; 0 means 900."""
    def __init__(self, *, required: _bool | None = ..., expire_seconds: _int | None = ...) -> None: ...

class AgentProfile(_Message):
    """
    An agent: a runner with its configuration and grants, for any number of bindings (LangBot AgentRunner Protocol v1, §2: one
    agent may serve several bots and channels). A binding names it by `agent_id`.
    """
    agent_id: _str
    """Id of the agent, unique among the client's agents."""
    runner_id: _str
    """Id of the runner."""
    runner_config: _str
    """Configuration of the runner, with the same rules as Binding.runner_config."""
    resource_policy: ResourcePolicy
    """Resources that the runner may use, with the same rules as Binding.resource_policy."""
    state_policy: StatePolicy
    """State that the runner may change, with the same rules as Binding.state_policy."""
    delivery_policy: DeliveryPolicy
    """How the runner's messages are delivered, with the same rules as Binding.delivery_policy."""
    approval_policy: ApprovalPolicy
    """Whether the runner's actions need an approval, with the same rules as Binding.approval_policy."""
    create_time: _Timestamp
    """Time of creation."""
    update_time: _Timestamp
    """Time of the last PutAgentProfile. Runs that had started by then keep their grants."""
    def __init__(self, *, agent_id: _str | None = ..., runner_id: _str | None = ..., runner_config: _str | None = ..., resource_policy: ResourcePolicy | _Mapping[_str, _Any] | None = ..., state_policy: StatePolicy | _Mapping[_str, _Any] | None = ..., delivery_policy: DeliveryPolicy | _Mapping[_str, _Any] | None = ..., approval_policy: ApprovalPolicy | _Mapping[_str, _Any] | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ..., update_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["runner_config", "resource_policy", "state_policy", "delivery_policy", "approval_policy", "create_time", "update_time"]) -> _bool: ...

class AgentEvent(_Message):
    """
    An event that an agent should handle (LangBot AgentRunner Protocol v1, §5.3 to §5.7). The adapter of a platform creates it
    from a message, a new member of a group, or a schedule.
    """
    event_id: _str
    """Id of the event, assigned by its source."""
    event_type: _str
    """Stable type of the event, such as `message.received`."""
    event_time: _int
    """Time of the event, in seconds since 1970."""
    source: _str
    """Source of the event, such as `telegram`; unset means `api`."""
    source_event_type: _str
    """Type of the event, in the terms of its source."""
    raw_ref: RawEventRef
    """Reference to the stored original of the event, as its source sent it."""
    data: _str
    """Small facts about the event, a JSON object."""
    trigger: AgentTrigger
    """What triggered the event; unset means the type of the event and the source `api`."""
    bot_id: _str
    """Id of the bot that received the event."""
    workspace_id: _str
    """Id of the workspace that the event belongs to."""
    agent_id: _str
    """Id of the agent that should handle the event, for bindings of the scope `agent`."""
    conversation_id: _str
    """Id of the conversation that the event belongs to."""
    thread_id: _str
    """Id of the thread in the conversation."""
    launcher_type: _str
    """Kind of chat that the event belongs to, such as `group`."""
    launcher_id: _str
    """Id of the chat that the event belongs to."""
    actor: ActorContext
    """The person or system that caused the event."""
    subject: SubjectContext
    """The subject of the event."""
    input: AgentInput
    """The content of the event."""
    delivery: DeliveryContext
    """How answers can be delivered."""
    adapter_extra: _str
    """Further data of the adapter, for this event only: a small JSON object."""
    def __init__(self, *, event_id: _str | None = ..., event_type: _str | None = ..., event_time: _int | None = ..., source: _str | None = ..., source_event_type: _str | None = ..., raw_ref: RawEventRef | _Mapping[_str, _Any] | None = ..., data: _str | None = ..., trigger: AgentTrigger | _Mapping[_str, _Any] | None = ..., bot_id: _str | None = ..., workspace_id: _str | None = ..., agent_id: _str | None = ..., conversation_id: _str | None = ..., thread_id: _str | None = ..., launcher_type: _str | None = ..., launcher_id: _str | None = ..., actor: ActorContext | _Mapping[_str, _Any] | None = ..., subject: SubjectContext | _Mapping[_str, _Any] | None = ..., input: AgentInput | _Mapping[_str, _Any] | None = ..., delivery: DeliveryContext | _Mapping[_str, _Any] | None = ..., adapter_extra: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["event_time", "source_event_type", "raw_ref", "data", "trigger", "bot_id", "workspace_id", "agent_id", "conversation_id", "thread_id", "launcher_type", "launcher_id", "actor", "subject", "input", "delivery", "adapter_extra"]) -> _bool: ...

class AgentTrigger(_Message):
    """What triggered a run (LangBot AgentRunner Protocol v1, §5.3)."""
    type: _str
    """Type of the trigger: the event's type, or a coarser one."""
    source: _str
    """Source of the trigger: `platform`, `webui`, `api`, `scheduler`, `system` or `host_adapter`."""
    timestamp: _int
    """Time of the trigger, in seconds since 1970."""
    def __init__(self, *, type: _str | None = ..., source: _str | None = ..., timestamp: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["timestamp"]) -> _bool: ...

class RawEventRef(_Message):
    """A reference to the stored original of an event, as its source sent it."""
    ref_id: _str
    """Id of the stored original."""
    storage_key: _str
    """Storage key of the stored original."""
    def __init__(self, *, ref_id: _str | None = ..., storage_key: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["ref_id", "storage_key"]) -> _bool: ...

class ActorContext(_Message):
    """The person or system that caused an event (LangBot AgentRunner Protocol v1, §5.5)."""
    actor_type: _str
    """Kind of actor, such as `user` or `system`."""
    actor_id: _str
    """Id of the actor, assigned by the source."""
    actor_name: _str
    """Display name of the actor."""
    metadata: _str
    """Further properties, a JSON object."""
    def __init__(self, *, actor_type: _str | None = ..., actor_id: _str | None = ..., actor_name: _str | None = ..., metadata: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["actor_id", "actor_name", "metadata"]) -> _bool: ...

class SubjectContext(_Message):
    """The subject of an event (LangBot AgentRunner Protocol v1, §5.5)."""
    subject_type: _str
    """Kind of subject, such as `message` or `schedule`."""
    subject_id: _str
    """Id of the subject, assigned by the source."""
    data: _str
    """Further properties, a JSON object."""
    def __init__(self, *, subject_type: _str | None = ..., subject_id: _str | None = ..., data: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["subject_id", "data"]) -> _bool: ...

class AgentInput(_Message):
    """The content of an event (LangBot AgentRunner Protocol v1, §5.6). It never contains history."""
    text: _str
    """Text of the content."""
    contents: _Scalars[_str]
    """Parts of the content: `ContentElement` objects of the protocol, kept as they arrive."""
    attachments: _Scalars[_str]
    """Attachments: `ArtifactRef` objects of the protocol (`InputAttachment` for the era `4.11`), kept as they arrive."""
    def __init__(self, *, text: _str | None = ..., contents: _Iterable[_str] | None = ..., attachments: _Iterable[_str] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["text"]) -> _bool: ...

class DeliveryContext(_Message):
    """How answers can be delivered (LangBot AgentRunner Protocol v1, §5.7)."""
    surface: _str
    """Place where answers appear, such as `telegram` or `api`."""
    reply_target: _str
    """Target that an answer replies to, a JSON object."""
    supports_streaming: _bool
    """True when pieces of messages can be displayed."""
    supports_edit: _bool
    """True when messages can be edited."""
    supports_reaction: _bool
    """True when reactions can be displayed."""
    max_message_size: _int
    """Maximum length of a message."""
    platform_capabilities: _str
    """Further properties, a JSON object."""
    def __init__(self, *, surface: _str | None = ..., reply_target: _str | None = ..., supports_streaming: _bool | None = ..., supports_edit: _bool | None = ..., supports_reaction: _bool | None = ..., max_message_size: _int | None = ..., platform_capabilities: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["reply_target", "max_message_size", "platform_capabilities"]) -> _bool: ...

class AgentRunContext(_Message):
    """
    The context that a runner gets for its run (LangBot AgentRunner Protocol v1, §5.2). It is frozen when the run starts, and it
    alone decides what the run may use. It contains no history, prompts or messages of earlier runs, only the handles to request
    them. Its JSON form is the protocol's AgentRunContext.
    """
    run_id: _str
    """Id of the run."""
    trigger: AgentTrigger
    """What triggered the run."""
    event: AgentEventContext
    """The event that the run handles."""
    conversation: ConversationContext
    """The conversation; unset when the event has no conversation."""
    actor: ActorContext
    """The person or system that caused the event."""
    subject: SubjectContext
    """The subject of the event."""
    input: AgentInput
    """The content of the event."""
    delivery: DeliveryContext
    """How answers can be delivered."""
    resources: AgentResources
    """The resources that the run may use."""
    context: ContextAccess
    """The parts of the history that the run may request, and how."""
    state: AgentRunState
    """The state at the start of the run."""
    runtime: AgentRuntimeContext
    """Properties of this activation."""
    config: _str
    """Configuration of the runner, a JSON object."""
    adapter: AdapterContext
    """Further data of the event's adapter."""
    metadata: _str
    """Further properties, a JSON object."""
    def __init__(self, *, run_id: _str | None = ..., trigger: AgentTrigger | _Mapping[_str, _Any] | None = ..., event: AgentEventContext | _Mapping[_str, _Any] | None = ..., conversation: ConversationContext | _Mapping[_str, _Any] | None = ..., actor: ActorContext | _Mapping[_str, _Any] | None = ..., subject: SubjectContext | _Mapping[_str, _Any] | None = ..., input: AgentInput | _Mapping[_str, _Any] | None = ..., delivery: DeliveryContext | _Mapping[_str, _Any] | None = ..., resources: AgentResources | _Mapping[_str, _Any] | None = ..., context: ContextAccess | _Mapping[_str, _Any] | None = ..., state: AgentRunState | _Mapping[_str, _Any] | None = ..., runtime: AgentRuntimeContext | _Mapping[_str, _Any] | None = ..., config: _str | None = ..., adapter: AdapterContext | _Mapping[_str, _Any] | None = ..., metadata: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["trigger", "event", "conversation", "actor", "subject", "input", "delivery", "resources", "context", "state", "runtime", "adapter"]) -> _bool: ...

class AgentEventContext(_Message):
    """The event of a run (LangBot AgentRunner Protocol v1, §5.4)."""
    event_id: _str
    """Id of the event."""
    event_type: _str
    """Stable type of the event."""
    event_time: _int
    """Time of the event, in seconds since 1970."""
    source: _str
    """Source of the event."""
    source_event_type: _str
    """Type of the event, in the terms of its source."""
    raw_ref: RawEventRef
    """Reference to the stored original of the event, as its source sent it."""
    data: _str
    """Small facts about the event, a JSON object."""
    def __init__(self, *, event_id: _str | None = ..., event_type: _str | None = ..., event_time: _int | None = ..., source: _str | None = ..., source_event_type: _str | None = ..., raw_ref: RawEventRef | _Mapping[_str, _Any] | None = ..., data: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["event_time", "source_event_type", "raw_ref"]) -> _bool: ...

class ConversationContext(_Message):
    """The conversation of a run (LangBot AgentRunner Protocol v1, §5.5)."""
    conversation_id: _str
    """Id of the conversation."""
    thread_id: _str
    """Id of the thread in the conversation."""
    launcher_type: _str
    """Kind of chat."""
    launcher_id: _str
    """Id of the chat."""
    bot_id: _str
    """Id of the bot."""
    workspace_id: _str
    """Id of the workspace."""
    def __init__(self, *, conversation_id: _str | None = ..., thread_id: _str | None = ..., launcher_type: _str | None = ..., launcher_id: _str | None = ..., bot_id: _str | None = ..., workspace_id: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["conversation_id", "thread_id", "launcher_type", "launcher_id", "bot_id", "workspace_id"]) -> _bool: ...

class AgentResources(_Message):
    """
    The resources that a run may use (LangBot AgentRunner Protocol v1, §6). A resource that is not listed with the operation is
    refused.
    """
    models: _Messages[ModelResource]
    """Models that the run may call."""
    tools: _Messages[ToolResource]
    """Tools that the run may call."""
    knowledge_bases: _Messages[KnowledgeBaseResource]
    """Knowledge bases that the run may search."""
    skills: _Messages[SkillResource]
    """Skills, as information for the runner."""
    files: _Messages[FileResource]
    """Files that the run may read; absent in the era `4.11`."""
    storage: StorageResource
    """Storage areas that the run may use."""
    def __init__(self, *, models: _Iterable[ModelResource | _Mapping[_str, _Any]] | None = ..., tools: _Iterable[ToolResource | _Mapping[_str, _Any]] | None = ..., knowledge_bases: _Iterable[KnowledgeBaseResource | _Mapping[_str, _Any]] | None = ..., skills: _Iterable[SkillResource | _Mapping[_str, _Any]] | None = ..., files: _Iterable[FileResource | _Mapping[_str, _Any]] | None = ..., storage: StorageResource | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["storage"]) -> _bool: ...

class ModelResource(_Message):
    """A model that a run may use."""
    model_id: _str
    """Id of the model."""
    model_type: _str
    """Kind of model: `llm` or `rerank`."""
    provider: _str
    """Provider of the model."""
    operations: _Scalars[_str]
    """Granted operations: `invoke`, `stream`, `rerank`, `count_tokens`."""
    def __init__(self, *, model_id: _str | None = ..., model_type: _str | None = ..., provider: _str | None = ..., operations: _Iterable[_str] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["model_type", "provider"]) -> _bool: ...

class ToolResource(_Message):
    """A tool that a run may use."""
    tool_name: _str
    """Name of the tool."""
    tool_type: _str
    """Kind of tool, such as `builtin`."""
    description: _str
    """Description of the tool."""
    operations: _Scalars[_str]
    """Granted operations: `detail`, `call`."""
    parameters: _str
    """JSON Schema of the tool's arguments (era `4.11`)."""
    def __init__(self, *, tool_name: _str | None = ..., tool_type: _str | None = ..., description: _str | None = ..., operations: _Iterable[_str] | None = ..., parameters: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["tool_type", "description", "parameters"]) -> _bool: ...

class KnowledgeBaseResource(_Message):
    """A knowledge base that a run may search."""
    kb_id: _str
    """Id of the knowledge base."""
    kb_name: _str
    """Name of the knowledge base."""
    kb_type: _str
    """Kind of knowledge base."""
    operations: _Scalars[_str]
    """Granted operations: `list`, `retrieve`."""
    def __init__(self, *, kb_id: _str | None = ..., kb_name: _str | None = ..., kb_type: _str | None = ..., operations: _Iterable[_str] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["kb_name", "kb_type"]) -> _bool: ...

class FileResource(_Message):
    """A file that a run may read."""
    file_id: _str
    """Id of the file."""
    file_name: _str
    """Name of the file."""
    mime_type: _str
    """Media type of the file."""
    source: _str
    """Source of the file: `config`."""
    operations: _Scalars[_str]
    """Granted operations: `config`."""
    def __init__(self, *, file_id: _str | None = ..., file_name: _str | None = ..., mime_type: _str | None = ..., source: _str | None = ..., operations: _Iterable[_str] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["file_name", "mime_type", "source"]) -> _bool: ...

class StorageResource(_Message):
    """The storage areas that a run may use."""
    plugin_storage: _bool
    """True when the run may use the storage of its plugin."""
    workspace_storage: _bool
    """True when the run may use the storage of the workspace."""
    def __init__(self, *, plugin_storage: _bool | None = ..., workspace_storage: _bool | None = ...) -> None: ...

class ContextAccess(_Message):
    """The parts of the history that a run may request (LangBot AgentRunner Protocol v1, §5.8)."""
    conversation_id: _str
    """Id of the conversation."""
    thread_id: _str
    """Id of the thread in the conversation."""
    latest_cursor: _str
    """Cursor of the end of the history. Pages go back from here."""
    event_seq: _int
    """Position of the event among the conversation's events."""
    transcript_seq: _int
    """Position of the event's message in the conversation's transcript."""
    has_history_before: _bool
    """True when the conversation has earlier messages."""
    inline_policy: InlineContextPolicy
    """The history that the context itself contains."""
    available_apis: ContextApis
    """The calls that the run may make."""
    def __init__(self, *, conversation_id: _str | None = ..., thread_id: _str | None = ..., latest_cursor: _str | None = ..., event_seq: _int | None = ..., transcript_seq: _int | None = ..., has_history_before: _bool | None = ..., inline_policy: InlineContextPolicy | _Mapping[_str, _Any] | None = ..., available_apis: ContextApis | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["conversation_id", "thread_id", "latest_cursor", "event_seq", "transcript_seq", "inline_policy", "available_apis"]) -> _bool: ...

class InlineContextPolicy(_Message):
    """The history that a context itself contains."""
    mode: _str
    """`current_event`: the event without any earlier message."""
    delivered_count: _int
    """Number of messages that the context contains."""
    source_total_count: _int
    """Number of messages in the conversation."""
    messages_complete: _bool
    """True when no message was omitted."""
    reason: _str
    """Why messages were omitted."""
    def __init__(self, *, mode: _str | None = ..., delivered_count: _int | None = ..., source_total_count: _int | None = ..., messages_complete: _bool | None = ..., reason: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["source_total_count", "reason"]) -> _bool: ...

class ContextApis(_Message):
    """The calls of the host API that a run may make."""
    history_page: _bool
    """True when the run may call PageHistory."""
    history_search: _bool
    """True when the run may call SearchHistory."""
    event_get: _bool
    """True when the run may call GetEvent."""
    event_page: _bool
    """True when the run may call PageEvents."""
    artifact_metadata: _bool
    """True when the run may call GetArtifact; absent in the era `4.11`."""
    artifact_read: _bool
    """True when the run may call ReadArtifact; absent in the era `4.11`."""
    state: _bool
    """True when the run may call GetState, SetState, DeleteState and ListState."""
    storage: _bool
    """True when the run may call ReadStorage, WriteStorage, DeleteStorage and ListStorage."""
    run_get: _bool
    """True when the run may call GetRun for itself (eras `ledger` and later)."""
    def __init__(self, *, history_page: _bool | None = ..., history_search: _bool | None = ..., event_get: _bool | None = ..., event_page: _bool | None = ..., artifact_metadata: _bool | None = ..., artifact_read: _bool | None = ..., state: _bool | None = ..., storage: _bool | None = ..., run_get: _bool | None = ...) -> None: ...

class AgentRunState(_Message):
    """
    The state that a run may read and change, as it was at the start of the run (LangBot AgentRunner Protocol v1, §5.10). Each
    field is a JSON object.
    """
    conversation: _str
    """State of the conversation."""
    actor: _str
    """State of the actor."""
    subject: _str
    """State of the subject."""
    runner: _str
    """State of the runner."""
    def __init__(self, *, conversation: _str | None = ..., actor: _str | None = ..., subject: _str | None = ..., runner: _str | None = ...) -> None: ...

class AgentRuntimeContext(_Message):
    """Properties of one activation (LangBot AgentRunner Protocol v1, §5.9)."""
    langbot_version: _str
    """Version of the host."""
    trace_id: _str
    """Id of the trace that the run belongs to; the run's id when the caller named no trace."""
    deadline_at: _float
    """Deadline of the run, in seconds since 1970, by the host's clock."""
    metadata: _str
    """
    Further properties, a JSON object with `streaming_supported`, and `bot_id`, `workspace_id` and
    `model_context_window_tokens` where they are known.
    """
    def __init__(self, *, langbot_version: _str | None = ..., trace_id: _str | None = ..., deadline_at: _float | None = ..., metadata: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["langbot_version", "deadline_at"]) -> _bool: ...

class AdapterContext(_Message):
    """Further data of an event's adapter (LangBot AgentRunner Protocol v1, §12)."""
    extra: _str
    """The data, a JSON object."""
    def __init__(self, *, extra: _str | None = ...) -> None: ...

class ListAgentRunnersRequest(_Message):
    """Request of ListAgentRunners."""
    def __init__(self) -> None: ...

class ListAgentRunnersResponse(_Message):
    """Response of ListAgentRunners."""
    manifests: _Scalars[_str]
    """The manifests, each a JSON object."""
    era: _str
    """Protocol version that the runners' SDK uses: `spec`, `ledger` or `4.11`."""
    def __init__(self, *, manifests: _Iterable[_str] | None = ..., era: _str | None = ...) -> None: ...

class RunAgentRequest(_Message):
    """Request of RunAgent."""
    runner_id: _str
    """Id of the runner."""
    runner_name: _str
    """Name of the runner in its plugin."""
    context: AgentRunContext
    """Context of the run."""
    context_json: _str
    """The context as the JSON object that an SDK of the runner's era expects."""
    run_token: _str
    """Run token: the credential for the host API during this run."""
    host_url: _str
    """URL of the host API."""
    def __init__(self, *, runner_id: _str | None = ..., runner_name: _str | None = ..., context: AgentRunContext | _Mapping[_str, _Any] | None = ..., context_json: _str | None = ..., run_token: _str | None = ..., host_url: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["context"]) -> _bool: ...

class RunAgentResponse(_Message):
    """Response of RunAgent: one result."""
    run_id: _str
    """Id of the run; unset means the run of the request."""
    sequence: _int
    """Number of the result; unset means the next number."""
    type: _str
    """Dotted type, such as `message.delta`."""
    data: _str
    """Payload of the result, a JSON object."""
    usage: _str
    """Usage of the result, a JSON object."""
    def __init__(self, *, run_id: _str | None = ..., sequence: _int | None = ..., type: _str | None = ..., data: _str | None = ..., usage: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["sequence", "usage"]) -> _bool: ...

class AgentRunnerService(_Service):
    """
    Works on runs inside a runner that serves this API itself: the host connects to it, instead of a worker that connects to the
    host (LangBot AgentRunner Protocol v1, §4.1 and §5.1). Both kinds of runner use the same host API, the services of
    runnel.host.v1.
    """
    def list_agent_runners(self, request: ListAgentRunnersRequest, *, timeout: _float | None = ...) -> ListAgentRunnersResponse:
        """Lists the manifests of the runners that are served here, each a JSON object."""
        ...
    def run_agent(self, request: RunAgentRequest, *, timeout: _float | None = ...) -> _Iterator[RunAgentResponse]:
        """
        Works on a run and streams its results. When the host cancels the call, the runner must end the run. A stream that ends
        without `run.completed` or `run.failed` makes the run fail.
        """
        ...

class AsyncAgentRunnerService(_AsyncService):
    """
    Works on runs inside a runner that serves this API itself: the host connects to it, instead of a worker that connects to the
    host (LangBot AgentRunner Protocol v1, §4.1 and §5.1). Both kinds of runner use the same host API, the services of
    runnel.host.v1.
    """
    async def list_agent_runners(self, request: ListAgentRunnersRequest, *, timeout: _float | None = ...) -> ListAgentRunnersResponse:
        """Lists the manifests of the runners that are served here, each a JSON object."""
        ...
    def run_agent(self, request: RunAgentRequest, *, timeout: _float | None = ...) -> _AsyncIterator[RunAgentResponse]:
        """
        Works on a run and streams its results. When the host cancels the call, the runner must end the run. A stream that ends
        without `run.completed` or `run.failed` makes the run fail.
        """
        ...

class KnowledgeBase(_Message):
    """A knowledge base: texts that runners may search during a run, where a binding grants it."""
    kb_id: _str
    """Id of the knowledge base, unique for its client: 1 to 128 letters, digits, `_`, `.` and `-`. Bindings refer to it."""
    name: _str
    """Display name."""
    create_time: _Timestamp
    """Time of creation, set by the service."""
    def __init__(self, *, kb_id: _str | None = ..., name: _str | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["create_time"]) -> _bool: ...

class KnowledgeEntry(_Message):
    """One text of a knowledge base, the unit that a search returns."""
    entry_id: _str
    """Id of the entry, unique in its knowledge base: 1 to 256 bytes without control characters."""
    content: _str
    """
    The text, at most 1 MiB. A search matches whole words in every language, exactly as they are written except for letter
    case. Chinese and Japanese are searched character by character.
    """
    metadata: _str
    """
    Further properties, a JSON object of at most 64 KiB; unset means `{}`. Searches can filter by them, and results contain
    them as they were written.
    """
    def __init__(self, *, entry_id: _str | None = ..., content: _str | None = ..., metadata: _str | None = ...) -> None: ...

class PutKnowledgeBaseRequest(_Message):
    """Request of PutKnowledgeBase."""
    knowledge_base: KnowledgeBase
    """The knowledge base. The service ignores its time of creation."""
    def __init__(self, *, knowledge_base: KnowledgeBase | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["knowledge_base"]) -> _bool: ...

class PutKnowledgeBaseResponse(_Message):
    """Response of PutKnowledgeBase."""
    knowledge_base: KnowledgeBase
    """The knowledge base as it is stored."""
    def __init__(self, *, knowledge_base: KnowledgeBase | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["knowledge_base"]) -> _bool: ...

class ListKnowledgeBasesRequest(_Message):
    """Request of ListKnowledgeBases."""
    page_size: _int
    """Maximum number of knowledge bases to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListKnowledgeBasesResponse(_Message):
    """Response of ListKnowledgeBases."""
    knowledge_bases: _Messages[KnowledgeBase]
    """The knowledge bases, by id."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, knowledge_bases: _Iterable[KnowledgeBase | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class DeleteKnowledgeBaseRequest(_Message):
    """Request of DeleteKnowledgeBase."""
    kb_id: _str
    """Id of the knowledge base."""
    def __init__(self, *, kb_id: _str | None = ...) -> None: ...

class DeleteKnowledgeBaseResponse(_Message):
    """Response of DeleteKnowledgeBase."""
    def __init__(self) -> None: ...

class PutKnowledgeEntriesRequest(_Message):
    """Request of PutKnowledgeEntries."""
    kb_id: _str
    """Id of the knowledge base."""
    entries: _Messages[KnowledgeEntry]
    """The entries, 1 to 100, with distinct ids."""
    def __init__(self, *, kb_id: _str | None = ..., entries: _Iterable[KnowledgeEntry | _Mapping[_str, _Any]] | None = ...) -> None: ...

class PutKnowledgeEntriesResponse(_Message):
    """Response of PutKnowledgeEntries."""
    def __init__(self) -> None: ...

class DeleteKnowledgeEntriesRequest(_Message):
    """Request of DeleteKnowledgeEntries."""
    kb_id: _str
    """Id of the knowledge base."""
    entry_ids: _Scalars[_str]
    """Ids of the entries, 1 to 1,000."""
    def __init__(self, *, kb_id: _str | None = ..., entry_ids: _Iterable[_str] | None = ...) -> None: ...

class DeleteKnowledgeEntriesResponse(_Message):
    """Response of DeleteKnowledgeEntries."""
    deleted: _int
    """Number of entries that were deleted."""
    def __init__(self, *, deleted: _int | None = ...) -> None: ...

class KnowledgeService(_Service):
    """
    Works on knowledge bases: texts that runners search through their host (`RetrieveKnowledge`).

    A knowledge base belongs to the client that created it. Every other client gets NOT_FOUND with reason
    KNOWLEDGE_BASE_NOT_FOUND, exactly as for an unknown id.
    """
    def put_knowledge_base(self, request: PutKnowledgeBaseRequest, *, timeout: _float | None = ...) -> PutKnowledgeBaseResponse:
        """Creates a knowledge base, or renames an existing one and keeps its entries. May be retried."""
        ...
    def list_knowledge_bases(self, request: ListKnowledgeBasesRequest, *, timeout: _float | None = ...) -> ListKnowledgeBasesResponse:
        """Lists the knowledge bases of the calling client by id."""
        ...
    def delete_knowledge_base(self, request: DeleteKnowledgeBaseRequest, *, timeout: _float | None = ...) -> DeleteKnowledgeBaseResponse:
        """
        Deletes a knowledge base with all its entries. Runs that have a grant for it no longer find it. A second call gives
        NOT_FOUND.
        """
        ...
    def put_knowledge_entries(self, request: PutKnowledgeEntriesRequest, *, timeout: _float | None = ...) -> PutKnowledgeEntriesResponse:
        """
        Creates entries, or replaces the entries with the same ids. The call is atomic. May be retried.

        RESOURCE_EXHAUSTED (PAYLOAD_TOO_LARGE) when texts and metadata together exceed 3 MiB.
        """
        ...
    def delete_knowledge_entries(self, request: DeleteKnowledgeEntriesRequest, *, timeout: _float | None = ...) -> DeleteKnowledgeEntriesResponse:
        """Deletes entries. Unknown ids are ignored, so the call may be retried."""
        ...

class AsyncKnowledgeService(_AsyncService):
    """
    Works on knowledge bases: texts that runners search through their host (`RetrieveKnowledge`).

    A knowledge base belongs to the client that created it. Every other client gets NOT_FOUND with reason
    KNOWLEDGE_BASE_NOT_FOUND, exactly as for an unknown id.
    """
    async def put_knowledge_base(self, request: PutKnowledgeBaseRequest, *, timeout: _float | None = ...) -> PutKnowledgeBaseResponse:
        """Creates a knowledge base, or renames an existing one and keeps its entries. May be retried."""
        ...
    async def list_knowledge_bases(self, request: ListKnowledgeBasesRequest, *, timeout: _float | None = ...) -> ListKnowledgeBasesResponse:
        """Lists the knowledge bases of the calling client by id."""
        ...
    async def delete_knowledge_base(self, request: DeleteKnowledgeBaseRequest, *, timeout: _float | None = ...) -> DeleteKnowledgeBaseResponse:
        """
        Deletes a knowledge base with all its entries. Runs that have a grant for it no longer find it. A second call gives
        NOT_FOUND.
        """
        ...
    async def put_knowledge_entries(self, request: PutKnowledgeEntriesRequest, *, timeout: _float | None = ...) -> PutKnowledgeEntriesResponse:
        """
        Creates entries, or replaces the entries with the same ids. The call is atomic. May be retried.

        RESOURCE_EXHAUSTED (PAYLOAD_TOO_LARGE) when texts and metadata together exceed 3 MiB.
        """
        ...
    async def delete_knowledge_entries(self, request: DeleteKnowledgeEntriesRequest, *, timeout: _float | None = ...) -> DeleteKnowledgeEntriesResponse:
        """Deletes entries. Unknown ids are ignored, so the call may be retried."""
        ...

class Runner(_Message):
    """
    A program that works on runs (LangBot AgentRunner Protocol v1, §4), in any language. Either its worker connects to the host,
    or the host connects to it. Its runs may use what its manifest requests, as far as the binding allows it and the event has
    it.
    """
    class State(_int):
        """Reachability of a runner."""
        STATE_UNSPECIFIED: _ClassVar[Runner.State]
        """Unspecified: not a valid state."""
        STATE_AVAILABLE: _ClassVar[Runner.State]
        """A worker listens for the runner's runs, or the runner's URL is known."""
        STATE_OFFLINE: _ClassVar[Runner.State]
        """No worker listens: a run waits 60 s for one and then fails with `runner.unavailable`."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> Runner.State: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[Runner.State]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, Runner.State]]: ...
    STATE_UNSPECIFIED: _ClassVar[Runner.State]
    STATE_AVAILABLE: _ClassVar[Runner.State]
    STATE_OFFLINE: _ClassVar[Runner.State]

    runner_id: _str
    """Id of the runner: `plugin:author/name/runner`."""
    manifest: RunnerManifest
    """Manifest that the runner registered."""
    era: _str
    """Protocol version that the runner's SDK uses: `spec`, `ledger` or `4.11`."""
    state: Runner.State
    """Current reachability."""
    worker_id: _str
    """Id of the worker that registered the runner. Only this worker may register it again."""
    url: _str
    """URL where the host reaches the runner; unset for a runner whose worker connects to the host."""
    create_time: _Timestamp
    """Time of the first registration."""
    update_time: _Timestamp
    """Time of the last registration."""
    def __init__(self, *, runner_id: _str | None = ..., manifest: RunnerManifest | _Mapping[_str, _Any] | None = ..., era: _str | None = ..., state: Runner.State | _str | None = ..., worker_id: _str | None = ..., url: _str | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ..., update_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["manifest", "create_time", "update_time"]) -> _bool: ...

class RunnerManifest(_Message):
    """
    The manifest of a runner: its description of itself (LangBot AgentRunner Protocol v1, §4.2). An unknown key or a value of
    another type makes it invalid. No value is converted.
    """
    id: _str
    """Id of the runner, `plugin:author/name/runner`. Each part has 1 to 64 characters of `A-Z a-z 0-9 _ . -`."""
    name: _str
    """Name of the runner in its plugin: the last part of the id."""
    label: _str
    """Display name by locale, such as `{"en_US": "Default"}`: a JSON object of strings."""
    description: _str
    """Description by locale, a JSON object of strings."""
    capabilities: RunnerCapabilities
    """Capabilities of the runner. A capability is never a permission."""
    permissions: RunnerPermissions
    """Operations of the host that the runner requests. Every grant is a subset of them."""
    config_schema: _str
    """
    Fields of the runner's configuration: a JSON array of objects with `type` and `name`. Their other keys are the author's
    own.
    """
    metadata: _str
    """Further properties, a JSON object."""
    def __init__(self, *, id: _str | None = ..., name: _str | None = ..., label: _str | None = ..., description: _str | None = ..., capabilities: RunnerCapabilities | _Mapping[_str, _Any] | None = ..., permissions: RunnerPermissions | _Mapping[_str, _Any] | None = ..., config_schema: _str | None = ..., metadata: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["label", "description", "capabilities", "permissions", "config_schema", "metadata"]) -> _bool: ...

class RunnerCapabilities(_Message):
    """The capabilities of a runner (LangBot AgentRunner Protocol v1, §4.3)."""
    streaming: _bool
    """Sends pieces of messages."""
    tool_calling: _bool
    """Calls tools."""
    knowledge_retrieval: _bool
    """Searches knowledge bases."""
    multimodal_input: _bool
    """Accepts more than text."""
    skill_authoring: _bool
    """Needs skills and the tools that write them."""
    interrupt: _bool
    """Stops in the middle of a run on request."""
    steering: _bool
    """Accepts more input while it runs (era `ledger` and later)."""
    interactions: _bool
    """Asks people questions (era `4.11`)."""
    def __init__(self, *, streaming: _bool | None = ..., tool_calling: _bool | None = ..., knowledge_retrieval: _bool | None = ..., multimodal_input: _bool | None = ..., skill_authoring: _bool | None = ..., interrupt: _bool | None = ..., steering: _bool | None = ..., interactions: _bool | None = ...) -> None: ...

class RunnerPermissions(_Message):
    """
    The operations of the host that a runner requests (LangBot AgentRunner Protocol v1, §4.4), by kind of resource. An empty list
    requests no operation.
    """
    models: _Scalars[_str]
    """Operations on models: `invoke`, `stream`, `rerank`, `count_tokens`."""
    tools: _Scalars[_str]
    """Operations on tools: `detail`, `call`."""
    knowledge_bases: _Scalars[_str]
    """Operations on knowledge bases: `list`, `retrieve`."""
    history: _Scalars[_str]
    """Operations on the history: `page`, `search`."""
    events: _Scalars[_str]
    """Operations on events: `get`, `page`."""
    artifacts: _Scalars[_str]
    """Operations on artifacts: `metadata`, `read`."""
    storage: _Scalars[_str]
    """Storage areas: `plugin`, `workspace`."""
    files: _Scalars[_str]
    """Sources of files: `config`, `knowledge`."""
    interactions: _Scalars[_str]
    """Operations on interactions: `request`."""
    def __init__(self, *, models: _Iterable[_str] | None = ..., tools: _Iterable[_str] | None = ..., knowledge_bases: _Iterable[_str] | None = ..., history: _Iterable[_str] | None = ..., events: _Iterable[_str] | None = ..., artifacts: _Iterable[_str] | None = ..., storage: _Iterable[_str] | None = ..., files: _Iterable[_str] | None = ..., interactions: _Iterable[_str] | None = ...) -> None: ...

class ResultDisposition(_int):
    """Treatment of a result that a runner reports (LangBot AgentRunner Protocol v1, §7.1 and §7.4)."""
    RESULT_DISPOSITION_UNSPECIFIED: _ClassVar[ResultDisposition]
    """Unspecified: not a valid disposition."""
    RESULT_DISPOSITION_APPLIED: _ClassVar[ResultDisposition]
    """The result is in the log, and its effects took place."""
    RESULT_DISPOSITION_TELEMETRY: _ClassVar[ResultDisposition]
    """The result is in the log and has no effects."""
    RESULT_DISPOSITION_IGNORED_UNKNOWN: _ClassVar[ResultDisposition]
    """The result is in the log as it arrived: its type is unknown here."""
    RESULT_DISPOSITION_DROPPED_INVALID: _ClassVar[ResultDisposition]
    """The result is not in the log: its payload is invalid for its type."""
    RESULT_DISPOSITION_DROPPED_DUPLICATE: _ClassVar[ResultDisposition]
    """The result is not in the log: its number was seen before."""
    RESULT_DISPOSITION_REFUSED_POLICY: _ClassVar[ResultDisposition]
    """The result is not in the log: the binding or a limit forbids it."""
    RESULT_DISPOSITION_IGNORED_AFTER_TERMINAL: _ClassVar[ResultDisposition]
    """The result is not in the log: the run had ended."""
    @classmethod
    def Name(cls, number: _int) -> _str: ...
    @classmethod
    def Value(cls, name: _str) -> ResultDisposition: ...
    @classmethod
    def keys(cls) -> list[_str]: ...
    @classmethod
    def values(cls) -> list[ResultDisposition]: ...
    @classmethod
    def items(cls) -> list[tuple[_str, ResultDisposition]]: ...
RESULT_DISPOSITION_UNSPECIFIED: ResultDisposition
RESULT_DISPOSITION_APPLIED: ResultDisposition
RESULT_DISPOSITION_TELEMETRY: ResultDisposition
RESULT_DISPOSITION_IGNORED_UNKNOWN: ResultDisposition
RESULT_DISPOSITION_DROPPED_INVALID: ResultDisposition
RESULT_DISPOSITION_DROPPED_DUPLICATE: ResultDisposition
RESULT_DISPOSITION_REFUSED_POLICY: ResultDisposition
RESULT_DISPOSITION_IGNORED_AFTER_TERMINAL: ResultDisposition

class RegisterRunnersRequest(_Message):
    """Request of RegisterRunners."""
    worker_id: _str
    """Id of the worker, chosen by the worker: the same for all processes that run the same runners, also after a restart."""
    manifests: _Scalars[_str]
    """The manifests as their authors wrote them, each a JSON object."""
    era: _str
    """Protocol version that the runners' SDK uses: `spec`, `ledger` or `4.11`; unset means `spec`."""
    url: _str
    """
    URL of a server of runnel.runner.v1.AgentRunnerService, over HTTP/2. The service registers the runners that it lists;
    `manifests` and `era` must then be unset. Unset means that a worker connects to the service.
    """
    credential: _str
    """Credential that the service sends to `url` as `authorization: Bearer`. It is never returned."""
    def __init__(self, *, worker_id: _str | None = ..., manifests: _Iterable[_str] | None = ..., era: _str | None = ..., url: _str | None = ..., credential: _str | None = ...) -> None: ...

class RegisterRunnersResponse(_Message):
    """Response of RegisterRunners."""
    worker_session_id: _str
    """
    Worker session: this process names it in its calls from now on. It is valid for the lifetime of the process. Unset for
    runners that the service connects to.
    """
    verdicts: _Messages[ManifestVerdict]
    """The verdict on each manifest, in the order in which they were sent or listed."""
    def __init__(self, *, worker_session_id: _str | None = ..., verdicts: _Iterable[ManifestVerdict | _Mapping[_str, _Any]] | None = ...) -> None: ...

class ManifestVerdict(_Message):
    """The verdict on one manifest."""
    runner_id: _str
    """Id in the manifest, where it was readable."""
    accepted: _bool
    """True when the runner may be bound and may be offered runs."""
    code: _str
    """Code of the refusal: `invalid_argument`, `already_exists` or `permission_denied`."""
    problem: _str
    """Reason of the refusal, with the path in the manifest and the correction."""
    def __init__(self, *, runner_id: _str | None = ..., accepted: _bool | None = ..., code: _str | None = ..., problem: _str | None = ...) -> None: ...

class ListRunnersRequest(_Message):
    """Request of ListRunners."""
    page_size: _int
    """Maximum number of runners to return: 1 to 250; 0 means 50. A page of large runners may be shorter."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListRunnersResponse(_Message):
    """Response of ListRunners."""
    runners: _Messages[Runner]
    """The runners."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, runners: _Iterable[Runner | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class GetRunnerRequest(_Message):
    """Request of GetRunner, with the parts of the runner's id."""
    author: _str
    """Author of the plugin."""
    name: _str
    """Name of the plugin."""
    runner: _str
    """Name of the runner in the plugin."""
    def __init__(self, *, author: _str | None = ..., name: _str | None = ..., runner: _str | None = ...) -> None: ...

class GetRunnerResponse(_Message):
    """Response of GetRunner."""
    runner: Runner
    """The runner."""
    def __init__(self, *, runner: Runner | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["runner"]) -> _bool: ...

class DeleteRunnerRequest(_Message):
    """Request of DeleteRunner, with the parts of the runner's id."""
    author: _str
    """Author of the plugin."""
    name: _str
    """Name of the plugin."""
    runner: _str
    """Name of the runner in the plugin."""
    def __init__(self, *, author: _str | None = ..., name: _str | None = ..., runner: _str | None = ...) -> None: ...

class DeleteRunnerResponse(_Message):
    """Response of DeleteRunner."""
    def __init__(self) -> None: ...

class StartRunRequest(_Message):
    """Request of StartRun."""
    request_id: _str
    """Idempotency key: the same id with the same event gives the same answer, so that a retry is safe."""
    event: AgentEvent
    """The event to handle."""
    annotations: _str
    """A JSON object of the caller's own, at most 1 MiB. RunService.GetRunInput returns it; unset means none."""
    def __init__(self, *, request_id: _str | None = ..., event: AgentEvent | _Mapping[_str, _Any] | None = ..., annotations: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["event"]) -> _bool: ...

class StartRunResponse(_Message):
    """Response of StartRun."""
    run: _m_v1.Run
    """The run that was started."""
    def __init__(self, *, run: _m_v1.Run | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["run"]) -> _bool: ...

class PutBindingRequest(_Message):
    """Request of PutBinding."""
    binding: Binding
    """The binding."""
    def __init__(self, *, binding: Binding | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["binding"]) -> _bool: ...

class PutBindingResponse(_Message):
    """Response of PutBinding."""
    binding: Binding
    """The binding as it is stored."""
    def __init__(self, *, binding: Binding | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["binding"]) -> _bool: ...

class GetBindingRequest(_Message):
    """Request of GetBinding."""
    binding_id: _str
    """Id of the binding."""
    def __init__(self, *, binding_id: _str | None = ...) -> None: ...

class GetBindingResponse(_Message):
    """Response of GetBinding."""
    binding: Binding
    """The binding."""
    def __init__(self, *, binding: Binding | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["binding"]) -> _bool: ...

class ListBindingsRequest(_Message):
    """Request of ListBindings."""
    page_size: _int
    """Maximum number of bindings to return: 1 to 250; 0 means 50. A page of large bindings may be shorter."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListBindingsResponse(_Message):
    """Response of ListBindings."""
    bindings: _Messages[Binding]
    """The bindings."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, bindings: _Iterable[Binding | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class DeleteBindingRequest(_Message):
    """Request of DeleteBinding."""
    binding_id: _str
    """Id of the binding."""
    def __init__(self, *, binding_id: _str | None = ...) -> None: ...

class DeleteBindingResponse(_Message):
    """Response of DeleteBinding."""
    def __init__(self) -> None: ...

class PutAgentProfileRequest(_Message):
    """Request of PutAgentProfile."""
    agent: AgentProfile
    """The agent."""
    def __init__(self, *, agent: AgentProfile | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["agent"]) -> _bool: ...

class PutAgentProfileResponse(_Message):
    """Response of PutAgentProfile."""
    agent: AgentProfile
    """The agent as it is stored."""
    def __init__(self, *, agent: AgentProfile | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["agent"]) -> _bool: ...

class GetAgentProfileRequest(_Message):
    """Request of GetAgentProfile."""
    agent_id: _str
    """Id of the agent."""
    def __init__(self, *, agent_id: _str | None = ...) -> None: ...

class GetAgentProfileResponse(_Message):
    """Response of GetAgentProfile."""
    agent: AgentProfile
    """The agent."""
    def __init__(self, *, agent: AgentProfile | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["agent"]) -> _bool: ...

class ListAgentProfilesRequest(_Message):
    """Request of ListAgentProfiles."""
    page_size: _int
    """Maximum number of agents to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListAgentProfilesResponse(_Message):
    """Response of ListAgentProfiles."""
    agents: _Messages[AgentProfile]
    """The agents."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, agents: _Iterable[AgentProfile | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class DeleteAgentProfileRequest(_Message):
    """Request of DeleteAgentProfile."""
    agent_id: _str
    """Id of the agent."""
    def __init__(self, *, agent_id: _str | None = ...) -> None: ...

class DeleteAgentProfileResponse(_Message):
    """Response of DeleteAgentProfile."""
    def __init__(self) -> None: ...

class PutConfigFileRequest(_Message):
    """Request of PutConfigFile."""
    file_key: _str
    """Key of the file, which configurations name."""
    mime_type: _str
    """Media type of the content."""
    content: _bytes
    """The content, at most 3 MiB."""
    def __init__(self, *, file_key: _str | None = ..., mime_type: _str | None = ..., content: _bytes | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["mime_type"]) -> _bool: ...

class PutConfigFileResponse(_Message):
    """Response of PutConfigFile."""
    def __init__(self) -> None: ...

class ListConfigFilesRequest(_Message):
    """Request of ListConfigFiles."""
    page_size: _int
    """Maximum number of files to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListConfigFilesResponse(_Message):
    """Response of ListConfigFiles."""
    files: _Messages[ConfigFile]
    """The files."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, files: _Iterable[ConfigFile | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class ConfigFile(_Message):
    """A file that configurations of runners may name, without its content."""
    file_key: _str
    """Key of the file."""
    mime_type: _str
    """Media type of the file."""
    size_bytes: _int
    """Size of the content, in bytes."""
    update_time: _Timestamp
    """Time of the last PutConfigFile."""
    def __init__(self, *, file_key: _str | None = ..., mime_type: _str | None = ..., size_bytes: _int | None = ..., update_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["mime_type", "update_time"]) -> _bool: ...

class DeleteConfigFileRequest(_Message):
    """Request of DeleteConfigFile."""
    file_key: _str
    """Key of the file."""
    def __init__(self, *, file_key: _str | None = ...) -> None: ...

class DeleteConfigFileResponse(_Message):
    """Response of DeleteConfigFile."""
    def __init__(self) -> None: ...

class ListResultVerdictsRequest(_Message):
    """Request of ListResultVerdicts."""
    run_id: _str
    """Id of the run."""
    page_size: _int
    """Maximum number of verdicts to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, run_id: _str | None = ..., page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListResultVerdictsResponse(_Message):
    """Response of ListResultVerdicts."""
    verdicts: _Messages[ResultVerdict]
    """The verdicts."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, verdicts: _Iterable[ResultVerdict | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class ResultVerdict(_Message):
    """The verdict on one result that a runner reported."""
    sequence: _int
    """Number that the runner assigned to the result."""
    type: _str
    """Type of the result, as the runner wrote it."""
    disposition: ResultDisposition
    """Treatment of the result."""
    diagnostics: _Scalars[_str]
    """Reasons, and unusual properties of the result: `gap 2`, `conflict`, `out_of_order`, or a sentence that names the field."""
    def __init__(self, *, sequence: _int | None = ..., type: _str | None = ..., disposition: ResultDisposition | _str | None = ..., diagnostics: _Iterable[_str] | None = ...) -> None: ...

class ListAuditEntriesRequest(_Message):
    """Request of ListAuditEntries."""
    run_id: _str
    """Id of a run: returns only its entries; unset means the entries of all runs."""
    page_size: _int
    """Maximum number of entries to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, run_id: _str | None = ..., page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListAuditEntriesResponse(_Message):
    """Response of ListAuditEntries."""
    entries: _Messages[AuditEntry]
    """The entries, newest first."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, entries: _Iterable[AuditEntry | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class AuditEntry(_Message):
    """
    One request of a run to the host (LangBot AgentRunner Protocol v1, §11). It contains nothing of the request's or response's
    content.
    """
    entry_id: _str
    """Id of the entry."""
    run_id: _str
    """Id of the run."""
    runner_id: _str
    """Id of the run's runner."""
    action: _str
    """Requested action, by its name in the protocol, such as `state_set`."""
    resource: _str
    """Resource of the action, such as the name of a tool."""
    scope: _str
    """Scope of the action, such as `conversation`."""
    result: _str
    """Verdict of the host: `allow` or `deny`."""
    reason: _str
    """Why the action was denied."""
    create_time: _Timestamp
    """Time of the request."""
    def __init__(self, *, entry_id: _str | None = ..., run_id: _str | None = ..., runner_id: _str | None = ..., action: _str | None = ..., resource: _str | None = ..., scope: _str | None = ..., result: _str | None = ..., reason: _str | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["create_time"]) -> _bool: ...

class RunnerService(_Service):
    """
    Works on runners, on the bindings that assign events to them, on the runs that events start, and on the records of these runs
    (LangBot AgentRunner Protocol v1). All of it belongs to the calling client: another client's resource gives NOT_FOUND.
    """
    def register_runners(self, request: RegisterRunnersRequest, *, timeout: _float | None = ...) -> RegisterRunnersResponse:
        """
        Registers the runners of a worker and returns a verdict for each manifest. A refused manifest does not affect the others.

        The same worker id replaces a known runner when it registers it again. Runs that have started keep their grants. Each call
        returns a new worker session, for the runners that it accepted; without manifests, for all runners that the worker id has
        registered. May be retried.

        With a `url` the service asks that server for its runners, and connects to it for each run. UNAVAILABLE
        (RUNNER_UNREACHABLE) when the server cannot be asked; nothing changes then.
        """
        ...
    def list_runners(self, request: ListRunnersRequest, *, timeout: _float | None = ...) -> ListRunnersResponse:
        """Lists the runners of the calling client by id."""
        ...
    def get_runner(self, request: GetRunnerRequest, *, timeout: _float | None = ...) -> GetRunnerResponse:
        """Returns one runner. NOT_FOUND (RUNNER_NOT_FOUND) for an unknown id."""
        ...
    def delete_runner(self, request: DeleteRunnerRequest, *, timeout: _float | None = ...) -> DeleteRunnerResponse:
        """
        Deletes a runner, so that another worker may register its id. Its active runs continue. Later events that are bound to it
        give NOT_FOUND (RUNNER_NOT_FOUND).
        """
        ...
    def start_run(self, request: StartRunRequest, *, timeout: _float | None = ...) -> StartRunResponse:
        """
        Starts a run for an event, with the runner that the matching binding names (LangBot AgentRunner Protocol v1, §13: one
        event, one binding, one run). The run waits up to 60 s until a worker accepts it, and then fails with `runner.unavailable`.

        NOT_FOUND (BINDING_NOT_FOUND, AGENT_NOT_FOUND, RUNNER_NOT_FOUND) when no binding matches, or its agent or runner does not
        exist. FAILED_PRECONDITION (BINDING_AMBIGUOUS) when several bindings match. RESOURCE_EXHAUSTED (PAYLOAD_TOO_LARGE) when the
        context for the runner exceeds 3 MiB. May be retried with the same `request_id` and event; another event with that id gives
        ALREADY_EXISTS.
        """
        ...
    def put_binding(self, request: PutBindingRequest, *, timeout: _float | None = ...) -> PutBindingResponse:
        """Creates a binding, or replaces the one with its id. The runner need not be registered yet. May be retried."""
        ...
    def get_binding(self, request: GetBindingRequest, *, timeout: _float | None = ...) -> GetBindingResponse:
        """Returns one binding. NOT_FOUND (BINDING_NOT_FOUND) for an unknown id."""
        ...
    def list_bindings(self, request: ListBindingsRequest, *, timeout: _float | None = ...) -> ListBindingsResponse:
        """Lists the bindings of the calling client by id."""
        ...
    def delete_binding(self, request: DeleteBindingRequest, *, timeout: _float | None = ...) -> DeleteBindingResponse:
        """Deletes a binding. Runs that have started continue. NOT_FOUND (BINDING_NOT_FOUND) for an unknown id."""
        ...
    def put_agent_profile(self, request: PutAgentProfileRequest, *, timeout: _float | None = ...) -> PutAgentProfileResponse:
        """Creates an agent, or replaces the one with its id. The runner need not be registered yet. May be retried."""
        ...
    def get_agent_profile(self, request: GetAgentProfileRequest, *, timeout: _float | None = ...) -> GetAgentProfileResponse:
        """Returns one agent. NOT_FOUND (AGENT_NOT_FOUND) for an unknown id."""
        ...
    def list_agent_profiles(self, request: ListAgentProfilesRequest, *, timeout: _float | None = ...) -> ListAgentProfilesResponse:
        """Lists the agents of the calling client by id. A page of large agents may be shorter."""
        ...
    def delete_agent_profile(self, request: DeleteAgentProfileRequest, *, timeout: _float | None = ...) -> DeleteAgentProfileResponse:
        """
        Deletes an agent. Runs that have started continue. NOT_FOUND (AGENT_NOT_FOUND) for an unknown id. Later events of bindings
        that name the agent give NOT_FOUND (AGENT_NOT_FOUND) too.
        """
        ...
    def put_config_file(self, request: PutConfigFileRequest, *, timeout: _float | None = ...) -> PutConfigFileResponse:
        """
        Creates a file that configurations of runners may name, or replaces the one with its key. A run that has a grant for the
        key reads the content at the time of reading. May be retried.
        """
        ...
    def list_config_files(self, request: ListConfigFilesRequest, *, timeout: _float | None = ...) -> ListConfigFilesResponse:
        """Lists the files of the calling client by key, without their content."""
        ...
    def delete_config_file(self, request: DeleteConfigFileRequest, *, timeout: _float | None = ...) -> DeleteConfigFileResponse:
        """Deletes a file. NOT_FOUND (RESOURCE_NOT_FOUND) for an unknown key."""
        ...
    def list_result_verdicts(self, request: ListResultVerdictsRequest, *, timeout: _float | None = ...) -> ListResultVerdictsResponse:
        """
        Lists the verdicts on a runner's results that were dropped, refused or unusual, oldest first. Every other result is in the
        run's log as it arrived, with its number in `runner_sequence`.
        """
        ...
    def list_audit_entries(self, request: ListAuditEntriesRequest, *, timeout: _float | None = ...) -> ListAuditEntriesResponse:
        """Lists the requests of runs to the host and whether they were allowed, newest first."""
        ...

class AsyncRunnerService(_AsyncService):
    """
    Works on runners, on the bindings that assign events to them, on the runs that events start, and on the records of these runs
    (LangBot AgentRunner Protocol v1). All of it belongs to the calling client: another client's resource gives NOT_FOUND.
    """
    async def register_runners(self, request: RegisterRunnersRequest, *, timeout: _float | None = ...) -> RegisterRunnersResponse:
        """
        Registers the runners of a worker and returns a verdict for each manifest. A refused manifest does not affect the others.

        The same worker id replaces a known runner when it registers it again. Runs that have started keep their grants. Each call
        returns a new worker session, for the runners that it accepted; without manifests, for all runners that the worker id has
        registered. May be retried.

        With a `url` the service asks that server for its runners, and connects to it for each run. UNAVAILABLE
        (RUNNER_UNREACHABLE) when the server cannot be asked; nothing changes then.
        """
        ...
    async def list_runners(self, request: ListRunnersRequest, *, timeout: _float | None = ...) -> ListRunnersResponse:
        """Lists the runners of the calling client by id."""
        ...
    async def get_runner(self, request: GetRunnerRequest, *, timeout: _float | None = ...) -> GetRunnerResponse:
        """Returns one runner. NOT_FOUND (RUNNER_NOT_FOUND) for an unknown id."""
        ...
    async def delete_runner(self, request: DeleteRunnerRequest, *, timeout: _float | None = ...) -> DeleteRunnerResponse:
        """
        Deletes a runner, so that another worker may register its id. Its active runs continue. Later events that are bound to it
        give NOT_FOUND (RUNNER_NOT_FOUND).
        """
        ...
    async def start_run(self, request: StartRunRequest, *, timeout: _float | None = ...) -> StartRunResponse:
        """
        Starts a run for an event, with the runner that the matching binding names (LangBot AgentRunner Protocol v1, §13: one
        event, one binding, one run). The run waits up to 60 s until a worker accepts it, and then fails with `runner.unavailable`.

        NOT_FOUND (BINDING_NOT_FOUND, AGENT_NOT_FOUND, RUNNER_NOT_FOUND) when no binding matches, or its agent or runner does not
        exist. FAILED_PRECONDITION (BINDING_AMBIGUOUS) when several bindings match. RESOURCE_EXHAUSTED (PAYLOAD_TOO_LARGE) when the
        context for the runner exceeds 3 MiB. May be retried with the same `request_id` and event; another event with that id gives
        ALREADY_EXISTS.
        """
        ...
    async def put_binding(self, request: PutBindingRequest, *, timeout: _float | None = ...) -> PutBindingResponse:
        """Creates a binding, or replaces the one with its id. The runner need not be registered yet. May be retried."""
        ...
    async def get_binding(self, request: GetBindingRequest, *, timeout: _float | None = ...) -> GetBindingResponse:
        """Returns one binding. NOT_FOUND (BINDING_NOT_FOUND) for an unknown id."""
        ...
    async def list_bindings(self, request: ListBindingsRequest, *, timeout: _float | None = ...) -> ListBindingsResponse:
        """Lists the bindings of the calling client by id."""
        ...
    async def delete_binding(self, request: DeleteBindingRequest, *, timeout: _float | None = ...) -> DeleteBindingResponse:
        """Deletes a binding. Runs that have started continue. NOT_FOUND (BINDING_NOT_FOUND) for an unknown id."""
        ...
    async def put_agent_profile(self, request: PutAgentProfileRequest, *, timeout: _float | None = ...) -> PutAgentProfileResponse:
        """Creates an agent, or replaces the one with its id. The runner need not be registered yet. May be retried."""
        ...
    async def get_agent_profile(self, request: GetAgentProfileRequest, *, timeout: _float | None = ...) -> GetAgentProfileResponse:
        """Returns one agent. NOT_FOUND (AGENT_NOT_FOUND) for an unknown id."""
        ...
    async def list_agent_profiles(self, request: ListAgentProfilesRequest, *, timeout: _float | None = ...) -> ListAgentProfilesResponse:
        """Lists the agents of the calling client by id. A page of large agents may be shorter."""
        ...
    async def delete_agent_profile(self, request: DeleteAgentProfileRequest, *, timeout: _float | None = ...) -> DeleteAgentProfileResponse:
        """
        Deletes an agent. Runs that have started continue. NOT_FOUND (AGENT_NOT_FOUND) for an unknown id. Later events of bindings
        that name the agent give NOT_FOUND (AGENT_NOT_FOUND) too.
        """
        ...
    async def put_config_file(self, request: PutConfigFileRequest, *, timeout: _float | None = ...) -> PutConfigFileResponse:
        """
        Creates a file that configurations of runners may name, or replaces the one with its key. A run that has a grant for the
        key reads the content at the time of reading. May be retried.
        """
        ...
    async def list_config_files(self, request: ListConfigFilesRequest, *, timeout: _float | None = ...) -> ListConfigFilesResponse:
        """Lists the files of the calling client by key, without their content."""
        ...
    async def delete_config_file(self, request: DeleteConfigFileRequest, *, timeout: _float | None = ...) -> DeleteConfigFileResponse:
        """Deletes a file. NOT_FOUND (RESOURCE_NOT_FOUND) for an unknown key."""
        ...
    async def list_result_verdicts(self, request: ListResultVerdictsRequest, *, timeout: _float | None = ...) -> ListResultVerdictsResponse:
        """
        Lists the verdicts on a runner's results that were dropped, refused or unusual, oldest first. Every other result is in the
        run's log as it arrived, with its number in `runner_sequence`.
        """
        ...
    async def list_audit_entries(self, request: ListAuditEntriesRequest, *, timeout: _float | None = ...) -> ListAuditEntriesResponse:
        """Lists the requests of runs to the host and whether they were allowed, newest first."""
        ...

class ListenAssignmentsRequest(_Message):
    """Request of ListenAssignments."""
    worker_session_id: _str
    """Id of the worker session."""
    max_concurrent: _int
    """Maximum number of runs that the worker works on at a time: 1 to 1000; 0 means 1."""
    def __init__(self, *, worker_session_id: _str | None = ..., max_concurrent: _int | None = ...) -> None: ...

class ListenAssignmentsResponse(_Message):
    """Response of ListenAssignments."""
    offer: RunOffer
    """An offer of a run."""
    cancel: RunCancellation
    """A run that the worker must end. It has 10 s for its last results."""
    drain: WorkerDrain
    """The replica shuts down: accept no more runs from it, and call again."""
    def __init__(self, *, offer: RunOffer | _Mapping[_str, _Any] | None = ..., cancel: RunCancellation | _Mapping[_str, _Any] | None = ..., drain: WorkerDrain | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["offer", "cancel", "drain", "assignment"]) -> _bool: ...
    def WhichOneof(self, oneof_group: _Literal["assignment"]) -> _Literal["offer", "cancel", "drain"] | None: ...

class Assignment(_Message):
    """An assignment for a worker that polls."""
    offer: RunOffer
    """An offer of a run."""
    cancel: RunCancellation
    """A run that the worker must end. It has 10 s for its last results."""
    drain: WorkerDrain
    """The replica shuts down: accept no more runs from it, and call again."""
    def __init__(self, *, offer: RunOffer | _Mapping[_str, _Any] | None = ..., cancel: RunCancellation | _Mapping[_str, _Any] | None = ..., drain: WorkerDrain | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["offer", "cancel", "drain", "assignment"]) -> _bool: ...
    def WhichOneof(self, oneof_group: _Literal["assignment"]) -> _Literal["offer", "cancel", "drain"] | None: ...

class RunOffer(_Message):
    """An offer of a run."""
    run_id: _str
    """Id of the run."""
    offer_id: _str
    """Id of this offer."""
    runner_id: _str
    """Id of the runner that the run is for."""
    expire_time: _Timestamp
    """Time until which the offer may be accepted."""
    def __init__(self, *, run_id: _str | None = ..., offer_id: _str | None = ..., runner_id: _str | None = ..., expire_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["expire_time"]) -> _bool: ...

class RunCancellation(_Message):
    """A run that the worker must end."""
    run_id: _str
    """Id of the run."""
    def __init__(self, *, run_id: _str | None = ...) -> None: ...

class WorkerDrain(_Message):
    """The notice that the replica shuts down."""
    def __init__(self) -> None: ...

class PollAssignmentRequest(_Message):
    """Request of PollAssignment."""
    worker_session_id: _str
    """Id of the worker session."""
    wait_seconds: _int
    """Maximum time to wait for an assignment, in seconds: 0 to 30."""
    def __init__(self, *, worker_session_id: _str | None = ..., wait_seconds: _int | None = ...) -> None: ...

class PollAssignmentResponse(_Message):
    """Response of PollAssignment."""
    assignment: Assignment
    """The assignment; unset when the time to wait passed without one."""
    def __init__(self, *, assignment: Assignment | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["assignment"]) -> _bool: ...

class AcceptRunRequest(_Message):
    """Request of AcceptRun."""
    worker_session_id: _str
    """Id of the worker session."""
    run_id: _str
    """Id of the run."""
    offer_id: _str
    """Id of the offer."""
    def __init__(self, *, worker_session_id: _str | None = ..., run_id: _str | None = ..., offer_id: _str | None = ...) -> None: ...

class AcceptRunResponse(_Message):
    """Response of AcceptRun."""
    context: AgentRunContext
    """Context of the run."""
    context_json: _str
    """The context as the JSON object that an SDK of the runner's era expects."""
    run_token: _str
    """
    Run token: the credential for the host API (runnel.host.v1) during this attempt of this run, as `Authorization: Bearer`.
    Each report also needs it (ReportResultsRequest.run_token).
    """
    attempt: _int
    """Number of this attempt, which each report names."""
    lease_end_time: _Timestamp
    """End of the lease: without a report by then, the worker loses the run."""
    def __init__(self, *, context: AgentRunContext | _Mapping[_str, _Any] | None = ..., context_json: _str | None = ..., run_token: _str | None = ..., attempt: _int | None = ..., lease_end_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["context", "lease_end_time"]) -> _bool: ...

class ReportResultsRequest(_Message):
    """Request of ReportResults."""
    run_id: _str
    """Id of the run."""
    attempt: _int
    """Number of the attempt, from AcceptRunResponse."""
    results: _Messages[ReportedResult]
    """The results, at most 3 MiB in total and 2 MiB each."""
    finished: _bool
    """True when the runner has no more results. A run without a terminal result then fails with `runner.no_terminal`."""
    run_token: _str
    """Run token, from AcceptRunResponse."""
    def __init__(self, *, run_id: _str | None = ..., attempt: _int | None = ..., results: _Iterable[ReportedResult | _Mapping[_str, _Any]] | None = ..., finished: _bool | None = ..., run_token: _str | None = ...) -> None: ...

class ReportedResult(_Message):
    """A result as a runner reports it (LangBot AgentRunner Protocol v1, §7.1)."""
    sequence: _int
    """Number of the result: 1, 2, 3 … for each run. Each number counts once, no matter how its result was treated."""
    type: _str
    """Dotted type, such as `message.delta`."""
    data: _str
    """Payload of the result, a JSON object."""
    usage: _str
    """Usage, a JSON object with `prompt_tokens`, `completion_tokens`, `total_tokens`; unset when it was not counted."""
    run_id: _str
    """Id of the run that the result claims; unset means the run of the request. A result of another run is dropped."""
    def __init__(self, *, sequence: _int | None = ..., type: _str | None = ..., data: _str | None = ..., usage: _str | None = ..., run_id: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["usage"]) -> _bool: ...

class ReportResultsResponse(_Message):
    """Response of ReportResults."""
    acked_through: _int
    """Highest number up to which every result was seen."""
    verdicts: _Messages[ResultVerdict]
    """The verdict on each result, in the order of the request."""
    cancel_requested: _bool
    """True when the run must end: model and tool calls are refused from now on, and it has 10 s for its last results."""
    ended: _bool
    """True when the run has ended: further results have no effect."""
    lease_end_time: _Timestamp
    """End of the lease: without another report by then, the worker loses the run. Unset when the run has ended."""
    def __init__(self, *, acked_through: _int | None = ..., verdicts: _Iterable[ResultVerdict | _Mapping[_str, _Any]] | None = ..., cancel_requested: _bool | None = ..., ended: _bool | None = ..., lease_end_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["lease_end_time"]) -> _bool: ...

class RunnerWorkerService(_Service):
    """
    Works on the runs of a worker, after RunnerService.RegisterRunners. A worker is a program with runners that connects to the
    service, so it can run behind any NAT. It receives offers by a stream or by polling, and reports by unary calls only.
    """
    def listen_assignments(self, request: ListenAssignmentsRequest, *, timeout: _float | None = ...) -> _Iterator[ListenAssignmentsResponse]:
        """
        Streams offers of runs, and notices about the runs that the worker has. A message without a member opens the stream and
        keeps it alive every 15 s. After UNAVAILABLE (RESUME), call again. Accepted runs continue meanwhile.
        """
        ...
    def poll_assignment(self, request: PollAssignmentRequest, *, timeout: _float | None = ...) -> PollAssignmentResponse:
        """Returns the next assignment, for programs that cannot read streams. Waits up to `wait_seconds` for one."""
        ...
    def accept_run(self, request: AcceptRunRequest, *, timeout: _float | None = ...) -> AcceptRunResponse:
        """
        Accepts a run that was offered. When several workers accept it, one gets the run and the others get ABORTED (OFFER_TAKEN).
        The service offers the run again after 10 s; a later acceptance of the old offer gives ABORTED (OFFER_TAKEN) too. May be
        retried with the same offer by the worker that got the run.
        """
        ...
    def report_results(self, request: ReportResultsRequest, *, timeout: _float | None = ...) -> ReportResultsResponse:
        """
        Reports results of a run and renews its lease of 30 s. A report without results renews it too. When the call returns, the
        acknowledged results are durable. A batch may be sent again as a whole.

        The run token proves that the worker accepted the run. After a new registration a worker continues to use the tokens that
        it has. NOT_FOUND (RUN_NOT_FOUND): the token is missing or belongs to another run. Unknown runs and the runs of other
        clients give the same answer. FAILED_PRECONDITION (ATTEMPT_STALE): the attempt no longer has the run, for instance because
        its worker was silent for longer than the lease (`runner.disconnected`). Nothing was applied.
        """
        ...

class AsyncRunnerWorkerService(_AsyncService):
    """
    Works on the runs of a worker, after RunnerService.RegisterRunners. A worker is a program with runners that connects to the
    service, so it can run behind any NAT. It receives offers by a stream or by polling, and reports by unary calls only.
    """
    def listen_assignments(self, request: ListenAssignmentsRequest, *, timeout: _float | None = ...) -> _AsyncIterator[ListenAssignmentsResponse]:
        """
        Streams offers of runs, and notices about the runs that the worker has. A message without a member opens the stream and
        keeps it alive every 15 s. After UNAVAILABLE (RESUME), call again. Accepted runs continue meanwhile.
        """
        ...
    async def poll_assignment(self, request: PollAssignmentRequest, *, timeout: _float | None = ...) -> PollAssignmentResponse:
        """Returns the next assignment, for programs that cannot read streams. Waits up to `wait_seconds` for one."""
        ...
    async def accept_run(self, request: AcceptRunRequest, *, timeout: _float | None = ...) -> AcceptRunResponse:
        """
        Accepts a run that was offered. When several workers accept it, one gets the run and the others get ABORTED (OFFER_TAKEN).
        The service offers the run again after 10 s; a later acceptance of the old offer gives ABORTED (OFFER_TAKEN) too. May be
        retried with the same offer by the worker that got the run.
        """
        ...
    async def report_results(self, request: ReportResultsRequest, *, timeout: _float | None = ...) -> ReportResultsResponse:
        """
        Reports results of a run and renews its lease of 30 s. A report without results renews it too. When the call returns, the
        acknowledged results are durable. A batch may be sent again as a whole.

        The run token proves that the worker accepted the run. After a new registration a worker continues to use the tokens that
        it has. NOT_FOUND (RUN_NOT_FOUND): the token is missing or belongs to another run. Unknown runs and the runs of other
        clients give the same answer. FAILED_PRECONDITION (ATTEMPT_STALE): the attempt no longer has the run, for instance because
        its worker was silent for longer than the lease (`runner.disconnected`). Nothing was applied.
        """
        ...

