# Generated from the contract by `npm run generate`: do not edit.
"""The messages, enums and services of runnel.host.v1."""

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

class ApiError(_Message):
    """
    Details of a refused or failed call (LangBot AgentRunner Protocol v1, §9: AgentAPIError), sent as a detail of the gRPC
    status.
    """
    code: _str
    """
    Error code: `unauthorized`, `not_found`, `deadline_exceeded`, `payload_too_large`, `rate_limited`, `invalid_argument` or
    `runtime_error`.
    """
    message: _str
    """Error message, for people."""
    retryable: _bool
    """True when the same call may succeed later."""
    details: _str
    """Further details, a JSON object."""
    def __init__(self, *, code: _str | None = ..., message: _str | None = ..., retryable: _bool | None = ..., details: _str | None = ...) -> None: ...

class GetArtifactRequest(_Message):
    """Request of GetArtifact."""
    run_id: _str
    """Id of the run."""
    artifact_id: _str
    """Id of the artifact."""
    def __init__(self, *, run_id: _str | None = ..., artifact_id: _str | None = ...) -> None: ...

class GetArtifactResponse(_Message):
    """Response of GetArtifact."""
    artifact: ArtifactMetadata
    """Metadata of the artifact."""
    def __init__(self, *, artifact: ArtifactMetadata | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["artifact"]) -> _bool: ...

class ArtifactMetadata(_Message):
    """The metadata of an artifact."""
    artifact_id: _str
    """Id of the artifact."""
    artifact_type: _str
    """Type of the artifact, chosen by its creator."""
    mime_type: _str
    """Media type of the content."""
    name: _str
    """Display name."""
    size_bytes: _int
    """Size of the content, in bytes."""
    sha256: _str
    """SHA-256 of the content, lower-case hex."""
    source: _str
    """Origin of the artifact: `runner` when a runner created it, `event` when it arrived with the event of its run."""
    conversation_id: _str
    """Id of the conversation."""
    run_id: _str
    """Id of the run that created it, or whose event it arrived with."""
    runner_id: _str
    """Id of the runner that created it; unset for an artifact of an event."""
    created_at: _int
    """Time of creation, in seconds since 1970."""
    expires_at: _int
    """Time when the artifact is deleted, in seconds since 1970."""
    metadata: _str
    """Further properties, a JSON object."""
    def __init__(self, *, artifact_id: _str | None = ..., artifact_type: _str | None = ..., mime_type: _str | None = ..., name: _str | None = ..., size_bytes: _int | None = ..., sha256: _str | None = ..., source: _str | None = ..., conversation_id: _str | None = ..., run_id: _str | None = ..., runner_id: _str | None = ..., created_at: _int | None = ..., expires_at: _int | None = ..., metadata: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["mime_type", "name", "size_bytes", "sha256", "conversation_id", "run_id", "runner_id", "created_at", "expires_at"]) -> _bool: ...

class ReadArtifactRequest(_Message):
    """Request of ReadArtifact."""
    run_id: _str
    """Id of the run."""
    artifact_id: _str
    """Id of the artifact."""
    offset: _int
    """Offset of the first byte. An offset beyond the end returns no content."""
    limit: _int
    """Maximum number of bytes, at most 10 MiB; unset means 1 MiB."""
    def __init__(self, *, run_id: _str | None = ..., artifact_id: _str | None = ..., offset: _int | None = ..., limit: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["limit"]) -> _bool: ...

class ReadArtifactResponse(_Message):
    """Response of ReadArtifact."""
    artifact_id: _str
    """Id of the artifact."""
    mime_type: _str
    """Media type of the content."""
    size_bytes: _int
    """Size of the whole content, in bytes."""
    offset: _int
    """Offset of this piece."""
    content: _bytes
    """The piece."""
    has_more: _bool
    """True when content follows this piece, even outside of the requested range."""
    def __init__(self, *, artifact_id: _str | None = ..., mime_type: _str | None = ..., size_bytes: _int | None = ..., offset: _int | None = ..., content: _bytes | None = ..., has_more: _bool | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["mime_type"]) -> _bool: ...

class ReadFileRequest(_Message):
    """Request of ReadFile."""
    run_id: _str
    """Id of the run."""
    file_key: _str
    """Key of the file."""
    def __init__(self, *, run_id: _str | None = ..., file_key: _str | None = ...) -> None: ...

class ReadFileResponse(_Message):
    """Response of ReadFile."""
    content: _bytes
    """Content of the file."""
    mime_type: _str
    """Media type of the file."""
    def __init__(self, *, content: _bytes | None = ..., mime_type: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["mime_type"]) -> _bool: ...

class HostArtifactService(_Service):
    """Reads artifacts and configuration files for a runner. host_api.proto has the rules of all calls."""
    def get_artifact(self, request: GetArtifactRequest, *, timeout: _float | None = ...) -> GetArtifactResponse:
        """Returns the metadata of an artifact of the run or of its conversation."""
        ...
    def read_artifact(self, request: ReadArtifactRequest, *, timeout: _float | None = ...) -> _Iterator[ReadArtifactResponse]:
        """Streams the content of an artifact, or a range of it, in pieces of at most 1 MiB."""
        ...
    def read_file(self, request: ReadFileRequest, *, timeout: _float | None = ...) -> ReadFileResponse:
        """Returns a file that the configuration of the runner names."""
        ...

