"""What runners ask of their host: each action by its name on the SDK's wire, with the keys that it has there."""

from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from runnel_client import host_v1 as m
from runnel_client.worker import print_json, read_json

from .host import Action
from .messages import run_to_dict, to_dict, usage_to_dict

Data = dict[str, Any]

# Storage and artifacts travel in pieces of at most so many bytes.
PIECE_BYTES = 1_048_576
# A value that somebody writes while it is read begins again.
READS_MAX = 5


async def invoke_llm(action: Action, data: Data) -> Data:
    answer = await action.ask("invoke_model", m.InvokeModelRequest(**_asked(data), **_extra(data)))
    return {"message": read_json(answer.message), "usage": usage_to_dict(answer.usage) or None}


async def invoke_llm_stream(action: Action, data: Data) -> AsyncGenerator[Data, None]:
    async for answer in action.follow(
        "invoke_model_stream", m.InvokeModelStreamRequest(**_asked(data), **_extra(data))
    ):
        if answer.HasField("chunk"):
            yield {"chunk": read_json(answer.chunk)}
        elif used := usage_to_dict(answer.usage):
            yield {"usage": used}


async def count_tokens(action: Action, data: Data) -> Data:
    return {"tokens": (await action.ask("count_tokens", m.CountTokensRequest(**_asked(data)))).tokens}


def _asked(data: Data) -> Data:
    return {
        "model_id": data["llm_model_uuid"],
        "messages": [print_json(message) for message in data["messages"]],
        "functions": [
            print_json({name: function[name] for name in ("name", "description", "parameters")})
            for function in data.get("funcs") or ()
        ],
    }


def _extra(data: Data) -> Data:
    return {"extra_args": print_json(data["extra_args"])} if data.get("extra_args") else {}


async def invoke_rerank(action: Action, data: Data) -> Data:
    request = m.RerankRequest(
        model_id=data["rerank_model_uuid"],
        query=data["query"],
        documents=data["documents"],
        top_k=data.get("top_k") or 0,
    )
    return {"results": [to_dict(each) for each in (await action.ask("rerank", request)).results]}


async def get_tool_detail(action: Action, data: Data) -> Data:
    return {"tool": read_json((await action.ask("get_tool", m.GetToolRequest(tool_name=data["tool_name"]))).tool)}


async def call_tool(action: Action, data: Data) -> Data:
    request = m.CallToolRequest(tool_name=data["tool_name"], parameters=print_json(data.get("parameters") or {}))
    return {"result": read_json((await action.ask("call_tool", request)).result)}


async def retrieve_knowledge_base(action: Action, data: Data) -> Data:
    request = m.RetrieveKnowledgeRequest(
        kb_id=data["kb_id"], query_text=data["query_text"], top_k=data.get("top_k") or 0, filters=_filters(data)
    )
    return {"results": [read_json(each) for each in (await action.ask("retrieve_knowledge", request)).results]}


def _filters(data: Data) -> str | None:
    return print_json(data["filters"]) if data.get("filters") else None


async def history_page(action: Action, data: Data) -> Data:
    request = m.PageHistoryRequest(
        conversation_id=data.get("conversation_id"),
        before_cursor=data.get("before_cursor"),
        after_cursor=data.get("after_cursor"),
        limit=data.get("limit") or 0,
        direction=data.get("direction") or "",
        include_artifacts=bool(data.get("include_artifacts") or data.get("include_attachments")),
        roles=data.get("roles") or (),
        item_types=data.get("item_types") or (),
    )
    return _name_refs(action, to_dict(await action.ask("page_history", request)))


async def history_search(action: Action, data: Data) -> Data:
    request = m.SearchHistoryRequest(query=data["query"], filters=_filters(data), top_k=data.get("top_k") or 0)
    return _name_refs(action, to_dict(await action.ask("search_history", request)))


def _name_refs(action: Action, page: Data) -> Data:
    """In 4.11 they are called by another name."""
    if action.host.sdk.era == "4.11":
        for item in page["items"]:
            item["attachment_refs"] = item.pop("artifact_refs")
    return page


async def event_get(action: Action, data: Data) -> Data:
    return to_dict((await action.ask("get_event", m.GetEventRequest(event_id=data["event_id"]))).record)


async def event_page(action: Action, data: Data) -> Data:
    request = m.PageEventsRequest(
        conversation_id=data.get("conversation_id"),
        event_types=data.get("event_types") or (),
        before_cursor=data.get("before_cursor"),
        limit=data.get("limit") or 0,
    )
    page = to_dict(await action.ask("page_events", request))
    return {**page, "prev_cursor": None, "total_count": None}


async def artifact_metadata(action: Action, data: Data) -> Data:
    return to_dict((await action.ask("get_artifact", m.GetArtifactRequest(artifact_id=data["artifact_id"]))).artifact)


async def artifact_read(action: Action, data: Data) -> Data:
    request = m.ReadArtifactRequest(
        artifact_id=data["artifact_id"], offset=data.get("offset") or 0, limit=data.get("limit")
    )
    first, *more = await action.collect("read_artifact", request)
    last = more[-1] if more else first
    content = b"".join(piece.content for piece in (first, *more))
    return {
        "artifact_id": first.artifact_id,
        "mime_type": first.mime_type if first.HasField("mime_type") else None,
        "size_bytes": first.size_bytes,
        "offset": first.offset,
        "length": len(content),
        "content_base64": b64encode(content).decode(),
        "file_key": None,
        "has_more": last.has_more,
    }


