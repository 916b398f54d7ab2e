"""Cases for the Python adapter alone: each case reports what it saw in one message."""

import asyncio
import base64
from enum import Enum

from langbot_plugin.api.entities.builtin.agent_runner import AgentRun, AgentRunResult
from langbot_plugin.entities.io.errors import ActionCallError, ActionCallTimeoutError


class Action(Enum):
    """The actions that are called by name."""

    STATE_GET = "state_get"
    STATE_SET = "state_set"
    STATE_DELETE = "state_delete"
    STATE_LIST = "state_list"
    SET_PLUGIN_STORAGE = "set_plugin_storage"
    GET_PLUGIN_STORAGE = "get_plugin_storage"
    GET_PLUGIN_STORAGE_KEYS = "get_plugin_storage_keys"
    DELETE_PLUGIN_STORAGE = "delete_plugin_storage"
    ARTIFACT_METADATA = "artifact_metadata"
    ARTIFACT_READ = "artifact_read"
    RUN_GET = "run_get"
    GET_LANGBOT_VERSION = "get_langbot_version"
    GET_PROMPT = "get_prompt"
    EVENT_GET = "event_get"
    EVENT_PAGE = "event_page"
    HISTORY_SEARCH = "history_search"
    INVOKE_LLM = "invoke_llm"
    INVOKE_LLM_STREAM = "invoke_llm_stream"


def said(ctx, value):
    message = {"role": "assistant", "content": "said", "provider_specific_fields": {"seen": value}}
    return AgentRunResult(run_id=ctx.run_id, type="message.completed", data={"message": message})


def done(ctx):
    return AgentRunResult(run_id=ctx.run_id, type="run.completed", data={"finish_reason": "stop"})


def asker(runner, ctx):
    async def ask(action, timeout=15.0, **data):
        return await runner._plugin_runtime_handler.call_action(action, {"run_id": ctx.run_id, **data}, timeout)

    return ask


async def failure(asking) -> dict:
    try:
        await asking
    except ActionCallError as error:
        return error.data["error"]
    return {}


async def kept(runner, ctx):
    """State and storage, with values that the JSON of other languages would change."""
    ask = asker(runner, ctx)
    of = {"scope": "conversation"}
    value = {"big": 9007199254740993, "one": 1, "float": 1.0, "text": "é\u2028😀", "none": None}
    seen = {"missing": await ask(Action.STATE_GET, **of, key="k")}
    await ask(Action.STATE_SET, **of, key="k", value=value)
    seen["same"] = repr((await ask(Action.STATE_GET, **of, key="k"))["value"]) == repr(value)
    await ask(Action.STATE_SET, **of, key="null", value=None)
    seen["null"] = await ask(Action.STATE_GET, **of, key="null")
    seen["list"] = await ask(Action.STATE_LIST, **of, prefix="k", limit=100)
    seen["deleted"] = [await ask(Action.STATE_DELETE, **of, key="k") for _ in range(2)]
    content = bytes(range(256)) * 12_000
    await ask(Action.SET_PLUGIN_STORAGE, key="big", value_base64=base64.b64encode(content).decode())
    stored = await ask(Action.GET_PLUGIN_STORAGE, key="big")
    seen["stored"] = base64.b64decode(stored["value_base64"]) == content
    await ask(Action.SET_PLUGIN_STORAGE, key="empty", value_base64="")
    seen["empty"] = await ask(Action.GET_PLUGIN_STORAGE, key="empty")
    seen["keys"] = await ask(Action.GET_PLUGIN_STORAGE_KEYS)
    await ask(Action.DELETE_PLUGIN_STORAGE, key="big")
    seen["gone"] = (await failure(ask(Action.GET_PLUGIN_STORAGE, key="big")))["code"]
    yield said(ctx, seen)
    yield done(ctx)


async def read(runner, ctx):
    """Calls about the history and the run itself."""
    # Not in every SDK.
    from langbot_plugin.api.entities.builtin.agent_runner import ArtifactReadResult

    ask = asker(runner, ctx)
    content = base64.b64encode(b"0123456789" * 100).decode()
    data = {"artifact_type": "file", "artifact_id": "digits", "content_base64": content}
    yield AgentRunResult(run_id=ctx.run_id, type="artifact.created", data=data)
    part = await until_found(lambda: ask(Action.ARTIFACT_READ, artifact_id="digits", offset=995, limit=3))
    ArtifactReadResult.model_validate(part)
    metadata = await ask(Action.ARTIFACT_METADATA, artifact_id="digits")
    run = AgentRun.model_validate(await ask(Action.RUN_GET, target_run_id=ctx.run_id))
    event = await ask(Action.EVENT_GET, event_id=ctx.event.event_id)
    events = await ask(Action.EVENT_PAGE, conversation_id=None, event_types=None, before_cursor=None, limit=50)
    found = await ask(Action.HISTORY_SEARCH, query="read", filters=None, top_k=10)
    filters = {"conversation_id": ctx.conversation.conversation_id, "roles": ["user"], "item_types": ["message"]}
    of_users = await ask(Action.HISTORY_SEARCH, query="read", filters=filters, top_k=10)
    of_tools = await ask(Action.HISTORY_SEARCH, query="read", filters={"roles": ["tool"]}, top_k=10)
    elsewhere = await failure(ask(Action.HISTORY_SEARCH, query="read", filters={"conversation_id": "x"}, top_k=10))
    yield said(
        ctx,
        {
            "artifact": {key: part[key] for key in ("content_base64", "length", "offset", "size_bytes", "has_more")},
            "metadata": [metadata["artifact_id"], metadata["size_bytes"], metadata["metadata"]],
            "run": [run.status, run.event_id == ctx.event.event_id, run.deadline_at == int(ctx.runtime.deadline_at)],
            "event": [event["event_type"], event["input_summary"], len(events["items"])],
            "found": [item["content"] for item in found["items"]],
            "filtered": [len(of_users["items"]), len(of_tools["items"]), elsewhere["code"]],
            "version": bool((await runner._plugin_runtime_handler.call_action(Action.GET_LANGBOT_VERSION, {}))["version"]),
            "config": runner._plugin_config,
            "identity": runner._plugin_identity,
        },
    )
    yield done(ctx)