class AsyncHostArtifactService(_AsyncService):
    """Reads artifacts and configuration files for a runner. host_api.proto has the rules of all calls."""
    async def get_artifact(self, request: GetArtifactRequest, *, timeout: _float | None = ...) -> GetArtifactResponse:
        """Returns the metadata of an artifact of the run or of its conversation."""
        ...
    def read_artifact(self, request: ReadArtifactRequest, *, timeout: _float | None = ...) -> _AsyncIterator[ReadArtifactResponse]:
        """Streams the content of an artifact, or a range of it, in pieces of at most 1 MiB."""
        ...
    async def read_file(self, request: ReadFileRequest, *, timeout: _float | None = ...) -> ReadFileResponse:
        """Returns a file that the configuration of the runner names."""
        ...

class PageHistoryRequest(_Message):
    """Request of PageHistory."""
    run_id: _str
    """Id of the run."""
    conversation_id: _str
    """Id of the conversation; unset means the run's own. Another conversation gives `unauthorized`."""
    before_cursor: _str
    """Cursor from an earlier PageHistory: returns the items before it. Cannot be combined with `after_cursor`."""
    after_cursor: _str
    """Cursor from an earlier PageHistory: returns the items after it."""
    limit: _int
    """Maximum number of items: 0 means 50, and more than 100 means 100."""
    direction: _str
    """Direction of paging: `backward` (the default) starts at the end, `forward` at the beginning."""
    include_artifacts: _bool
    """True adds the artifacts of each item."""
    roles: _Scalars[_str]
    """Roles: returns only items of these roles; empty means all roles."""
    item_types: _Scalars[_str]
    """Item types: returns only items of these types; empty means all types. Every item has the type `message`."""
    def __init__(self, *, run_id: _str | None = ..., conversation_id: _str | None = ..., before_cursor: _str | None = ..., after_cursor: _str | None = ..., limit: _int | None = ..., direction: _str | None = ..., include_artifacts: _bool | None = ..., roles: _Iterable[_str] | None = ..., item_types: _Iterable[_str] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["conversation_id", "before_cursor", "after_cursor"]) -> _bool: ...

class PageHistoryResponse(_Message):
    """Response of PageHistory."""
    items: _Messages[TranscriptItem]
    """The items, oldest first."""
    next_cursor: _str
    """Cursor of the next page in the same direction; unset when there is no next page."""
    prev_cursor: _str
    """Cursor of the start of this page."""
    has_more: _bool
    """True when there are more items in the same direction."""
    total_count: _int
    """Number of items in the conversation, regardless of the request."""
    def __init__(self, *, items: _Iterable[TranscriptItem | _Mapping[_str, _Any]] | None = ..., next_cursor: _str | None = ..., prev_cursor: _str | None = ..., has_more: _bool | None = ..., total_count: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["next_cursor", "prev_cursor", "total_count"]) -> _bool: ...

class TranscriptItem(_Message):
    """One message of a conversation's transcript."""
    transcript_id: _str
    """Id of the item."""
    event_id: _str
    """Id of the event that the item belongs to."""
    conversation_id: _str
    """Id of the conversation."""
    thread_id: _str
    """Id of the thread in the conversation."""
    role: _str
    """Role of the speaker."""
    item_type: _str
    """Type of the item: always `message`."""
    content: _str
    """Text of the message, cut to at most 4,000 characters."""
    content_json: _str
    """
    The whole message, a JSON object. Its images and files are artifacts: instead of the data, an element has `artifact_id`,
    `artifact_type`, `mime_type`, `name`, `size` and `source`, and an `artifact:` URL. Models get the content of that artifact.
    """
    artifact_refs: _Scalars[_str]
    """Artifacts that belong to the message, JSON objects."""
    seq: _int
    """Position of the item in the conversation."""
    cursor: _str
    """Cursor of the item, for `before_cursor` and `after_cursor`."""
    created_at: _int
    """Time of the message, in seconds since 1970."""
    metadata: _str
    """Further properties, a JSON object."""
    def __init__(self, *, transcript_id: _str | None = ..., event_id: _str | None = ..., conversation_id: _str | None = ..., thread_id: _str | None = ..., role: _str | None = ..., item_type: _str | None = ..., content: _str | None = ..., content_json: _str | None = ..., artifact_refs: _Iterable[_str] | None = ..., seq: _int | None = ..., cursor: _str | None = ..., created_at: _int | None = ..., metadata: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["conversation_id", "thread_id", "content", "content_json", "seq", "cursor", "created_at"]) -> _bool: ...

class SearchHistoryRequest(_Message):
    """Request of SearchHistory."""
    run_id: _str
    """Id of the run."""
    query: _str
    """Text to find, matched literally and regardless of letter case."""
    filters: _str
    """
    Filters, a JSON object. `roles`, `item_types` (every item has the type `message`) and `event_types` (of the event that the
    item's run was started for) are lists of at most 64 values. An item matches a list when it has any of its values; an empty
    list matches all. `role` is one role. `conversation_id` is the conversation: one other than the run's gives `unauthorized`.
    An unknown key gives `invalid_argument`.
    """
    top_k: _int
    """Maximum number of items: 0 means 10, and more than 100 means 100."""
    def __init__(self, *, run_id: _str | None = ..., query: _str | None = ..., filters: _str | None = ..., top_k: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["filters"]) -> _bool: ...

class SearchHistoryResponse(_Message):
    """Response of SearchHistory."""
    items: _Messages[TranscriptItem]
    """The items, newest first."""
    total_count: _int
    """Number of all matching items, including those that were not returned."""
    query: _str
    """The text that was searched for."""
    def __init__(self, *, items: _Iterable[TranscriptItem | _Mapping[_str, _Any]] | None = ..., total_count: _int | None = ..., query: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["total_count"]) -> _bool: ...

class GetEventRequest(_Message):
    """Request of GetEvent."""
    run_id: _str
    """Id of the run."""
    event_id: _str
    """Id of the event."""
    def __init__(self, *, run_id: _str | None = ..., event_id: _str | None = ...) -> None: ...

