"""What runners of the SDK call their host through: the two methods of its Handler that they use, over gRPC.

A runner is made once and has one handler, as in its own host. Which run a call belongs to is said by its `run_id`, or, where an
action has none, by the task that calls.
"""

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from runnel_client import RunnelError

from .actions import ACTIONS, STREAMS
from .errors import refuse, to_sdk_error
from .host import Action, Host
from .sdk import Sdk

_current: ContextVar[str] = ContextVar("run_id", default="")


class Handler:
    def __init__(self, sdk: Sdk) -> None:
        self._sdk = sdk
        self._hosts: dict[str, Host] = {}

    @contextmanager
    def serving(self, host: Host) -> Iterator[None]:
        """The run may be called for, here and in the tasks that begin here."""
        self._hosts[host.run_id] = host
        _current.set(host.run_id)
        try:
            yield
        finally:
            del self._hosts[host.run_id]

    async def call_action(
        self, action: Any, data: dict[str, Any], timeout: float = 15.0, **_more: Any
    ) -> dict[str, Any]:
        host = self._find_host(data)
        perform = ACTIONS.get(action.value)
        if perform is None:
            raise self._not_offered(action.value)
        try:
            return await perform(Action(host, timeout), data)
        except Exception as error:
            raise self._translate(action.value, error) from error

    async def call_action_generator(
        self, action: Any, data: dict[str, Any], timeout: float = 15.0, **_more: Any
    ) -> AsyncGenerator[dict[str, Any], None]:
        host = self._find_host(data)
        perform = STREAMS.get(action.value)
        if perform is None:
            raise self._not_offered(action.value)
        answers = perform(Action(host, timeout), data)
        try:
            async for answer in answers:
                yield answer
        except Exception as error:
            raise self._translate(action.value, error) from error
        finally:
            await answers.aclose()

    def _find_host(self, data: dict[str, Any]) -> Host:
        host = self._hosts.get(data.get("run_id") or _current.get())
        if host is None:
            raise refuse(self._sdk, code="unauthorized", message="run is not active")
        return host

    def _not_offered(self, name: str) -> Exception:
        return refuse(self._sdk, code="unauthorized", message=f"this host offers no {name}")

    def _translate(self, name: str, error: Exception) -> Exception:
        if isinstance(error, RunnelError):
            return to_sdk_error(self._sdk, error)
        if isinstance(error, TimeoutError):
            return self._sdk.timeout_error(f"{name}: no answer in time")
        if isinstance(error, KeyError):
            return refuse(self._sdk, code="invalid_argument", message=f"{name} needs {error.args[0]}")
        if isinstance(error, LookupError):
            return refuse(self._sdk, code="not_found", message=str(error))
        if isinstance(error, (TypeError, ValueError)):
            return refuse(self._sdk, code="invalid_argument", message=f"{name}: {error}")
        return error