async def state_get(action: Action, data: Data) -> Data:
    answer = await action.ask("get_state", m.GetStateRequest(scope=data["scope"], key=data["key"]))
    return {"value": read_json(answer.value), "found": answer.found}


async def state_set(action: Action, data: Data) -> Data:
    request = m.SetStateRequest(scope=data["scope"], key=data["key"], value=print_json(data["value"]))
    await action.ask("set_state", request)
    return {"success": True}


async def state_delete(action: Action, data: Data) -> Data:
    answer = await action.ask("delete_state", m.DeleteStateRequest(scope=data["scope"], key=data["key"]))
    return {"success": answer.deleted}


async def state_list(action: Action, data: Data) -> Data:
    request = m.ListStateRequest(scope=data["scope"], prefix=data.get("prefix") or "", limit=data.get("limit") or 0)
    answer = await action.ask("list_state", request)
    return {"keys": list(answer.keys), "has_more": answer.has_more}


Perform = Callable[[Action, Data], Awaitable[Data]]


def get_storage(area: m.StorageArea) -> Perform:
    async def perform(action: Action, data: Data) -> Data:
        for _ in range(READS_MAX):
            content = await _read_whole(action, area, data["key"])
            if content is not None:
                return {"value_base64": b64encode(content).decode()}
        raise ValueError(f"{data['key']} is written all the time")

    return perform


async def _read_whole(action: Action, area: m.StorageArea, key: str) -> bytes | None:
    """None when the value became another one meanwhile."""
    content = b""
    size: int | None = None
    while True:
        request = m.ReadStorageRequest(area=area, key=key, offset=len(content), limit=PIECE_BYTES)
        piece: m.ReadStorageResponse = await action.ask("read_storage", request)
        if not piece.found:
            raise LookupError(f"nothing is stored as {key}")
        if size not in (None, piece.size_bytes):
            return None
        size = piece.size_bytes
        content += piece.content
        if not piece.has_more:
            return content


def set_storage(area: m.StorageArea) -> Perform:
    async def perform(action: Action, data: Data) -> Data:
        content = b64decode(data["value_base64"], validate=True)
        # Nothing is a value too: one empty piece.
        for offset in range(0, max(len(content), 1), PIECE_BYTES):
            end = offset + PIECE_BYTES
            request = m.WriteStorageRequest(
                area=area, key=data["key"], offset=offset, content=content[offset:end], finish=end >= len(content)
            )
            await action.ask("write_storage", request)
        return {"success": True}

    return perform


def delete_storage(area: m.StorageArea) -> Perform:
    async def perform(action: Action, data: Data) -> Data:
        answer = await action.ask("delete_storage", m.DeleteStorageRequest(area=area, key=data["key"]))
        return {"success": answer.deleted}

    return perform


def list_storage(area: m.StorageArea) -> Perform:
    async def perform(action: Action, _data: Data) -> Data:
        return {"keys": list((await action.ask("list_storage", m.ListStorageRequest(area=area))).keys)}

    return perform


async def get_config_file(action: Action, data: Data) -> Data:
    answer = await action.ask("read_file", m.ReadFileRequest(file_key=data["file_key"]))
    return {"file_base64": b64encode(answer.content).decode()}


async def run_get(action: Action, data: Data) -> Data:
    """Another run than its own is the host's to refuse."""
    answer = await action.ask("get_run", m.GetRunRequest(run_id=data.get("target_run_id") or ""))
    return run_to_dict(answer.run, action.host.context)


async def get_langbot_version(action: Action, _data: Data) -> Data:
    return {"version": (await action.ask("get_version", m.GetVersionRequest())).version}


ACTIONS: dict[str, Perform] = {
    "invoke_llm": invoke_llm,
    "count_tokens": count_tokens,
    "invoke_rerank": invoke_rerank,
    "get_tool_detail": get_tool_detail,
    "call_tool": call_tool,
    "retrieve_knowledge_base": retrieve_knowledge_base,
    "history_page": history_page,
    "history_search": history_search,
    "event_get": event_get,
    "event_page": event_page,
    "artifact_metadata": artifact_metadata,
    "artifact_read": artifact_read,
    "state_get": state_get,
    "state_set": state_set,
    "state_delete": state_delete,
    "state_list": state_list,
    "get_plugin_storage": get_storage(m.STORAGE_AREA_PLUGIN),
    "set_plugin_storage": set_storage(m.STORAGE_AREA_PLUGIN),
    "delete_plugin_storage": delete_storage(m.STORAGE_AREA_PLUGIN),
    "get_plugin_storage_keys": list_storage(m.STORAGE_AREA_PLUGIN),
    "get_workspace_storage": get_storage(m.STORAGE_AREA_WORKSPACE),
    "set_workspace_storage": set_storage(m.STORAGE_AREA_WORKSPACE),
    "delete_workspace_storage": delete_storage(m.STORAGE_AREA_WORKSPACE),
    "get_workspace_storage_keys": list_storage(m.STORAGE_AREA_WORKSPACE),
    "get_config_file": get_config_file,
    "run_get": run_get,
    "get_langbot_version": get_langbot_version,
}
# Beside these the host grants nothing: `get_prompt`, `steering_pull` and what would change other runs are refused.

STREAMS: dict[str, Callable[[Action, Data], AsyncGenerator[Data, None]]] = {"invoke_llm_stream": invoke_llm_stream}
