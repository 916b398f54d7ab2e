"""The acceptance list of Anthropic's API, by the official Python client. The provider does what the message says."""

import sys

import anthropic
from anthropic import Anthropic

base_url, key, other_key = sys.argv[1:4]
client = Anthropic(base_url=base_url, api_key=key, max_retries=0)
MODEL = "gpt-4o"
WEATHER = {
    "name": "get_weather",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
}
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


def ask(text, **more):
    return {"model": MODEL, "max_tokens": 100, "messages": [{"role": "user", "content": text}], **more}


def models_and_create():
    assert "gpt-4o-mini" in [model.id for model in client.models.list()]
    assert client.models.retrieve("openai:any").id == "openai:any"
    message = client.messages.create(**ask("n=3", system="Be brief."))
    assert message.content[0].text == "word0 word1 word2 ", message
    assert message.stop_reason == "end_turn" and message.id.startswith("msg_")
    assert message.usage.output_tokens > 0 and message._request_id


def raw_stream():
    events = list(client.messages.create(**ask("n=20 gap=5"), stream=True))
    assert events[0].type == "message_start" and events[-1].type == "message_stop"
    text = "".join(event.delta.text for event in events if event.type == "content_block_delta")
    assert text == "".join(f"word{n} " for n in range(20)), text


def helper():
    with client.messages.stream(**ask("n=5")) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert final.content[0].text == text == "word0 word1 word2 word3 word4 "
    assert final.usage.input_tokens > 0


def tools_of_the_caller():
    for args, expected in (('{"city":"Rome"}', {"city": "Rome"}), ("{}", {})):
        request = ask(f"tools=1 tool=get_weather args={args}", tools=[WEATHER])
        for answer in (client.messages.create(**request), final_of(request)):
            call = answer.content[-1]
            assert answer.stop_reason == "tool_use" and call.input == expected, answer
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "25"}
        request["messages"] += [
            {"role": "assistant", "content": answer.content},
            {"role": "user", "content": [result]},
        ]
        # The provider counts the calls since the last message of a user.
        assert client.messages.create(**request).stop_reason == "end_turn"


def final_of(request):
    with client.messages.stream(**request) as stream:
        return stream.get_final_message()


def forced_tool_and_image():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    content = [image, {"type": "text", "text": "n=1"}]
    message = client.messages.create(
        model=MODEL,
        max_tokens=9,
        messages=[{"role": "user", "content": content}],
        tools=[WEATHER],
        tool_choice={"type": "tool", "name": "get_weather"},
    )
    assert message.stop_reason == "end_turn"


def structured_output():
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    message = client.messages.create(
        **ask("n=1"), output_config={"format": {"type": "json_schema", "schema": schema}}
    )
    assert message.content[0].type == "text"


def cancel_in_mid_stream():
    with client.messages.stream(**ask("n=1000 gap=20")) as stream:
        for _ in stream.text_stream:
            break


def counts_tokens():
    counted = client.messages.count_tokens(model=MODEL, messages=[{"role": "user", "content": "four words of text"}])
    assert counted.input_tokens > 2


def errors_have_their_classes():
    expect(anthropic.BadRequestError, lambda: client.messages.create(**ask("")))
    expect(anthropic.NotFoundError, lambda: client.messages.create(**{**ask("n=1"), "model": "unknown"}))
    stranger = Anthropic(base_url=base_url, api_key="wrong", max_retries=0)
    expect(anthropic.AuthenticationError, lambda: stranger.messages.create(**ask("n=1")))
    expect(anthropic.RateLimitError, lambda: client.messages.create(**ask("status=429")))
    assert expect(anthropic.APIStatusError, lambda: client.messages.create(**ask("status=529"))).status_code == 529
    with Anthropic(base_url=base_url, auth_token=other_key, api_key=None, max_retries=0) as other:
        assert other.messages.create(**ask("n=1")).stop_reason == "end_turn"


def expect(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


for case in (
    models_and_create,
    raw_stream,
    helper,
    tools_of_the_caller,
    forced_tool_and_image,
    structured_output,
    cancel_in_mid_stream,
    counts_tokens,
    errors_have_their_classes,
):
    case()
    print("passed", case.__name__)