class GetEventResponse(_Message):
    """Response of GetEvent."""
    record: AgentEventRecord
    """The event."""
    def __init__(self, *, record: AgentEventRecord | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["record"]) -> _bool: ...

class AgentEventRecord(_Message):
    """A stored event."""
    event_id: _str
    """Id of the event."""
    event_type: _str
    """Stable type of the event."""
    event_time: _int
    """Time of the event, in seconds since 1970."""
    source: _str
    """Source of the event."""
    bot_id: _str
    """Id of the bot."""
    workspace_id: _str
    """Id of the workspace."""
    conversation_id: _str
    """Id of the conversation."""
    thread_id: _str
    """Id of the thread."""
    actor_type: _str
    """Kind of actor."""
    actor_id: _str
    """Id of the actor."""
    actor_name: _str
    """Display name of the actor."""
    subject_type: _str
    """Kind of subject."""
    subject_id: _str
    """Id of the subject."""
    input_summary: _str
    """Start of the event's text, at most 1,000 characters."""
    input_ref: _str
    """Reference to the stored content of the event."""
    raw_ref: _str
    """Reference to the stored original of the event, as its source sent it."""
    seq: _int
    """Position of the event among the events of its conversation."""
    cursor: _str
    """Cursor of the event, for `before_cursor`."""
    created_at: _int
    """Time when the host received the event, in seconds since 1970."""
    metadata: _str
    """Further properties, a JSON object."""
    def __init__(self, *, event_id: _str | None = ..., event_type: _str | None = ..., event_time: _int | None = ..., source: _str | None = ..., bot_id: _str | None = ..., workspace_id: _str | None = ..., conversation_id: _str | None = ..., thread_id: _str | None = ..., actor_type: _str | None = ..., actor_id: _str | None = ..., actor_name: _str | None = ..., subject_type: _str | None = ..., subject_id: _str | None = ..., input_summary: _str | None = ..., input_ref: _str | None = ..., raw_ref: _str | None = ..., seq: _int | None = ..., cursor: _str | None = ..., created_at: _int | None = ..., metadata: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["event_time", "bot_id", "workspace_id", "conversation_id", "thread_id", "actor_type", "actor_id", "actor_name", "subject_type", "subject_id", "input_summary", "input_ref", "raw_ref", "seq", "cursor", "created_at"]) -> _bool: ...

class PageEventsRequest(_Message):
    """Request of PageEvents."""
    run_id: _str
    """Id of the run."""
    conversation_id: _str
    """Id of the conversation; unset means the run's own. Another conversation gives `unauthorized`."""
    event_types: _Scalars[_str]
    """Event types: returns only events of these types; empty means all types."""
    before_cursor: _str
    """Cursor from an earlier PageEvents: returns the events before it."""
    limit: _int
    """Maximum number of events: 0 means 50, and more than 100 means 100."""
    def __init__(self, *, run_id: _str | None = ..., conversation_id: _str | None = ..., event_types: _Iterable[_str] | None = ..., before_cursor: _str | None = ..., limit: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["conversation_id", "before_cursor"]) -> _bool: ...

class PageEventsResponse(_Message):
    """Response of PageEvents."""
    items: _Messages[AgentEventRecord]
    """The events, newest first."""
    next_cursor: _str
    """Cursor of the next page; unset when there is no next page."""
    has_more: _bool
    """True when there are more events."""
    def __init__(self, *, items: _Iterable[AgentEventRecord | _Mapping[_str, _Any]] | None = ..., next_cursor: _str | None = ..., has_more: _bool | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["next_cursor"]) -> _bool: ...

class HostHistoryService(_Service):
    """Reads the history of conversations and events for a runner. host_api.proto has the rules of all calls."""
    def page_history(self, request: PageHistoryRequest, *, timeout: _float | None = ...) -> PageHistoryResponse:
        """Returns a page of the conversation's transcript, oldest first within the page."""
        ...
    def search_history(self, request: SearchHistoryRequest, *, timeout: _float | None = ...) -> SearchHistoryResponse:
        """Finds messages of the conversation's transcript that contain a text, newest first."""
        ...
    def get_event(self, request: GetEventRequest, *, timeout: _float | None = ...) -> GetEventResponse:
        """Returns one event of the conversation. `not_found` for an event outside the conversation."""
        ...
    def page_events(self, request: PageEventsRequest, *, timeout: _float | None = ...) -> PageEventsResponse:
        """Returns a page of the conversation's events, newest first."""
        ...

class AsyncHostHistoryService(_AsyncService):
    """Reads the history of conversations and events for a runner. host_api.proto has the rules of all calls."""
    async def page_history(self, request: PageHistoryRequest, *, timeout: _float | None = ...) -> PageHistoryResponse:
        """Returns a page of the conversation's transcript, oldest first within the page."""
        ...
    async def search_history(self, request: SearchHistoryRequest, *, timeout: _float | None = ...) -> SearchHistoryResponse:
        """Finds messages of the conversation's transcript that contain a text, newest first."""
        ...
    async def get_event(self, request: GetEventRequest, *, timeout: _float | None = ...) -> GetEventResponse:
        """Returns one event of the conversation. `not_found` for an event outside the conversation."""
        ...
    async def page_events(self, request: PageEventsRequest, *, timeout: _float | None = ...) -> PageEventsResponse:
        """Returns a page of the conversation's events, newest first."""
        ...

