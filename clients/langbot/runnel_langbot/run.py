"""One run of one runner of the SDK: its results as the protocol has them."""

from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any

from runnel_client.worker import Assignment, Result, read_json
from runnel_client.worker.run import perform

from .handler import Handler
from .host import Host
from .sdk import Sdk


async def perform_with(runner: Any, handler: Handler, sdk: Sdk, assignment: Assignment) -> None:
    context = read_json(assignment.accepted.context_json)
    host = Host(sdk=sdk, calls=assignment.host, run_id=assignment.run_id, context=context)
    deadline = (context.get("runtime") or {}).get("deadline_at")
    await perform(_results_of(runner, handler, host), assignment.reporter, assignment.stop, deadline)


async def _results_of(runner: Any, handler: Handler, host: Host) -> AsyncGenerator[Result, None]:
    with handler.serving(host):
        results = getattr(runner, host.sdk.run_method)(host.sdk.read_context(host.context))
        try:
            async for result in results:
                yield _read(result)
        finally:
            with suppress(Exception):
                await results.aclose()


def _read(result: Any) -> Result:
    dumped = result.model_dump(mode="json")
    data = dumped["data"]
    if data.get("file_ids") == []:
        # Newer SDKs say with every message that no file belongs to it; the protocol does not have the word.
        del data["file_ids"]
    return Result(dumped["type"], data, dumped.get("usage"), run_id=dumped.get("run_id") or "")
