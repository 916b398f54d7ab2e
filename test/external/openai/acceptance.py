"""The acceptance list of OpenAI's API, by the official Python client. The provider does what the message says."""

import sys
import threading
import time

import openai
from openai import OpenAI

base_url, key, other_key = sys.argv[1:4]
client = OpenAI(base_url=base_url, api_key=key, max_retries=0)
MODEL = "gpt-4o"
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    "strict": False,
}
CALL = 'tools=1 tool=get_weather args={"city":"Rome"}'


def text_of(events):
    return "".join(event.delta for event in events if event.type == "response.output_text.delta")


def models_and_create():
    assert "gpt-4o-mini" in [model.id for model in client.models.list()]
    response = client.responses.create(model=MODEL, input="n=3", instructions="Be brief.", metadata={"a": "b"})
    assert response.output_text == "word0 word1 word2 ", response
    assert response.status == "completed" and response.metadata == {"a": "b"}
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens
    assert client.responses.retrieve(response.id).output_text == response.output_text


def raw_stream():
    events = list(client.responses.create(model=MODEL, input="n=20 gap=5", stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[0].type == "response.created" and events[-1].type == "response.completed"
    assert text_of(events) == events[-1].response.output_text


def helper():
    with client.responses.stream(model=MODEL, input="n=5") as stream:
        for _ in stream:
            pass
        final = stream.get_final_response()
    assert final.output_text == "word0 word1 word2 word3 word4 "
    assert client.responses.retrieve(final.id).output_text == final.output_text


def background_and_resume():
    response = client.responses.create(model=MODEL, input="n=40 gap=20", background=True)
    assert response.status == "queued"
    while client.responses.retrieve(response.id).status != "completed":
        time.sleep(0.1)
    whole = list(client.responses.retrieve(response.id, stream=True))
    rest = list(client.responses.retrieve(response.id, stream=True, starting_after=10))
    assert [event.sequence_number for event in rest] == [event.sequence_number for event in whole[11:]]
    with client.responses.stream(response_id=response.id, starting_after=10) as stream:
        assert stream.get_final_response().output_text == text_of(whole)


def two_readers():
    response = client.responses.create(model=MODEL, input="n=30 gap=20", background=True)
    read = []
    readers = [
        threading.Thread(target=lambda: read.append(list(client.responses.retrieve(response.id, stream=True))))
        for _ in range(2)
    ]
    for reader in readers:
        reader.start()
        time.sleep(0.2)
    for reader in readers:
        reader.join()
    assert read[0] == read[1] and read[0][-1].type == "response.completed"


def server_tools():
    tools = [{"type": "mcp", "server_label": "runnel", "server_url": "https://runnel.invalid",
              "allowed_tools": ["list_dir", "read_file"], "require_approval": "never"}]
    listed = client.responses.create(model=MODEL, input='tools=1 tool=list_dir args={"path":"."} n=1', tools=tools)
    assert [item.type for item in listed.output] == ["mcp_call", "message"], listed
    failing = client.responses.create(model=MODEL, input="tools=1 tool=read_file n=1", tools=tools)
    assert failing.output[0].status == "failed" and failing.output[0].error, failing


def functions():
    asked = client.responses.create(model=MODEL, input=f"{CALL} n=1", tools=[WEATHER])
    [call] = asked.output
    assert call.type == "function_call" and call.name == "get_weather" and call.arguments == '{"city":"Rome"}'
    answered = client.responses.create(
        model=MODEL,
        previous_response_id=asked.id,
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "25"}],
        tools=[WEATHER],
    )
    assert answered.output_text == "word0 ", answered