class RetrieveKnowledgeRequest(_Message):
    """Request of RetrieveKnowledge."""
    run_id: _str
    """Id of the run."""
    kb_id: _str
    """Id of the knowledge base."""
    query_text: _str
    """Query text, at most 8 KiB. A text without words finds nothing."""
    top_k: _int
    """Maximum number of entries: 1 to 100; 0 means 5."""
    filters: _str
    """Filters, a JSON object: the named members of an entry's metadata must equal these values. Numbers are compared by value."""
    def __init__(self, *, run_id: _str | None = ..., kb_id: _str | None = ..., query_text: _str | None = ..., top_k: _int | None = ..., filters: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["filters"]) -> _bool: ...

class RetrieveKnowledgeResponse(_Message):
    """Response of RetrieveKnowledge."""
    results: _Scalars[_str]
    """The matching entries, best first, as many as fit into 3 MiB: JSON objects with `id`, `content`, `metadata` and `score`."""
    def __init__(self, *, results: _Iterable[_str] | None = ...) -> None: ...

class HostKnowledgeService(_Service):
    """Searches knowledge bases for a runner. host_api.proto has the rules of all calls."""
    def retrieve_knowledge(self, request: RetrieveKnowledgeRequest, *, timeout: _float | None = ...) -> RetrieveKnowledgeResponse:
        """
        Searches a knowledge base. Needs the operation `retrieve` on it. Finds entries that contain any of the query's words.
        Entries that contain them more often and closer together come first.
        """
        ...

class AsyncHostKnowledgeService(_AsyncService):
    """Searches knowledge bases for a runner. host_api.proto has the rules of all calls."""
    async def retrieve_knowledge(self, request: RetrieveKnowledgeRequest, *, timeout: _float | None = ...) -> RetrieveKnowledgeResponse:
        """
        Searches a knowledge base. Needs the operation `retrieve` on it. Finds entries that contain any of the query's words.
        Entries that contain them more often and closer together come first.
        """
        ...

class ModelUsage(_Message):
    """The tokens that a call of a model used."""
    prompt_tokens: _int
    """Number of input tokens; unset when the provider did not report it."""
    completion_tokens: _int
    """Number of output tokens; unset when the provider did not report it."""
    total_tokens: _int
    """Sum of tokens; unset when the provider did not report it."""
    def __init__(self, *, prompt_tokens: _int | None = ..., completion_tokens: _int | None = ..., total_tokens: _int | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["prompt_tokens", "completion_tokens", "total_tokens"]) -> _bool: ...

class InvokeModelRequest(_Message):
    """Request of InvokeModel."""
    run_id: _str
    """Id of the run."""
    model_id: _str
    """Id of the model."""
    messages: _Scalars[_str]
    """
    The messages of the protocol, each a JSON object, oldest first. Roles are `system` (all of these precede the others),
    `user`, `assistant` and `tool`. A tool message answers each tool call of an assistant. Content is text or elements of the
    protocol: text, images and files, given as base64, as an http or https URL, or as the `artifact_id` of an artifact that the
    run may read. `attachments` of a message are read as well. A placeholder replaces content that the model cannot accept.
    """
    functions: _Scalars[_str]
    """Tools that the model may call: JSON objects with `name`, `description` and `parameters` (JSON Schema)."""
    extra_args: _str
    """
    Further arguments for the provider, a JSON object. Known are `temperature`, `max_tokens` and `response_format`; others are
    ignored. `response_format` is that of Chat Completions: type `text`, `json_object`, or `json_schema` with `name`, `schema`,
    `strict` and `description`. A model that does not support it answers with text.
    """
    def __init__(self, *, run_id: _str | None = ..., model_id: _str | None = ..., messages: _Iterable[_str] | None = ..., functions: _Iterable[_str] | None = ..., extra_args: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["extra_args"]) -> _bool: ...

class InvokeModelResponse(_Message):
    """Response of InvokeModel."""
    message: _str
    """
    The model's message, a JSON object as the protocol defines it. `provider_specific_fields` has the data that its provider
    must get back. Reasoning is omitted.
    """
    usage: ModelUsage
    """Usage of the call."""
    def __init__(self, *, message: _str | None = ..., usage: ModelUsage | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["usage"]) -> _bool: ...

class InvokeModelStreamRequest(_Message):
    """Request of InvokeModelStream."""
    run_id: _str
    """Id of the run."""
    model_id: _str
    """Id of the model."""
    messages: _Scalars[_str]
    """Same as in InvokeModelRequest."""
    functions: _Scalars[_str]
    """Same as in InvokeModelRequest."""
    extra_args: _str
    """Same as in InvokeModelRequest."""
    def __init__(self, *, run_id: _str | None = ..., model_id: _str | None = ..., messages: _Iterable[_str] | None = ..., functions: _Iterable[_str] | None = ..., extra_args: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["extra_args"]) -> _bool: ...

class InvokeModelStreamResponse(_Message):
    """Response of InvokeModelStream."""
    chunk: _str
    """A piece of the message: a MessageChunk of the protocol as a JSON object. Unset in the last response."""
    usage: ModelUsage
    """Usage of the call; only in the last response."""
    def __init__(self, *, chunk: _str | None = ..., usage: ModelUsage | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["chunk", "usage"]) -> _bool: ...

class RerankRequest(_Message):
    """Request of Rerank."""
    run_id: _str
    """Id of the run."""
    model_id: _str
    """Id of the model."""
    query: _str
    """The query."""
    documents: _Scalars[_str]
    """The documents, at most 64."""
    top_k: _int
    """Maximum number of documents to return; 0 means all."""
    def __init__(self, *, run_id: _str | None = ..., model_id: _str | None = ..., query: _str | None = ..., documents: _Iterable[_str] | None = ..., top_k: _int | None = ...) -> None: ...