async def until_found(asking):
    """A result counts once it is reported, which happens soon."""
    for _ in range(500):
        try:
            return await asking()
        except ActionCallError as error:
            if error.data["error"]["code"] != "not_found":
                raise
            await asyncio.sleep(0.02)
    raise TimeoutError


async def refused(runner, ctx):
    """Every kind of failure, as the SDK reports it."""
    ask = asker(runner, ctx)
    calls = {
        "not offered": ask(Action.GET_PROMPT),
        "another run": ask(Action.RUN_GET, target_run_id="00000000-0000-7000-8000-000000000000"),
        "no key": ask(Action.STATE_GET, scope="conversation"),
        "bad number": ask(Action.HISTORY_SEARCH, query="x", filters=None, top_k="many"),
        "bad scope": ask(Action.STATE_GET, scope="actress", key="k"),
        "bad base64": ask(Action.SET_PLUGIN_STORAGE, key="k", value_base64="?"),
        "not a number": ask(Action.STATE_SET, scope="conversation", key="k", value=float("nan")),
        "no such": ask(Action.EVENT_GET, event_id="nobody"),
        "scope not granted": ask(Action.STATE_GET, scope="runner", key="k"),
        "unknown run": runner._plugin_runtime_handler.call_action(Action.STATE_GET, {"run_id": "other", "scope": "runner", "key": "k"}),
    }
    seen = {name: (await failure(call))["code"] for name, call in calls.items()}
    try:
        await ask(Action.INVOKE_LLM, 0.2, **asked("pace=60000 words=3"))
    except ActionCallTimeoutError:
        seen["too slow"] = "ActionCallTimeoutError"
    stream = runner._plugin_runtime_handler.call_action_generator(
        Action.INVOKE_LLM_STREAM, {"run_id": ctx.run_id, **asked("pace=60000 words=3")}, 0.5
    )
    try:
        seen["pieces"] = [piece["chunk"]["content"] async for piece in stream]
    except ActionCallTimeoutError:
        seen["too slow stream"] = "ActionCallTimeoutError"
    yield said(ctx, seen)
    yield done(ctx)


def asked(text):
    messages = [{"role": "user", "content": text}]
    return {"llm_model_uuid": "demo", "messages": messages, "funcs": [], "extra_args": {}}


async def silent(_runner, _ctx):
    """No terminal result."""
    for result in ():
        yield result


async def broken(_runner, ctx):
    yield said(ctx, None)
    raise ValueError("no idea")


async def odd(_runner, ctx):
    """Results that the host drops, each with its own number."""
    yield AgentRunResult(run_id="another", type="message.delta", data={})
    yield AgentRunResult(run_id=ctx.run_id, type="state.updated", data={"scope": "actor", "key": "k", "value": "\ud800"})
    yield done(ctx)


async def huge(_runner, ctx):
    data = {"scope": "conversation", "key": "k", "value": "x" * 3_000_000}
    yield AgentRunResult(run_id=ctx.run_id, type="state.updated", data=data)


async def many(_runner, ctx):
    """More than one report."""
    for index in range(1_500):
        chunk = {"role": "assistant", "content": f"{index} "}
        yield AgentRunResult(run_id=ctx.run_id, type="message.delta", data={"chunk": chunk})
    yield done(ctx)


async def slow(_runner, ctx):
    """Runs a little longer than the time limit of the run."""
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)


async def slow_results(runner, ctx):
    await slow(runner, ctx)
    yield done(ctx)


async def stubborn(_runner, ctx):
    """Sends a last message when it is cancelled."""
    yield said(ctx, "waiting")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        yield said(ctx, "last word")


cases = {
    "kept": kept,
    "read": read,
    "refused": refused,
    "silent": silent,
    "broken": broken,
    "odd": odd,
    "huge": huge,
    "many": many,
    "slow": slow_results,
    "stubborn": stubborn,
}
