"""Failures of calls to the host, as the SDK's own handler raises them."""

from typing import Any

import grpc

from .contract import Status
from .contract import host as host_messages
from .json_text import read_json
from .sdk import Sdk

STATUS_KEY = "grpc-status-details-bin"


def to_sdk_error(sdk: Sdk, error: grpc.aio.AioRpcError) -> Exception:
    message = error.details() or error.code().name
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return sdk.timeout_error(message)
    if error.code() is grpc.StatusCode.UNAVAILABLE:
        return sdk.connection_error(message)
    return refuse(sdk, **(_read_api_error(error) or {"code": "runtime_error", "message": message}))


def refuse(
    sdk: Sdk, *, code: str, message: str, retryable: bool = False, details: dict[str, Any] | None = None
) -> Exception:
    """A failure with an AgentAPIError of the protocol's section 9."""
    error = {"code": code, "message": message, "retryable": retryable, "details": details or {}}
    return sdk.call_error(message, {"error": error})


def _read_api_error(error: grpc.aio.AioRpcError) -> dict[str, Any] | None:
    for key, value in error.trailing_metadata() or ():
        if key == STATUS_KEY:
            for detail in Status.FromString(value).details:
                told = host_messages.ApiError()
                if detail.Unpack(told):
                    return {
                        "code": told.code,
                        "message": told.message,
                        "retryable": told.retryable,
                        "details": read_json(told.details, absent={}),
                    }
    return None