class RerankResponse(_Message):
    """Response of Rerank."""
    results: _Messages[RankedDocument]
    """The documents, best first."""
    def __init__(self, *, results: _Iterable[RankedDocument | _Mapping[_str, _Any]] | None = ...) -> None: ...

class RankedDocument(_Message):
    """A document with its rank score."""
    index: _int
    """Index of the document in the request."""
    relevance_score: _float
    """Relevance of the document to the query; higher is better."""
    def __init__(self, *, index: _int | None = ..., relevance_score: _float | None = ...) -> None: ...

class CountTokensRequest(_Message):
    """Request of CountTokens."""
    run_id: _str
    """Id of the run."""
    model_id: _str
    """Id of the model."""
    messages: _Scalars[_str]
    """Same as in InvokeModelRequest."""
    functions: _Scalars[_str]
    """Same as in InvokeModelRequest."""
    def __init__(self, *, run_id: _str | None = ..., model_id: _str | None = ..., messages: _Iterable[_str] | None = ..., functions: _Iterable[_str] | None = ...) -> None: ...

class CountTokensResponse(_Message):
    """Response of CountTokens."""
    tokens: _int
    """Estimated number of tokens: one per four characters of messages and functions, in every script."""
    def __init__(self, *, tokens: _int | None = ...) -> None: ...

class HostModelService(_Service):
    """Calls models for a runner. host_api.proto has the rules of all calls."""
    def invoke_model(self, request: InvokeModelRequest, *, timeout: _float | None = ...) -> InvokeModelResponse:
        """
        Calls a model and returns its whole answer. Needs the operation `invoke` on the model.

        Each call counts towards the run's quota (`host.model_calls`). Its usage counts towards the run's budget and the client's
        daily budget. Beyond them it gives `rate_limited` (QUOTA_EXHAUSTED), which no retry can resolve. A failure of the model
        gives `runtime_error`, with UNAVAILABLE when another call may succeed. A retry calls the model again. A granted model that
        the host no longer has gives `not_found`.
        """
        ...
    def invoke_model_stream(self, request: InvokeModelStreamRequest, *, timeout: _float | None = ...) -> _Iterator[InvokeModelStreamResponse]:
        """
        Calls a model and streams its answer. Needs the operation `stream` on the model. The same quota, budgets and errors apply
        as for InvokeModel.

        When the caller cancels the call, the request to the provider ends. While a model thinks, a chunk without text arrives
        about every 15 seconds. A tool call arrives complete, in one chunk.
        """
        ...
    def rerank(self, request: RerankRequest, *, timeout: _float | None = ...) -> RerankResponse:
        """
        Orders documents by how well they answer a query. Needs the operation `rerank` on the model. The same quota, budgets and
        errors apply as for InvokeModel. Rerank models are named `rerank:<name>`.
        """
        ...
    def count_tokens(self, request: CountTokensRequest, *, timeout: _float | None = ...) -> CountTokensResponse:
        """
        Estimates the number of tokens of messages. Needs the operation `count_tokens` on the model. It calls no provider, so it
        counts towards no quota. A model that the host no longer has gives `not_found`.
        """
        ...

class AsyncHostModelService(_AsyncService):
    """Calls models for a runner. host_api.proto has the rules of all calls."""
    async def invoke_model(self, request: InvokeModelRequest, *, timeout: _float | None = ...) -> InvokeModelResponse:
        """
        Calls a model and returns its whole answer. Needs the operation `invoke` on the model.

        Each call counts towards the run's quota (`host.model_calls`). Its usage counts towards the run's budget and the client's
        daily budget. Beyond them it gives `rate_limited` (QUOTA_EXHAUSTED), which no retry can resolve. A failure of the model
        gives `runtime_error`, with UNAVAILABLE when another call may succeed. A retry calls the model again. A granted model that
        the host no longer has gives `not_found`.
        """
        ...
    def invoke_model_stream(self, request: InvokeModelStreamRequest, *, timeout: _float | None = ...) -> _AsyncIterator[InvokeModelStreamResponse]:
        """
        Calls a model and streams its answer. Needs the operation `stream` on the model. The same quota, budgets and errors apply
        as for InvokeModel.

        When the caller cancels the call, the request to the provider ends. While a model thinks, a chunk without text arrives
        about every 15 seconds. A tool call arrives complete, in one chunk.
        """
        ...
    async def rerank(self, request: RerankRequest, *, timeout: _float | None = ...) -> RerankResponse:
        """
        Orders documents by how well they answer a query. Needs the operation `rerank` on the model. The same quota, budgets and
        errors apply as for InvokeModel. Rerank models are named `rerank:<name>`.
        """
        ...
    async def count_tokens(self, request: CountTokensRequest, *, timeout: _float | None = ...) -> CountTokensResponse:
        """
        Estimates the number of tokens of messages. Needs the operation `count_tokens` on the model. It calls no provider, so it
        counts towards no quota. A model that the host no longer has gives `not_found`.
        """
        ...

class GetRunRequest(_Message):
    """Request of GetRun."""
    run_id: _str
    """Id of the run."""
    def __init__(self, *, run_id: _str | None = ...) -> None: ...

class GetRunResponse(_Message):
    """Response of GetRun."""
    run: _m_v1.Run
    """The run, as its client sees it."""
    def __init__(self, *, run: _m_v1.Run | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["run"]) -> _bool: ...

class GetApprovalRequest(_Message):
    """Request of GetApproval."""
    run_id: _str
    """Id of the run."""
    sequence: _int
    """Number that the runner assigned to the `action.requested`."""
    use_id: _str
    """Id of one execution of the action: 1 to 128 characters. The runner chooses it and repeats it in each retry."""
    wait_seconds: _int
    """Maximum time to wait for a decision, 0 to 20 seconds. It also covers the wait for a result that has not arrived yet."""
    def __init__(self, *, run_id: _str | None = ..., sequence: _int | None = ..., use_id: _str | None = ..., wait_seconds: _int | None = ...) -> None: ...

