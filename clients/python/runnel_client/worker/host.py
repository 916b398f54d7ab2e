"""The host API of one run: models, tools, history, state and more, as far as the run's context grants it."""

from collections.abc import AsyncIterator
from typing import Any

import grpc
from google.protobuf.message import Message

from .. import host_v1
from ..aio_transport import AioTransport
from ..credentials import ApiKey, Credentials
from ..errors import from_grpc
from ..service import Method


class OnceTransport:
    """Makes each call once: workers and runners decide themselves whether to repeat one."""

    def __init__(self, transport: AioTransport, credentials: Credentials | None) -> None:
        self._transport = transport
        self._credentials = credentials

    async def call(self, method: Method, request: Message, timeout: float | None) -> Any:
        try:
            return await self._transport.call_once(method, self._name(request), timeout, self._credentials)
        except grpc.RpcError as error:
            raise from_grpc(error) from error

    async def stream(self, method: Method, request: Message, timeout: float | None) -> AsyncIterator[Any]:
        call = self._transport.open(method, self._name(request), timeout, self._credentials)
        try:
            while (answer := await call.read()) is not grpc.aio.EOF:
                yield answer
        except grpc.RpcError as error:
            raise from_grpc(error) from error
        finally:
            call.cancel()

    def _name(self, request: Message) -> Message:
        return request


class RunTransport(OnceTransport):
    """Carries the token of the run, and names the run in each request that names none."""

    def __init__(self, transport: AioTransport, run_id: str, token: str) -> None:
        super().__init__(transport, ApiKey(token))
        self._run_id = run_id

    def _name(self, request: Message) -> Message:
        # Every request of the host's services has the field.
        if request.run_id != "":  # type: ignore[attr-defined]
            return request
        named = type(request)()
        named.CopyFrom(request)
        named.run_id = self._run_id  # type: ignore[attr-defined]
        return named


class Host(
    host_v1.AsyncHostArtifactService,
    host_v1.AsyncHostHistoryService,
    host_v1.AsyncHostKnowledgeService,
    host_v1.AsyncHostModelService,
    host_v1.AsyncHostRunService,
    host_v1.AsyncHostStorageService,
    host_v1.AsyncHostToolService,
):
    """The calls of all services of the host API. Each is one attempt and raises RunnelError.

    `error.detail(runnel_client.host_v1.ApiError)` has the protocol's code, such as `unauthorized`, and whether the same call may
    succeed later.
    """
