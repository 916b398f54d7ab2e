# The types of ag-ui-protocol against Runnel: it has no client, so httpx carries what its types write, and they read each event.

import httpx, uuid

from ag_ui.core import AssistantMessage, Event, RunAgentInput, Tool, ToolMessage, UserMessage
from checks import GREETING, PNG, SAW, WEATHER, base_url, case, get_weather, key, raises, run_cases, same
from pydantic import TypeAdapter

name = "ag-ui-protocol"
events_of = TypeAdapter(Event)


def ask(messages, preset="default", own=key, **more):
    fields = {"thread_id": str(uuid.uuid4()), "run_id": str(uuid.uuid4()), "state": {}, "tools": [], "context": [], "forwarded_props": {}}
    body = RunAgentInput(**{**fields, "messages": messages, **more})
    headers = {"Authorization": f"Bearer {own}", "Content-Type": "application/json", "Accept": "text/event-stream"}
    answer = httpx.post(f"{base_url}/{preset}", content=body.model_dump_json(by_alias=True), headers=headers, timeout=60)
    answer.raise_for_status()
    return [events_of.validate_json(line[6:]) for line in answer.text.split("\n") if line.startswith("data: ")]


def text_of(events):
    return "".join(event.delta for event in events if event.type == "TEXT_MESSAGE_CONTENT")


def user(content="Hi"):
    return UserMessage(id=str(uuid.uuid4()), role="user", content=content)


def protocol_cases():
    @case(name, "errors")
    def _():
        for preset, code in [("bad", "invalid_request"), ("quota", "quota"), ("context", "context_length")]:
            *_, last = ask([user()], preset)
            same((preset, last.type, last.code), (preset, "RUN_ERROR", code))
        for preset, own, status in [("default", "wrong", 401), ("unknown", key, 404)]:
            refused = raises(httpx.HTTPStatusError, lambda: ask([user()], preset, own))
            same(refused.response.status_code, status)

    @case(name, "text")
    def _():
        same(text_of(ask([user()])), GREETING)


    @case(name, "usage")
    def _():
        same(ask([user()])[-1].usage[0].total_tokens, 16)

    @case(name, "thread")
    def _():
        thread, first = str(uuid.uuid4()), user("One")
        ask([first], thread_id=thread)
        same(text_of(ask([first, user("Two")], thread_id=thread)), GREETING)

    @case(name, "join")
    def _():
        thread, run, first = str(uuid.uuid4()), str(uuid.uuid4()), user()
        ask([first], thread_id=thread, run_id=run)
        [snapshot] = [event for event in ask([first], thread_id=thread, run_id=run) if event.type == "MESSAGES_SNAPSHOT"]
        same([message.content for message in snapshot.messages], ["Hi", GREETING])

    @case(name, "tool loop")
    def _():
        thread, first = str(uuid.uuid4()), user()
        tools = [Tool(name="get_weather", description="The weather", parameters=WEATHER)]
        call = next(event for event in ask([first], thread_id=thread, tools=tools) if event.type == "TOOL_CALL_START")
        calls = [{"id": call.tool_call_id, "function": {"name": call.tool_call_name, "arguments": '{"city":"Rome"}'}}]
        said = AssistantMessage(id=call.parent_message_id, role="assistant", tool_calls=calls)
        answer = ToolMessage(id=str(uuid.uuid4()), role="tool", tool_call_id=call.tool_call_id, content=get_weather("Rome"))
        same(text_of(ask([first, said, answer], thread_id=thread, tools=tools)), "The tool said Rome is sunny.")

    @case(name, "state")
    def _():
        [snapshot] = [event for event in ask([user()], "stateful") if event.type == "STATE_SNAPSHOT"]
        assert "Rome" in snapshot.snapshot["runnel"]["conversation"]

    @case(name, "image")
    def _():
        parts = [{"type": "text", "text": "What?"}, {"type": "image", "source": {"type": "data", "value": PNG, "mime_type": "image/png"}}]
        same(text_of(ask([user(parts)])), SAW)

    @case(name, "interrupt")
    def _():
        thread, first = str(uuid.uuid4()), user()
        [interrupt] = ask([first], "careful", thread_id=thread)[-1].outcome.interrupts
        resume = [{"interrupt_id": interrupt.id, "status": "resolved", "payload": {"approved": True}}]
        same(text_of(ask([first], "careful", thread_id=thread, resume=resume)), "The tool said Set Rome.")


run_cases(protocol_cases)