class GetApprovalResponse(_Message):
    """Response of GetApproval."""
    approval_id: _str
    """Id of the approval."""
    state: _m_v1.Approval.State
    """State of the approval. Only `approved` allows the action. `pending` means that the wait ended without a decision."""
    digest: _str
    """SHA-256 of the approved or rejected request, as in Approval."""
    comment: _str
    """Comment on the decision."""
    expire_time: _Timestamp
    """Time until which the approval can be decided and the runner can read an approval."""
    def __init__(self, *, approval_id: _str | None = ..., state: _m_v1.Approval.State | _str | None = ..., digest: _str | None = ..., comment: _str | None = ..., expire_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["expire_time"]) -> _bool: ...

class GetVersionRequest(_Message):
    """Request of GetVersion."""
    run_id: _str
    """Id of the run."""
    def __init__(self, *, run_id: _str | None = ...) -> None: ...

class GetVersionResponse(_Message):
    """Response of GetVersion."""
    version: _str
    """Version of the host."""
    def __init__(self, *, version: _str | None = ...) -> None: ...

class HostRunService(_Service):
    """Returns the run, its approvals and the host's version to a runner. host_api.proto has the rules of all calls."""
    def get_run(self, request: GetRunRequest, *, timeout: _float | None = ...) -> GetRunResponse:
        """Returns this run. A runner can also use it to find out that the run should be cancelled."""
        ...
    def get_approval(self, request: GetApprovalRequest, *, timeout: _float | None = ...) -> GetApprovalResponse:
        """
        Returns the approval of an `action.requested`, and waits for its decision on request.

        `unauthorized` (GRANT_REFUSED) when the run's binding requires no approvals, and once the run is being cancelled.
        `not_found` (APPROVAL_NOT_FOUND) when there is no valid `action.requested` with this number.

        An approval is valid for one use: the answer `approved` marks it as used by the `use_id` of the request. The same `use_id`
        gets `approved` again, so a runner that lost the answer retries with the same `use_id`. Every other `use_id` gets `used`.
        """
        ...
    def get_version(self, request: GetVersionRequest, *, timeout: _float | None = ...) -> GetVersionResponse:
        """Returns the version of the host."""
        ...

class AsyncHostRunService(_AsyncService):
    """Returns the run, its approvals and the host's version to a runner. host_api.proto has the rules of all calls."""
    async def get_run(self, request: GetRunRequest, *, timeout: _float | None = ...) -> GetRunResponse:
        """Returns this run. A runner can also use it to find out that the run should be cancelled."""
        ...
    async def get_approval(self, request: GetApprovalRequest, *, timeout: _float | None = ...) -> GetApprovalResponse:
        """
        Returns the approval of an `action.requested`, and waits for its decision on request.

        `unauthorized` (GRANT_REFUSED) when the run's binding requires no approvals, and once the run is being cancelled.
        `not_found` (APPROVAL_NOT_FOUND) when there is no valid `action.requested` with this number.

        An approval is valid for one use: the answer `approved` marks it as used by the `use_id` of the request. The same `use_id`
        gets `approved` again, so a runner that lost the answer retries with the same `use_id`. Every other `use_id` gets `used`.
        """
        ...
    async def get_version(self, request: GetVersionRequest, *, timeout: _float | None = ...) -> GetVersionResponse:
        """Returns the version of the host."""
        ...

class StorageArea(_int):
    """A storage area."""
    STORAGE_AREA_UNSPECIFIED: _ClassVar[StorageArea]
    """Unspecified: not a valid area."""
    STORAGE_AREA_PLUGIN: _ClassVar[StorageArea]
    """The storage of the runner's plugin."""
    STORAGE_AREA_WORKSPACE: _ClassVar[StorageArea]
    """The storage of the workspace."""
    @classmethod
    def Name(cls, number: _int) -> _str: ...
    @classmethod
    def Value(cls, name: _str) -> StorageArea: ...
    @classmethod
    def keys(cls) -> list[_str]: ...
    @classmethod
    def values(cls) -> list[StorageArea]: ...
    @classmethod
    def items(cls) -> list[tuple[_str, StorageArea]]: ...
STORAGE_AREA_UNSPECIFIED: StorageArea
STORAGE_AREA_PLUGIN: StorageArea
STORAGE_AREA_WORKSPACE: StorageArea

class GetStateRequest(_Message):
    """Request of GetState."""
    run_id: _str
    """Id of the run."""
    scope: _str
    """Scope of the state: `conversation`, `actor`, `subject` or `runner`."""
    key: _str
    """Key of the value."""
    def __init__(self, *, run_id: _str | None = ..., scope: _str | None = ..., key: _str | None = ...) -> None: ...

class GetStateResponse(_Message):
    """Response of GetState."""
    found: _bool
    """True when there is a value, even `null`."""
    value: _str
    """The value, as JSON; unset when there is no value."""
    def __init__(self, *, found: _bool | None = ..., value: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["value"]) -> _bool: ...

class SetStateRequest(_Message):
    """Request of SetState."""
    run_id: _str
    """Id of the run."""
    scope: _str
    """Scope of the state, as in GetStateRequest."""
    key: _str
    """Key of the value: 1 to 255 characters without control characters."""
    value: _str
    """The value, as JSON: at most 262,144 bytes."""
    def __init__(self, *, run_id: _str | None = ..., scope: _str | None = ..., key: _str | None = ..., value: _str | None = ...) -> None: ...

