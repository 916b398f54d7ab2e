"""Signs JobSpecs by the signing contract, with the package `cryptography`. Reads one {"seed", "spec"} a line on standard input,
the seed in base64 and the spec as text; writes one signed spec a line to standard output."""

import base64
import json
import re
import sys
from decimal import Decimal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

EXCLUDED = ("id", "created_at", "signature", "public_key")


def main() -> None:
    for line in sys.stdin.buffer:
        order = json.loads(line)
        signed = sign(read(order["spec"]), base64.b64decode(order["seed"]))
        sys.stdout.buffer.write(write(signed).encode() + b"\n")


def read(text: str) -> dict:
    # Every number is a float64; as an integer of Python, -0 would lose its sign and 2^53 + 1 would keep its last digit.
    return json.loads(text, parse_int=float)


def sign(spec: dict, seed: bytes) -> dict:
    private = Ed25519PrivateKey.from_private_bytes(seed)
    signature = private.sign(write(signable(spec)).encode())
    public = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return {
        **spec,
        "public_key": base64.b64encode(public).decode(),
        "signature": base64.b64encode(signature).decode(),
    }


def signable(spec: dict) -> dict:
    kept = prune({name: value for name, value in spec.items() if name not in EXCLUDED})
    constraints = kept.get("constraints")
    if isinstance(constraints, dict):
        rate = constraints.get("min_success_rate")
        if isinstance(rate, float) and rate == 0:
            del constraints["min_success_rate"]
    return kept


def prune(spec: dict) -> dict:
    """Without nulls and empty objects. Arrays are unchanged."""
    kept = {name: prune(value) if isinstance(value, dict) else value for name, value in spec.items()}
    return {name: value for name, value in kept.items() if value is not None and value != {}}


def write(value: object) -> str:
    if isinstance(value, dict):
        # Python compares texts by code points, as UTF-8 does.
        return "{" + ",".join(f"{write_text(name)}:{write(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(write(item) for item in value) + "]"
    if isinstance(value, str):
        return write_text(value)
    if isinstance(value, float):
        return write_number(value)
    return {None: "null", True: "true", False: "false"}[value]


def write_text(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", quoted)


def write_number(number: float) -> str:
    """The shortest digits that read the same, as Python prints them; plain from 1e-6 to 1e21, unlike Python."""
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + exponent
    if number == 0:
        plain = "0"
    elif not -6 < point <= 21:
        fraction = f".{text[1:]}" if len(text) > 1 else ""
        plain = f"{text[0]}{fraction}e{point - 1:+d}"
    elif point <= 0:
        plain = "0." + "0" * -point + text
    elif point >= len(text):
        plain = text + "0" * (point - len(text))
    else:
        plain = f"{text[:point]}.{text[point:]}"
    return ("-" if sign else "") + plain


main()
