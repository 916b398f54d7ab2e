# Generated from the contract by `npm run generate`: do not edit.
"""The messages, enums and services of google.api."""

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

class HttpBody(_Message):
    """
    Message that represents an arbitrary HTTP body. It should only be used for
    payload formats that can't be represented as JSON, such as raw binary or
    an HTML page.


    This message can be used both in streaming and non-streaming API methods in
    the request as well as the response.

    It can be used as a top-level request field, which is convenient if one
    wants to extract parameters from either the URL or HTTP template into the
    request fields and also want access to the raw HTTP body.

    Example:

        message GetResourceRequest {
          // A unique request id.
          string request_id = 1;

          // The raw HTTP body is bound to this field.
          google.api.HttpBody http_body = 2;

        }

        service ResourceService {
          rpc GetResource(GetResourceRequest)
            returns (google.api.HttpBody);
          rpc UpdateResource(google.api.HttpBody)
            returns (google.protobuf.Empty);

        }

    Example with streaming methods:

        service CaldavService {
          rpc GetCalendar(stream google.api.HttpBody)
            returns (stream google.api.HttpBody);
          rpc UpdateCalendar(stream google.api.HttpBody)
            returns (stream google.api.HttpBody);

        }

    Use of this type only changes how the request and response bodies are
    handled, all other features will continue to work unchanged.
    """
    content_type: _str
    """The HTTP Content-Type header value specifying the content type of the body."""
    data: _bytes
    """The HTTP request/response body as raw binary."""
    extensions: _Messages[_AnyMessage]
    """
    Application specific response metadata. Must be set in the first response
    for streaming APIs.
    """
    def __init__(self, *, content_type: _str | None = ..., data: _bytes | None = ..., extensions: _Iterable[_Mapping[_str, _Any]] | None = ...) -> None: ...