class SetStateResponse(_Message):
    """Response of SetState."""
    def __init__(self) -> None: ...

class DeleteStateRequest(_Message):
    """Request of DeleteState."""
    run_id: _str
    """Id of the run."""
    scope: _str
    """Scope of the state, as in GetStateRequest."""
    key: _str
    """Key of the value."""
    def __init__(self, *, run_id: _str | None = ..., scope: _str | None = ..., key: _str | None = ...) -> None: ...

class DeleteStateResponse(_Message):
    """Response of DeleteState."""
    deleted: _bool
    """True when there was a value."""
    def __init__(self, *, deleted: _bool | None = ...) -> None: ...

class ListStateRequest(_Message):
    """Request of ListState."""
    run_id: _str
    """Id of the run."""
    scope: _str
    """Scope of the state, as in GetStateRequest."""
    prefix: _str
    """Prefix: returns only keys that start with it."""
    limit: _int
    """Maximum number of keys: 0 and more than 100 mean 100."""
    def __init__(self, *, run_id: _str | None = ..., scope: _str | None = ..., prefix: _str | None = ..., limit: _int | None = ...) -> None: ...

class ListStateResponse(_Message):
    """Response of ListState."""
    keys: _Scalars[_str]
    """The keys, in order."""
    has_more: _bool
    """True when there are more keys."""
    def __init__(self, *, keys: _Iterable[_str] | None = ..., has_more: _bool | None = ...) -> None: ...

class ReadStorageRequest(_Message):
    """Request of ReadStorage."""
    run_id: _str
    """Id of the run."""
    area: StorageArea
    """Storage area."""
    key: _str
    """Key of the value."""
    offset: _int
    """Offset of the first byte."""
    limit: _int
    """Maximum number of bytes: 0 and more than 1 MiB mean 1 MiB."""
    def __init__(self, *, run_id: _str | None = ..., area: StorageArea | _str | None = ..., key: _str | None = ..., offset: _int | None = ..., limit: _int | None = ...) -> None: ...

class ReadStorageResponse(_Message):
    """Response of ReadStorage."""
    found: _bool
    """True when there is a value."""
    content: _bytes
    """The piece."""
    size_bytes: _int
    """Size of the whole value, in bytes."""
    has_more: _bool
    """True when content follows this piece."""
    def __init__(self, *, found: _bool | None = ..., content: _bytes | None = ..., size_bytes: _int | None = ..., has_more: _bool | None = ...) -> None: ...

class WriteStorageRequest(_Message):
    """Request of WriteStorage."""
    run_id: _str
    """Id of the run."""
    area: StorageArea
    """Storage area."""
    key: _str
    """Key of the value: 1 to 255 characters without control characters."""
    offset: _int
    """Offset of the piece: 0, or the end of the previous piece."""
    content: _bytes
    """The piece, at most 1 MiB. A whole value has at most 10 MiB."""
    finish: _bool
    """True for the last piece."""
    def __init__(self, *, run_id: _str | None = ..., area: StorageArea | _str | None = ..., key: _str | None = ..., offset: _int | None = ..., content: _bytes | None = ..., finish: _bool | None = ...) -> None: ...

class WriteStorageResponse(_Message):
    """Response of WriteStorage."""
    def __init__(self) -> None: ...

class DeleteStorageRequest(_Message):
    """Request of DeleteStorage."""
    run_id: _str
    """Id of the run."""
    area: StorageArea
    """Storage area."""
    key: _str
    """Key of the value."""
    def __init__(self, *, run_id: _str | None = ..., area: StorageArea | _str | None = ..., key: _str | None = ...) -> None: ...

class DeleteStorageResponse(_Message):
    """Response of DeleteStorage."""
    deleted: _bool
    """True when there was a value."""
    def __init__(self, *, deleted: _bool | None = ...) -> None: ...

class ListStorageRequest(_Message):
    """Request of ListStorage."""
    run_id: _str
    """Id of the run."""
    area: StorageArea
    """Storage area."""
    limit: _int
    """Maximum number of keys: 0 and more than 1,000 mean 1,000."""
    def __init__(self, *, run_id: _str | None = ..., area: StorageArea | _str | None = ..., limit: _int | None = ...) -> None: ...

class ListStorageResponse(_Message):
    """Response of ListStorage."""
    keys: _Scalars[_str]
    """The keys, in order."""
    has_more: _bool
    """True when there are more keys."""
    def __init__(self, *, keys: _Iterable[_str] | None = ..., has_more: _bool | None = ...) -> None: ...

class HostStorageService(_Service):
    """Stores state and data for a runner. host_api.proto has the rules of all calls."""
    def get_state(self, request: GetStateRequest, *, timeout: _float | None = ...) -> GetStateResponse:
        """Returns a value of the state. A missing value gives `found` = false; a stored `null` gives true."""
        ...
    def set_state(self, request: SetStateRequest, *, timeout: _float | None = ...) -> SetStateResponse:
        """Sets a value of the state."""
        ...
    def delete_state(self, request: DeleteStateRequest, *, timeout: _float | None = ...) -> DeleteStateResponse:
        """Deletes a value of the state and returns whether it existed."""
        ...
    def list_state(self, request: ListStateRequest, *, timeout: _float | None = ...) -> ListStateResponse:
        """Lists keys of the state in order. A prefix is matched literally."""
        ...
    def read_storage(self, request: ReadStorageRequest, *, timeout: _float | None = ...) -> ReadStorageResponse:
        """Returns a value of the storage, or a range of it."""
        ...
    def write_storage(self, request: WriteStorageRequest, *, timeout: _float | None = ...) -> WriteStorageResponse:
        """
        Writes a piece of a value of the storage. Offset 0 starts a new value, and each further piece continues at the end of the
        value. Readers get the previous value until the last piece (`finish`) is written.
        """
        ...
    def delete_storage(self, request: DeleteStorageRequest, *, timeout: _float | None = ...) -> DeleteStorageResponse:
        """Deletes a value of the storage and returns whether it existed."""
        ...
    def list_storage(self, request: ListStorageRequest, *, timeout: _float | None = ...) -> ListStorageResponse:
        """Lists the keys of the storage in order."""
        ...

