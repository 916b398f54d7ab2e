"""Verifies receipts offline: signed statements about the logs of runs (docs/signed-jobs.md). Needs `runnel-client[receipts]`."""

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError

from .errors import RunnelError, invalid
from .reading import result_type
from .v1 import GetJwksResponse, GetReceiptResponse, RunResult

_HEADER_TYPE = "runnel-receipt+jws"
_STATEMENT_TYPE = "runnel.receipt.v1"
_BLOCK_ENTRIES = 64
_MARK_BYTES = 8


@dataclass(frozen=True)
class Statement:
    """What the service signed. `members` has everything, also what later versions add."""

    run_id: str
    entries: int
    counts: Mapping[str, int]
    first_hash: str
    last_hash: str
    status: str
    # The failure code, or the finish reason of a completed run.
    code: str
    # The thumbprint of the key that signed.
    kid: str
    members: Mapping[str, Any]


def read_public_keys(jwks: GetJwksResponse) -> list[bytes]:
    """Returns the keys that the service publishes, each of 32 bytes. Keep a copy of them with your receipts."""
    return [_decode(key.x, "key") for key in jwks.keys if key.crv == "Ed25519"]


def verify_receipt(
    receipt: GetReceiptResponse, results: Iterable[bytes], public_keys: bytes | Iterable[bytes]
) -> Statement:
    """Returns the statement when one of the keys signed it, and the results are exactly the log that it describes.

    `results` are the stored bytes of each result, as `stored_results` of the client gives them. Raises RunnelError,
    INVALID_ARGUMENT, with the reason RECEIPT_INVALID, KEY_UNKNOWN, STATEMENT_CHANGED or LOG_CHANGED.
    """
    keys = [public_keys] if isinstance(public_keys, bytes) else list(public_keys)
    kid, payload = _verify_jws(receipt.jws, keys)
    statement = _read_statement(kid, payload)
    if receipt.statement and _parse(receipt.statement) != statement.members:
        raise invalid("STATEMENT_CHANGED", "the statement beside the signed one differs from it")
    _verify_log(statement, results)
    return statement


def _verify_jws(jws: str, keys: list[bytes]) -> tuple[str, bytes]:
    parts = jws.split(".")
    if len(parts) != 3:
        raise _bad("the receipt is not a compact JWS: it must have three parts separated by dots")
    header = _parse(_decode(parts[0], "header"))
    if header.get("typ") != _HEADER_TYPE or header.get("alg") != "EdDSA":
        raise _bad(f'the header must have typ "{_HEADER_TYPE}" and alg "EdDSA": this text is not a receipt')
    kid = str(header.get("kid"))
    signer = next((key for key in keys if _thumbprint(key) == kid), None)
    if signer is None:
        raise invalid("KEY_UNKNOWN", f"the key {kid} is none of the given ones")
    _verify_signature(signer, _decode(parts[2], "signature"), f"{parts[0]}.{parts[1]}".encode())
    return kid, _decode(parts[1], "statement")


def _verify_signature(key: bytes, signature: bytes, signed: bytes) -> None:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ModuleNotFoundError as error:
        raise ImportError("receipts need the package cryptography: pip install 'runnel-client[receipts]'") from error
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, signed)
    except (InvalidSignature, ValueError) as error:
        raise _bad("invalid signature: the receipt was changed, or not signed by the key that it names") from error


def _thumbprint(key: bytes) -> str:
    """RFC 7638."""
    x = _encode(key)
    return _encode(hashlib.sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}'.encode()).digest())


