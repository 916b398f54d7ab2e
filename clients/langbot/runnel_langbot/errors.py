"""Failures of calls to the host, as the SDK's own handler raises them."""

from typing import Any

import grpc
from runnel_client import RunnelError
from runnel_client.host_v1 import ApiError
from runnel_client.worker import read_json

from .sdk import Sdk


def to_sdk_error(sdk: Sdk, error: RunnelError) -> Exception:
    if error.code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return sdk.timeout_error(error.message)
    if error.code is grpc.StatusCode.UNAVAILABLE:
        return sdk.connection_error(error.message)
    detail = error.detail(ApiError)
    if detail is None:
        return refuse(sdk, code="runtime_error", message=error.message)
    return refuse(
        sdk,
        code=detail.code,
        message=detail.message,
        retryable=detail.retryable,
        details=read_json(detail.details, absent={}),
    )


def refuse(
    sdk: Sdk, *, code: str, message: str, retryable: bool = False, details: dict[str, Any] | None = None
) -> Exception:
    """A failure with an AgentAPIError of the protocol's section 9."""
    error = {"code": code, "message": message, "retryable": retryable, "details": details or {}}
    return sdk.call_error(message, {"error": error})