class AsyncHostStorageService(_AsyncService):
    """Stores state and data for a runner. host_api.proto has the rules of all calls."""
    async def get_state(self, request: GetStateRequest, *, timeout: _float | None = ...) -> GetStateResponse:
        """Returns a value of the state. A missing value gives `found` = false; a stored `null` gives true."""
        ...
    async def set_state(self, request: SetStateRequest, *, timeout: _float | None = ...) -> SetStateResponse:
        """Sets a value of the state."""
        ...
    async def delete_state(self, request: DeleteStateRequest, *, timeout: _float | None = ...) -> DeleteStateResponse:
        """Deletes a value of the state and returns whether it existed."""
        ...
    async def list_state(self, request: ListStateRequest, *, timeout: _float | None = ...) -> ListStateResponse:
        """Lists keys of the state in order. A prefix is matched literally."""
        ...
    async def read_storage(self, request: ReadStorageRequest, *, timeout: _float | None = ...) -> ReadStorageResponse:
        """Returns a value of the storage, or a range of it."""
        ...
    async def write_storage(self, request: WriteStorageRequest, *, timeout: _float | None = ...) -> WriteStorageResponse:
        """
        Writes a piece of a value of the storage. Offset 0 starts a new value, and each further piece continues at the end of the
        value. Readers get the previous value until the last piece (`finish`) is written.
        """
        ...
    async def delete_storage(self, request: DeleteStorageRequest, *, timeout: _float | None = ...) -> DeleteStorageResponse:
        """Deletes a value of the storage and returns whether it existed."""
        ...
    async def list_storage(self, request: ListStorageRequest, *, timeout: _float | None = ...) -> ListStorageResponse:
        """Lists the keys of the storage in order."""
        ...

class GetToolRequest(_Message):
    """Request of GetTool."""
    run_id: _str
    """Id of the run."""
    tool_name: _str
    """Name of the tool."""
    def __init__(self, *, run_id: _str | None = ..., tool_name: _str | None = ...) -> None: ...

class GetToolResponse(_Message):
    """Response of GetTool."""
    tool: _str
    """The tool, a JSON object with `name`, `description` and `parameters` (JSON Schema)."""
    def __init__(self, *, tool: _str | None = ...) -> None: ...

class CallToolRequest(_Message):
    """Request of CallTool."""
    run_id: _str
    """Id of the run."""
    tool_name: _str
    """Name of the tool."""
    parameters: _str
    """Arguments of the call, a JSON object."""
    approval_sequence: _int
    """
    For a tool that waits for a person (`McpServer.approve`): the sequence of the runner's `action.requested` for this call, with the
    action `call_tool`, the target `{"tool_name": …}` and the arguments as its payload. Its approval allows one call. The call waits up
    to 20 s for the decision; without one by then it is `runtime_error` (HOST_CALL_UNAVAILABLE), and may be made again. Without an
    approval it is `unauthorized` (APPROVAL_REQUIRED). Unset for every other tool.
    """
    def __init__(self, *, run_id: _str | None = ..., tool_name: _str | None = ..., parameters: _str | None = ..., approval_sequence: _int | None = ...) -> None: ...

class CallToolResponse(_Message):
    """Response of CallTool."""
    result: _str
    """
    Result of the tool, a JSON object: `content`, a text; `media`, images and recordings of an MCP server's tool, each with `type`,
    `mime_type` and `data` in Base64; and `structured_content`, the same as JSON, where that server gives it.
    """
    def __init__(self, *, result: _str | None = ...) -> None: ...

class HostToolService(_Service):
    """Calls tools for a runner. host_api.proto has the rules of all calls."""
    def get_tool(self, request: GetToolRequest, *, timeout: _float | None = ...) -> GetToolResponse:
        """Returns the description of a tool. Needs the operation `detail` on it."""
        ...
    def call_tool(self, request: CallToolRequest, *, timeout: _float | None = ...) -> CallToolResponse:
        """
        Calls a tool. Needs the operation `call` on it. A tool that fails gives `runtime_error`, and the run continues.

        The tool works in the directory of the run's own session; a tool of an MCP server works at its server. Each call counts towards the
        run's quota (`host.tool_calls`); beyond it, `rate_limited` (QUOTA_EXHAUSTED). Not safe to retry: a call whose answer was lost may
        have had its effects.
        """
        ...

class AsyncHostToolService(_AsyncService):
    """Calls tools for a runner. host_api.proto has the rules of all calls."""
    async def get_tool(self, request: GetToolRequest, *, timeout: _float | None = ...) -> GetToolResponse:
        """Returns the description of a tool. Needs the operation `detail` on it."""
        ...
    async def call_tool(self, request: CallToolRequest, *, timeout: _float | None = ...) -> CallToolResponse:
        """
        Calls a tool. Needs the operation `call` on it. A tool that fails gives `runtime_error`, and the run continues.

        The tool works in the directory of the run's own session; a tool of an MCP server works at its server. Each call counts towards the
        run's quota (`host.tool_calls`); beyond it, `rate_limited` (QUOTA_EXHAUSTED). Not safe to retry: a call whose answer was lost may
        have had its effects.
        """
        ...

