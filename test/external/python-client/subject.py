"""The subject of the conformance kit for clients (test/clients/README.md). With `--aio` it uses the asynchronous client."""

import asyncio
import json
import sys
from base64 import b64decode
from typing import Any

import runnel_client
from runnel_client import ApiKey, Credentials, Function, RunnelError, Signature, Ticket, aio, result_type, v1

Request = dict[str, Any]


def say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


def main() -> None:
    request = json.loads(sys.stdin.readline())
    try:
        if request["call"] == "callback":
            check_callback(request)
        elif request["call"] == "receipt":
            check_receipt(request)
        elif "--aio" in sys.argv:
            asyncio.run(perform_async(request))
        else:
            perform(request)
    except RunnelError as error:
        say(
            error={
                "code": error.code.name,
                "reason": error.reason,
                "metadata": dict(error.metadata),
                "message": error.message,
                "violations": [{"field": each.field, "description": each.description} for each in error.violations],
            }
        )
    except asyncio.CancelledError:
        say(error={"code": "CANCELLED"})


def perform(request: Request) -> None:
    with runnel_client.connect(request["url"], read_credentials(request), **options_of(request)) as runnel:
        timeout = timeout_of(request)
        if request["call"] == "send":
            sent = runnel.send(
                request["session_id"], request["message"], request_id=request.get("request_id") or "", timeout=timeout
            )
            say(run={"run_id": sent.run_id})
            return
        if request["call"] == "follow":
            following = runnel.follow(request["run_id"], int(request.get("after") or 0), timeout=timeout)
        else:
            following = runnel.ask(request["session_id"], request["message"], [ADD], timeout=timeout)
        cancel_after = request.get("cancel_after")
        if cancel_after == 0:
            following.cancel()
        with following:
            for count, result in enumerate(following, start=1):
                say_result(result)
                if count == cancel_after:
                    following.cancel()
            say_end(following.wait())


async def perform_async(request: Request) -> None:
    async with aio.connect(request["url"], read_credentials(request), **options_of(request)) as runnel:
        timeout = timeout_of(request)
        if request["call"] == "send":
            sent = await runnel.send(
                request["session_id"], request["message"], request_id=request.get("request_id") or "", timeout=timeout
            )
            say(run={"run_id": sent.run_id})
            return
        if request["call"] == "follow":
            following = runnel.follow(request["run_id"], int(request.get("after") or 0), timeout=timeout)
        else:
            following = runnel.ask(request["session_id"], request["message"], [ADD], timeout=timeout)
        cancel_after = request.get("cancel_after")
        task = asyncio.current_task()
        assert task is not None
        if cancel_after == 0:
            task.cancel()
        async with following:
            count = 0
            async for result in following:
                count += 1
                say_result(result)
                if count == cancel_after:
                    task.cancel()
            say_end(await following.wait())


def add(a: int, b: int) -> int:
    return a + b


INTEGER = {"type": "integer"}
ADD = Function(
    "add",
    add,
    description="Adds two integers.",
    parameters={"type": "object", "properties": {"a": INTEGER, "b": INTEGER}, "required": ["a", "b"]},
)


def say_result(result: v1.RunResult) -> None:
    say(result={"sequence": result.sequence, "type": result_type(result)})


def say_end(end: runnel_client.End) -> None:
    say(end={"state": end.state, "text": end.text, "output": end.output})


def read_credentials(request: Request) -> Credentials | None:
    given = request.get("credentials") or {}
    if "api_key" in given:
        return ApiKey(given["api_key"])
    if "ticket" in given:
        return Ticket(given["ticket"])
    return Signature(given["client_id"], given["secret"]) if "secret" in given else None


def options_of(request: Request) -> dict[str, Any]:
    idle_ms = request.get("idle_timeout_ms")
    return {} if idle_ms is None else {"idle_timeout": idle_ms / 1000}


def timeout_of(request: Request) -> float | None:
    timeout_ms = request.get("timeout_ms")
    return None if timeout_ms is None else timeout_ms / 1000


def check_callback(request: Request) -> None:
    now_ms = request.get("now_ms")
    runnel_client.verify_callback(
        request["secret"],
        request["headers"],
        b64decode(request["body"]),
        now=None if now_ms is None else now_ms / 1000,
    )
    say(valid=True)


def check_receipt(request: Request) -> None:
    runnel_client.verify_receipt(
        v1.GetReceiptResponse.FromString(b64decode(request["receipt"])),
        [b64decode(each) for each in request["results"]],
        b64decode(request["public_key"]),
    )
    say(valid=True)


if __name__ == "__main__":
    main()
