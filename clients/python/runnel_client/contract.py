"""The messages and services of the contract, made from the descriptors in contract.binpb.

`npm run generate` writes that file, and a module with types for each package. The descriptors live in a pool of their own, so a
program may have its own protos with the same names.
"""

import re
from collections.abc import MutableMapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet, MethodOptions
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from .service import AsyncService, Method, Service, make_service

_FILES = FileDescriptorSet.FromString((Path(__file__).parent / "contract.binpb").read_bytes()).file
_POOL = DescriptorPool()
for _file in _FILES:
    _POOL.AddSerializedFile(_file.SerializeToString())
_FIELD_OPTIONS = GetMessageClass(_POOL.FindMessageTypeByName("google.protobuf.FieldOptions"))
_JSON = _POOL.FindExtensionByName("runnel.options.v1.json")
_RESULT = _POOL.FindExtensionByName("runnel.options.v1.result")
_REPEATABLE = (MethodOptions.NO_SIDE_EFFECTS, MethodOptions.IDEMPOTENT)


def export(package: str, members: MutableMapping[str, Any]) -> None:
    """Adds the messages, enums, values of enums and services of a package to a module."""
    for file in (_POOL.FindFileByName(each.name) for each in _FILES if each.package == package):
        for message in file.message_types_by_name.values():
            members[message.name] = _adopt(GetMessageClass(message), members["__name__"])
        for enum in file.enum_types_by_name.values():
            members[enum.name] = EnumTypeWrapper(enum)
            members.update({name: value.number for name, value in enum.values_by_name.items()})
        for service in file.services_by_name.values():
            methods = {_snake_case(each.name): _read_method(each) for each in service.methods}
            members[service.name] = make_service(Service, service.name, methods)
            members[f"Async{service.name}"] = make_service(AsyncService, f"Async{service.name}", methods)
    members["__all__"] = [name for name in members if not name.startswith("_") and name != "export"]


def find_method(service: str, name: str) -> Method:
    """Returns one RPC, such as `TailRun` of `runnel.v1.RunService`."""
    return _read_method(_POOL.FindServiceByName(service).methods_by_name[name])


def _adopt(message: type[Message], module: str) -> type[Message]:
    """Tracebacks and documentation then show where to import it from."""
    message.__module__ = module
    return message


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _read_method(method: MethodDescriptor) -> Method:
    options = MethodOptions.FromString(method.GetOptions().SerializeToString())
    return Method(
        path=f"/{method.containing_service.full_name}/{method.name}",
        read=GetMessageClass(method.output_type).FromString,
        is_stream=method.server_streaming,
        is_repeatable=options.idempotency_level in _REPEATABLE,
        has_request_id="request_id" in method.input_type.fields_by_name,
    )


@dataclass(frozen=True)
class _Options:
    holds_json: bool
    result_type: str


@cache
def _options_of(field: Any) -> _Options:
    # GetOptions knows the extensions of the default pool alone.
    options: Any = _FIELD_OPTIONS.FromString(field.GetOptions().SerializeToString())
    return _Options(options.Extensions[_JSON].raw, options.Extensions[_RESULT].name)


def holds_json(field: Any) -> bool:
    """Returns whether the field holds the text of a JSON value."""
    return _options_of(field).holds_json


def result_type_of(field: Any) -> str:
    """Returns the dotted type of a payload of RunResult, such as `message.delta`."""
    return _options_of(field).result_type
