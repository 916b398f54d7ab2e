"""The messages and services of the contract that the adapter uses, made from the descriptors in contract.binpb.

`npm run generate` writes that file. The descriptors live in a pool of their own, so a plugin may bring protos with the same names.
"""

from pathlib import Path
from types import SimpleNamespace

import grpc
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message_factory import GetMessageClass

_FILES = FileDescriptorSet.FromString((Path(__file__).parent / "contract.binpb").read_bytes()).file
_POOL = DescriptorPool()
for _file in _FILES:
    _POOL.AddSerializedFile(_file.SerializeToString())


def _read_package(package: str) -> SimpleNamespace:
    """Its messages, its enums and the values of its enums, by name."""
    members = SimpleNamespace()
    for file in (_POOL.FindFileByName(each.name) for each in _FILES if each.package == package):
        for message in file.message_types_by_name.values():
            setattr(members, message.name, GetMessageClass(message))
        for enum in file.enum_types_by_name.values():
            setattr(members, enum.name, EnumTypeWrapper(enum))
            vars(members).update({name: value.number for name, value in enum.values_by_name.items()})
    return members


runnel = _read_package("runnel.v1")
runner = _read_package("runnel.runner.v1")
host = _read_package("runnel.host.v1")
Status = _read_package("google.rpc").Status


host_services = [
    f"{file.package}.{service.name}" for file in _FILES if file.package == "runnel.host.v1" for service in file.service
]


class Stub:
    """A client of services that share no method name, with a method for each RPC."""

    def __init__(self, channel: grpc.aio.Channel, *services: str) -> None:
        for service in services:
            for method in _POOL.FindServiceByName(service).methods:
                open_method = channel.unary_stream if method.server_streaming else channel.unary_unary
                call = open_method(
                    f"/{service}/{method.name}",
                    request_serializer=GetMessageClass(method.input_type).SerializeToString,
                    response_deserializer=GetMessageClass(method.output_type).FromString,
                )
                setattr(self, method.name, call)


_FIELD_OPTIONS = GetMessageClass(_POOL.FindMessageTypeByName("google.protobuf.FieldOptions"))
_JSON = _POOL.FindExtensionByName("runnel.options.v1.json")


def holds_json(field: FieldDescriptor) -> bool:
    """Whether the field holds the text of a JSON value."""
    # GetOptions knows the extensions of the default pool alone.
    options = _FIELD_OPTIONS.FromString(field.GetOptions().SerializeToString())
    return bool(options.Extensions[_JSON].raw)
