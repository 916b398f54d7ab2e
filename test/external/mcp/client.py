"""Lists and calls the tool `default` with the official client: `client.py <url> <key> <mode>`. Prints one JSON object."""

import asyncio
import json
import sys

from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

url, key, mode = sys.argv[1:]


async def main() -> None:
    seen: list[float] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen.append(done)

    http = create_mcp_http_client(headers={"authorization": f"Bearer {key}"})
    async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        tools = await client.list_tools()
        question = {"message": "The capital of France?"}
        result = await client.call_tool("default", question, progress_callback=progress)
        print(
            json.dumps(
                {
                    "version": client.protocol_version,
                    "tools": [tool.name for tool in tools.tools],
                    "content": [item.model_dump(exclude_none=True) for item in result.content],
                    "state": (result.structured_content or {}).get("state"),
                    "progress": seen,
                }
            )
        )


asyncio.run(main())
