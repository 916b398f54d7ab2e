"""Who calls: an API key, signatures of version 2, or a ticket."""

import hashlib
import hmac
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


class Credentials(Protocol):
    """Returns the metadata of one attempt of a call, with keys in lower case."""

    def sign(self, path: str, body: bytes) -> Sequence[tuple[str, str]]: ...


@dataclass(frozen=True)
class ApiKey:
    """A client's key, or the admin token."""

    key: str = field(repr=False)

    def sign(self, path: str, body: bytes) -> Sequence[tuple[str, str]]:
        return (("authorization", f"Bearer {self.key}"),)


@dataclass(frozen=True)
class Ticket:
    """A ticket for the stream of one session or run."""

    ticket: str = field(repr=False)

    def sign(self, path: str, body: bytes) -> Sequence[tuple[str, str]]:
        return (("authorization", f"Bearer {self.ticket}"),)


@dataclass(frozen=True)
class Signature:
    """Signs each attempt with a nonce and a timestamp of its own (version 2). Without TLS too, the secret stays here."""

    client_id: str
    secret: str = field(repr=False)

    def sign(self, path: str, body: bytes) -> Sequence[tuple[str, str]]:
        timestamp, nonce = str(int(time.time())), secrets.token_hex(16)
        lines = ("v2", "POST", path, self.client_id, timestamp, nonce, hashlib.sha256(body).hexdigest())
        signature = hmac.new(self.secret.encode(), "\n".join(lines).encode(), hashlib.sha256).hexdigest()
        return (
            ("x-client-id", self.client_id),
            ("x-timestamp", timestamp),
            ("x-nonce", nonce),
            ("x-signature", f"sha256={signature}"),
        )
