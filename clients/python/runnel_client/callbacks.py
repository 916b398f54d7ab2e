"""Verifies status callbacks: webhooks of the service (docs/status-callbacks.md)."""

import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import invalid

SKEW_MAX_SECONDS = 120
_NONCE = re.compile(r"[A-Za-z0-9_-]{8,128}")


@dataclass(frozen=True)
class StatusCallback:
    """A verified callback. Remember `callback_id`: a repeated callback has the same one. `body` has all members."""

    session_id: str
    client_id: str
    status: str
    run_id: str
    sequence: int
    output: str
    error: str
    callback_id: str
    # A receiver that refuses replays remembers it for four minutes, the width of the accepted times.
    nonce: str
    body: Mapping[str, Any]


def verify_callback(
    secret: str | bytes, headers: Mapping[str, str], body: bytes, *, now: float | None = None
) -> StatusCallback:
    """Returns the callback of a request, whose body is as it was received. Names of headers may have any case.

    Raises RunnelError, INVALID_ARGUMENT, with the reason CREDENTIALS_MISSING, NONCE_INVALID, TIMESTAMP_INVALID,
    TIMESTAMP_EXPIRED, SIGNATURE_INVALID or BODY_INVALID.
    """
    named = {name.lower(): value for name, value in headers.items()}
    timestamp, nonce, signature = (named.get(f"x-{name}", "") for name in ("timestamp", "nonce", "signature"))
    if not (timestamp and nonce and signature):
        raise invalid("CREDENTIALS_MISSING", "missing X-Timestamp, X-Nonce or X-Signature")
    if _NONCE.fullmatch(nonce) is None:
        raise invalid("NONCE_INVALID", "invalid X-Nonce")
    if re.fullmatch(r"[0-9]{1,12}", timestamp) is None:
        raise invalid("TIMESTAMP_INVALID", "invalid X-Timestamp: it must be seconds since 1970")
    signed = f"{timestamp}.{nonce}.".encode() + body
    key = secret.encode() if isinstance(secret, str) else secret
    expected = f"sha256={hmac.new(key, signed, hashlib.sha256).hexdigest()}"
    if not hmac.compare_digest(expected.encode(), signature.encode()):
        raise invalid("SIGNATURE_INVALID", "invalid X-Signature: the body was changed, or another secret signed it")
    if abs((time.time() if now is None else now) - int(timestamp)) > SKEW_MAX_SECONDS:
        raise invalid("TIMESTAMP_EXPIRED", f"X-Timestamp is more than {SKEW_MAX_SECONDS} s away from the time here")
    return _read(nonce, body)


def _read(nonce: str, body: bytes) -> StatusCallback:
    try:
        members = json.loads(body)
    except ValueError:
        members = None
    if not isinstance(members, dict):
        raise invalid("BODY_INVALID", "the body is not a JSON object")
    texts = ("session_id", "client_id", "status", "run_id", "output", "error", "callback_id")
    return StatusCallback(
        **{name: str(members.get(name, "")) for name in texts},
        sequence=int(members.get("sequence", 0)),
        nonce=nonce,
        body=members,
    )