def conversations():
    conversation = client.conversations.create(metadata={"topic": "x"})
    for _ in range(2):
        client.responses.create(model=MODEL, input="n=1", conversation=conversation.id)
    busy = client.responses.create(model=MODEL, input="n=50 gap=50", conversation=conversation.id, background=True)
    try:
        client.responses.create(model=MODEL, input="n=1", conversation=conversation.id)
        raise AssertionError("a busy conversation took a message")
    except openai.BadRequestError as error:
        assert error.code == "conversation_locked"
    assert client.responses.cancel(busy.id).status == "cancelled"
    items = client.conversations.items.list(conversation.id, order="asc").data
    assert [item.role for item in items][:4] == ["user", "assistant"] * 2


def branches():
    root = client.responses.create(model=MODEL, input="n=1")
    one, other = (client.responses.create(model=MODEL, input="n=2", previous_response_id=root.id) for _ in range(2))
    assert one.output_text == other.output_text == "word0 word1 "
    assert one.conversation.id != other.conversation.id


def cancelled_stream():
    events = []
    for event in client.responses.create(model=MODEL, input="n=500 gap=50", stream=True):
        events.append(event)
        if event.type == "response.output_text.delta" and len(events) < 8:
            client.responses.cancel(events[0].response.id)
    assert events[-1].type == "response.incomplete" and events[-1].response.status == "cancelled", events[-1]


def deleted():
    response = client.responses.create(model=MODEL, input="n=1")
    stranger = OpenAI(base_url=base_url, api_key=other_key, max_retries=0)
    expect(openai.NotFoundError, lambda: stranger.responses.retrieve(response.id))
    client.responses.delete(response.id)
    expect(openai.NotFoundError, lambda: client.responses.retrieve(response.id))


def silent_minute():
    events = list(client.responses.create(model=MODEL, input="n=2 gap=62000", stream=True))
    assert text_of(events) == "word0 word1 " and events[-1].type == "response.completed"


def idempotency():
    headers = {"Idempotency-Key": "python-1"}
    one, other = (client.responses.create(model=MODEL, input="n=1", extra_headers=headers) for _ in range(2))
    assert one.id == other.id


def settings():
    response = client.responses.create(
        model=MODEL, input=f"{CALL} n=1", tools=[WEATHER], tool_choice="required", parallel_tool_calls=False, top_p=0.5,
        text={"format": {"type": "json_object"}})
    assert [item.type for item in response.output] == ["function_call"], response
    assert response.tool_choice == "required" and response.text.format.type == "json_object", response


def refusals():
    for field, value in [("prompt", {"id": "pmpt_1"}), ("text", {"format": {"type": "grammar"}})]:
        error = expect(openai.BadRequestError, lambda: client.responses.create(model=MODEL, input="n=1", **{field: value}))
        assert error.code == "unsupported_parameter" and error.param.startswith(field), error
    wrong = OpenAI(base_url=base_url, api_key="wrong")
    expect(openai.AuthenticationError, wrong.models.list)
    expect(openai.NotFoundError, lambda: client.responses.create(model="nope", input="x"))


def chat():
    messages = [{"role": "user", "content": "n=3"}]
    whole = client.chat.completions.create(model=MODEL, messages=messages)
    assert whole.choices[0].message.content == "word0 word1 word2 " and whole.choices[0].finish_reason == "stop"
    chunks = list(client.chat.completions.create(
        model=MODEL, messages=messages, stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "word0 word1 word2 "
    assert chunks[-1].usage.total_tokens == 13
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
    asked = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": f"{CALL} n=1"}], tools=[tool])
    assert asked.choices[0].finish_reason == "tool_calls"
    failing = [{"role": "user", "content": "status=401"}]
    for stream in (False, True):
        error = expect(openai.AuthenticationError, lambda: client.chat.completions.create(
            model=MODEL, messages=failing, stream=stream))
        assert error.code == "provider_authentication", error


def expect(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"expected {kind.__name__}")


for case in [models_and_create, raw_stream, helper, background_and_resume, two_readers, server_tools, functions, conversations,
             branches, cancelled_stream, deleted, idempotency, settings, refusals, chat, silent_minute]:
    case()
    print("passed", case.__name__, flush=True)
