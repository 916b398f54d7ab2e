"""JSON as text, the way it travels: integers of any size and the difference of 1 and 1.0 are kept."""

import json
from typing import Any


def print_json(value: Any) -> str:
    """What no JSON can hold (NaN, half a character) is passed on: the host refuses it, and says where."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_print_unknown)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), default=_print_unknown)
    return text


def _print_unknown(value: Any) -> Any:
    """Models of an SDK may be anywhere in what its runners hand over."""
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise TypeError(f"{type(value).__name__} is no JSON")
    return dump(mode="json")


def read_json(text: str, absent: Any = None) -> Any:
    return absent if text == "" else json.loads(text)