def _encode(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _decode(text: str, name: str) -> bytes:
    """Each text has exactly one form: no padding, and no unused bits in the last character."""
    try:
        content = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        content = b""
    if _encode(content) != text:
        raise _bad(f"the {name} is not base64url without padding (RFC 7515)")
    return content


def _parse(text: bytes | str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise _bad("the receipt has a part that is not JSON") from error
    if not isinstance(value, dict):
        raise _bad("the receipt has a part that is not a JSON object")
    return value


def _read_statement(kid: str, payload: bytes) -> Statement:
    members = _parse(payload)
    if members.get("type") != _STATEMENT_TYPE:
        raise _bad(f'the statement is not of type "{_STATEMENT_TYPE}": it has a newer version')
    try:
        return Statement(
            **{name: str(members[name]) for name in ("run_id", "first_hash", "last_hash", "status")},
            code=str(members.get("code", "")),
            entries=int(members["entries"]),
            counts={str(name): int(count) for name, count in members["counts"].items()},
            kid=kid,
            members=members,
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _bad("the statement lacks a member, or has an invalid one") from error


class _Chain:
    """B(0) = SHA-256(domain, run id); B(k+1) = SHA-256(B(k), frames of 64 entries); a frame is a varint length and the bytes."""

    def __init__(self, run_id: str) -> None:
        self._head = hashlib.sha256(b"runnel.run-log.v1\n" + run_id.lower().encode()).digest()
        self._block = hashlib.sha256(self._head)
        self.count = 0

    def add(self, entry: bytes) -> None:
        self._block.update(_varint(len(entry)) + entry)
        self.count += 1
        if self.count % _BLOCK_ENTRIES == 0:
            self._head = self._block.digest()
            self._block = hashlib.sha256(self._head)

    @property
    def value(self) -> bytes:
        return self._head if self.count % _BLOCK_ENTRIES == 0 else self._block.copy().digest()


def _varint(value: int) -> bytes:
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    digits.append(value)
    return bytes(digits)


def _verify_log(statement: Statement, results: Iterable[bytes]) -> None:
    chain = _Chain(statement.run_id)
    counts: dict[str, int] = {}
    last = b""
    marks = dict(_read_marks(statement))
    proved = 0
    for last in results:
        chain.add(last)
        counts[_type_of(last)] = counts.get(_type_of(last), 0) + 1
        if chain.count in marks:
            if marks[chain.count] != chain.value[:_MARK_BYTES]:
                raise _changed(f"an entry from {proved + 1} to {chain.count} is missing, changed or not in its place")
            proved = chain.count
    if chain.count != statement.entries:
        raise _changed(f"the log has {chain.count} entries, and the statement says {statement.entries}")
    if chain.value.hex() != statement.last_hash:
        raise _changed("the log as a whole differs from the signed one")
    if counts != statement.counts:
        raise _changed("the statement's counts of types differ from the log")
    if not _ends_as_stated(statement, last):
        raise _changed("the statement says another end than the log")


def _read_marks(statement: Statement) -> Iterator[tuple[int, bytes]]:
    """The first bytes of the chain's value, by the number of the entry: they show which entry is the first bad one."""
    try:
        marks = base64.b64decode(statement.members.get("marks", ""), validate=True)
        interval = int(statement.members.get("mark_interval", 1))
    except (TypeError, ValueError) as error:
        raise _bad("the statement's marks are invalid") from error
    for index in range(len(marks) // _MARK_BYTES):
        entry = min((index + 1) * interval, statement.entries)
        yield entry, marks[index * _MARK_BYTES : (index + 1) * _MARK_BYTES]


def _type_of(entry: bytes) -> str:
    result = _read_entry(entry)
    return "unknown" if result is None else result_type(result)


def _ends_as_stated(statement: Statement, entry: bytes) -> bool:
    result = _read_entry(entry)
    if result is None:
        return False
    if result.HasField("run_completed"):
        return (statement.status, statement.code) == ("completed", result.run_completed.finish_reason)
    # A runner may report `cancelled` without a request to cancel. Its run has then failed.
    ends = ("failed", "cancelled") if result.run_failed.code == "cancelled" else ("failed",)
    return result.HasField("run_failed") and statement.status in ends and statement.code == result.run_failed.code


def _read_entry(entry: bytes) -> RunResult | None:
    try:
        return RunResult.FromString(entry)
    except DecodeError:
        return None


def _changed(message: str) -> RunnelError:
    return invalid("LOG_CHANGED", message)


def _bad(message: str) -> RunnelError:
    return invalid("RECEIPT_INVALID", message)
