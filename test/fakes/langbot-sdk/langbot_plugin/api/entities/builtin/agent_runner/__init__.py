"""Contexts and results. A literal that a model does not know makes the whole context invalid, and so does a key where the SDK
forbids others; elsewhere unknown keys are ignored.
"""

from enum import Enum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from langbot_plugin import ERA

Json = dict[str, Any]


class Forbidding(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AgentTrigger(BaseModel):
    type: str
    source: Literal["platform", "webui", "api", "scheduler", "system", "host_adapter"] = "host_adapter"
    timestamp: int | None = None


class AgentEventContext(BaseModel):
    event_id: str
    event_type: str
    event_time: int | None = None
    source: str
    source_event_type: str | None = None
    raw_ref: Json | None = None
    data: Json = Field(default_factory=dict)


class ConversationContext(BaseModel):
    conversation_id: str | None = None
    thread_id: str | None = None
    bot_id: str | None = None
    workspace_id: str | None = None


class ActorContext(BaseModel):
    actor_type: str
    actor_id: str | None = None
    actor_name: str | None = None
    metadata: Json = Field(default_factory=dict)


class SubjectContext(BaseModel):
    subject_type: str
    subject_id: str | None = None
    data: Json = Field(default_factory=dict)


class ArtifactRef(BaseModel):
    artifact_id: str
    artifact_type: str | None = None
    mime_type: str | None = None
    name: str | None = None
    url: str | None = None


class InputAttachment(Forbidding):
    type: str | None = None
    mime_type: str | None = None
    size: int | None = None
    name: str | None = None
    source: str | None = None
    url: str | None = None
    path: str | None = None
    content: str | None = None
    id: str | None = None


class AgentInput(BaseModel):
    text: str | None = None
    contents: list[Json] = Field(default_factory=list)
    attachments: list[InputAttachment if ERA == "4.11" else ArtifactRef] = Field(default_factory=list)


class DeliveryContext(BaseModel):
    surface: str
    reply_target: Json | None = None
    supports_streaming: bool = False
    supports_edit: bool = False
    supports_reaction: bool = False
    max_message_size: int | None = None
    platform_capabilities: Json = Field(default_factory=dict)


MODEL_OPERATIONS = ("invoke", "stream", "rerank") + (("count_tokens",) if ERA == "4.11" else ())


class ModelResource(BaseModel):
    model_id: str
    model_type: str | None = None
    provider: str | None = None
    operations: list[Literal[MODEL_OPERATIONS]] = Field(default_factory=list)


class ToolResource(BaseModel):
    tool_name: str
    tool_type: str | None = None
    description: str | None = None
    operations: list[Literal["detail", "call"]] = Field(default_factory=list)


class StorageResource(BaseModel):
    plugin_storage: bool = False
    workspace_storage: bool = False


class AgentResources411(BaseModel):
    models: list[ModelResource] = Field(default_factory=list)
    tools: list[ToolResource] = Field(default_factory=list)
    knowledge_bases: list[Json] = Field(default_factory=list)
    skills: list[Json] = Field(default_factory=list)
    storage: StorageResource = Field(default_factory=StorageResource)


class AgentResourcesWithFiles(AgentResources411):
    files: list[Json] = Field(default_factory=list)


AgentResources = AgentResources411 if ERA == "4.11" else AgentResourcesWithFiles


class InlineContextPolicy(BaseModel):
    mode: Literal["none", "current_event", "recent_tail", "summary_tail"] = "current_event"
    delivered_count: int = 0
    messages_complete: bool = False


class SpecApis(BaseModel):
    history_page: bool = False
    history_search: bool = False
    event_get: bool = False
    event_page: bool = False
    artifact_metadata: bool = False
    artifact_read: bool = False
    state: bool = False
    storage: bool = False


class LaterApis(SpecApis):
    run_get: bool = False


class ContextAccess(BaseModel):
    conversation_id: str | None = None
    latest_cursor: str | None = None
    has_history_before: bool = False
    inline_policy: InlineContextPolicy = Field(default_factory=InlineContextPolicy)
    available_apis: SpecApis if ERA == "spec" else LaterApis = Field(default_factory=LaterApis)


class AgentRunState(BaseModel):
    conversation: Json = Field(default_factory=dict)
    actor: Json = Field(default_factory=dict)
    subject: Json = Field(default_factory=dict)
    runner: Json = Field(default_factory=dict)


class AgentRuntimeContext(BaseModel):
    langbot_version: str | None = None
    trace_id: str | None = None
    deadline_at: float | None = None
    metadata: Json = Field(default_factory=dict)


class AgentRunContext(BaseModel):
    run_id: str
    trigger: AgentTrigger
    event: AgentEventContext
    conversation: ConversationContext | None = None
    actor: ActorContext | None = None
    subject: SubjectContext | None = None
    input: AgentInput
    delivery: DeliveryContext
    resources: AgentResources
    context: ContextAccess
    state: AgentRunState = Field(default_factory=AgentRunState)
    runtime: AgentRuntimeContext
    config: Json = Field(default_factory=dict)
    adapter: Json | None = None
    metadata: Json = Field(default_factory=dict)


class AgentRunResultType(str, Enum):
    MESSAGE_DELTA = "message.delta"
    MESSAGE_COMPLETED = "message.completed"
    STATE_UPDATED = "state.updated"
    ARTIFACT_CREATED = "artifact.created"
    RUN_COMPLETED = "run.completed"
    RUN_FAILED = "run.failed"


class AgentRunResult(BaseModel):
    run_id: str
    type: AgentRunResultType | str
    data: Json = Field(default_factory=dict)
    usage: Json | None = None
    sequence: int | None = None
    timestamp: int | None = None


class TranscriptItem(BaseModel):
    transcript_id: str
    event_id: str
    conversation_id: str | None = None
    thread_id: str | None = None
    role: str
    item_type: str = "message"
    content: str | None = None
    content_json: Json | None = None
    seq: int | None = None
    cursor: str | None = None
    created_at: int | None = None
    metadata: Json = Field(default_factory=dict)


class HistoryPage(BaseModel):
    items: list[TranscriptItem] = Field(default_factory=list)
    next_cursor: str | None = None
    prev_cursor: str | None = None
    has_more: bool = False
    total_count: int | None = None


class AgentRun(Forbidding):
    run_id: str
    event_id: str | None = None
    agent_id: str | None = None
    binding_id: str | None = None
    runner_id: str | None = None
    conversation_id: str | None = None
    thread_id: str | None = None
    workspace_id: str | None = None
    bot_id: str | None = None
    status: str
    status_reason: str | None = None
    created_at: int | None = None
    started_at: int | None = None
    finished_at: int | None = None
    updated_at: int | None = None
    deadline_at: int | None = None
    cancel_requested_at: int | None = None
    usage: Json | None = None
    cost: Json | None = None
    metadata: Json = Field(default_factory=dict)


class ArtifactReadResult(BaseModel):
    artifact_id: str
    mime_type: str | None = None
    size_bytes: int | None = None
    offset: int = 0
    length: int | None = None
    content_base64: str | None = None
    file_key: str | None = None
    has_more: bool = False
