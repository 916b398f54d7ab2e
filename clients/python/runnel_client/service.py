"""Clients of the services: a method for each RPC, in snake case. The types are in the stubs of each package."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from google.protobuf.message import Message


@dataclass(frozen=True)
class Method:
    """One RPC. The same call again has no further effect if it is repeatable, or has a request id."""

    path: str
    read: Callable[[bytes], Any]
    is_stream: bool
    is_repeatable: bool
    has_request_id: bool


class Transport(Protocol):
    """Makes calls, and waits for them."""

    def call(self, method: Method, request: Message, timeout: float | None) -> Any: ...

    def stream(self, method: Method, request: Message, timeout: float | None) -> Iterator[Any]: ...


class AsyncTransport(Protocol):
    """Makes calls in an event loop."""

    async def call(self, method: Method, request: Message, timeout: float | None) -> Any: ...

    def stream(self, method: Method, request: Message, timeout: float | None) -> AsyncIterator[Any]: ...


class Service:
    """The calls of one service. Each raises RunnelError."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport


class AsyncService:
    """The calls of one service, as coroutines and asynchronous iterators. Each raises RunnelError."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport


S = TypeVar("S", Service, AsyncService)


def make_service(base: type[S], name: str, methods: Mapping[str, Method]) -> type[S]:
    return type(name, (base,), {each: _make_call(each, method) for each, method in methods.items()})


def _make_call(name: str, method: Method) -> Callable[..., Any]:
    def call(self: Service | AsyncService, request: Message, *, timeout: float | None = None) -> Any:
        perform = self._transport.stream if method.is_stream else self._transport.call
        return perform(method, request, timeout)

    call.__name__ = name
    call.__doc__ = f"Calls {method.path}."
    return call
