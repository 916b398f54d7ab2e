"""What both kinds of channels share: the address and the options of gRPC, and requests."""

import uuid
from typing import Any
from urllib.parse import urlsplit

import grpc
from google.protobuf.message import Message

from .service import Method

# A batch of results is smaller, and so are the contexts and answers of models that workers receive.
RECEIVE_BYTES_MAX = 16 * 1_048_576
# A call during the channel's own wait fails at once, so this bounds how late a reader comes back.
RECONNECT_MAX_MS = 5_000
# Pings find a half-open connection within twice this time, before its stream is opened again on it.
PING_MAX_SECONDS = 20.0
# The service sends an empty message every 15 s.
IDLE_SECONDS = 45.0
# Of a unary call with all its attempts, where the caller sets no other.
CALL_SECONDS = 60.0


def channel_options(idle_timeout: float) -> list[tuple[str, Any]]:
    ping_ms = int(min(PING_MAX_SECONDS, idle_timeout / 2) * 1000)
    return [
        ("grpc.max_receive_message_length", RECEIVE_BYTES_MAX),
        ("grpc.max_send_message_length", RECEIVE_BYTES_MAX),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", RECONNECT_MAX_MS),
        ("grpc.keepalive_time_ms", ping_ms),
        ("grpc.keepalive_timeout_ms", ping_ms),
        # The time for the answer to a ping, which is a minute by itself; and pings have no limit while a reader only reads.
        ("grpc.http2.ping_timeout_ms", ping_ms),
        ("grpc.http2.max_pings_without_data", 0),
        # Attempts are made here, each with a signature of its own.
        ("grpc.enable_retries", 0),
    ]


def read_url(url: str, root_certificates: bytes | None) -> tuple[str, grpc.ChannelCredentials | None]:
    """Returns the address, and the credentials of TLS for https."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or parts.netloc == "" or parts.path not in ("", "/"):
        raise ValueError(f"invalid URL {url}: write http://host:port or https://host:port")
    if parts.scheme == "http":
        return (parts.netloc if parts.port else f"{parts.netloc}:80"), None
    return (parts.netloc if parts.port else f"{parts.netloc}:443"), grpc.ssl_channel_credentials(root_certificates)


def name_request(method: Method, request: Message) -> Message:
    """Gives a request that has none an id, so that the service recognises a repeated call."""
    if not method.has_request_id or request.request_id != "":  # type: ignore[attr-defined]
        return request
    named = type(request)()
    named.CopyFrom(request)
    named.request_id = str(uuid.uuid4())  # type: ignore[attr-defined]
    return named
