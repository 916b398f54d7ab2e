# Python programs for Anthropic's API against Runnel, over a model of another maker: each feature of each client.

import asyncio, base64, json, os

from checks import City, GREETING, IMAGE, MODEL, PNG, SAW, WEATHER, base_url, case, errors_of, get_time, get_weather, key, run_cases, same, slow

os.environ.update(ANTHROPIC_API_KEY=key, ANTHROPIC_BASE_URL=base_url, ANTHROPIC_API_BASE=base_url)


def errors(client, call, wrap=lambda error: error):
    import anthropic
    kinds = [anthropic.BadRequestError, anthropic.AuthenticationError, anthropic.NotFoundError, anthropic.RateLimitError, anthropic.BadRequestError]
    errors_of(client, call, kinds, (None, None, None, None, "prompt is too long"), wrap, "rate")


def anthropic_cases():
    from anthropic import Anthropic, beta_tool
    client = Anthropic(base_url=base_url, api_key=key, max_retries=0)
    user = [{"role": "user", "content": "Hi"}]
    hello = {"model": MODEL, "max_tokens": 100, "messages": user}
    weather = {"name": "get_weather", "input_schema": WEATHER}
    time = {"name": "get_time", "input_schema": {"type": "object", "properties": {}}}
    ask = lambda **more: client.messages.create(**{**hello, **more})

    def final(**more):
        with client.messages.stream(**{**hello, **more}) as stream:
            return stream.get_final_message()

    errors("anthropic", lambda model, own: Anthropic(base_url=base_url, api_key=own, max_retries=0).messages.create(**{**hello, "model": model}))

    @case("anthropic", "text")
    def _():
        same(ask().content[0].text, GREETING)

    @case("anthropic", "stream")
    def _():
        with client.messages.stream(**hello) as stream:
            same("".join(stream.text_stream), GREETING)

    @case("anthropic", "usage")
    def _():
        for usage in (ask().usage, final().usage):
            same(usage.input_tokens + usage.output_tokens, 16)

    @case("anthropic", "tool loop")
    def _():
        runner = client.beta.messages.tool_runner(**hello, tools=[beta_tool(get_weather)])
        same(runner.until_done().content[0].text, "The tool said Rome is sunny.")

    @case("anthropic", "tool without arguments")
    def _():
        same((ask(tools=[time]).content[0].input, final(tools=[time]).content[0].input), ({}, {}))

    @case("anthropic", "forced tool")
    def _():
        same(ask(tools=[weather, time], tool_choice={"type": "tool", "name": "get_time"}).content[0].name, "get_time")

    @case("anthropic", "structured output")
    def _():
        same(client.messages.parse(**hello, output_format=City).parsed_output, City(city="Rome", degrees=25))

    @case("anthropic", "image")
    def _():
        source = {"type": "base64", "media_type": "image/png", "data": PNG}
        content = [{"type": "text", "text": "What?"}, {"type": "image", "source": source}]
        same(ask(messages=[{"role": "user", "content": content}]).content[0].text, SAW)

    @case("anthropic", "cancel")
    def _():
        with client.messages.stream(**{**hello, "model": slow("anthropic")}) as stream:
            next(iter(stream.text_stream))


def langchain_cases():
    from langchain_anthropic import ChatAnthropic
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_core.tools import tool
    weather, time = tool(get_weather), tool(get_time)
    name = "langchain-anthropic"

    def make(model=MODEL, own=key):
        return ChatAnthropic(model=model, api_key=own, base_url=base_url, max_tokens=100, max_retries=0)
    errors(name, lambda model, own: make(model, own).invoke("Hi"))

    @case(name, "text")
    def _():
        same(make().invoke("Hi").text, GREETING)

    @case(name, "stream")
    def _():
        same("".join(chunk.text for chunk in make().stream("Hi")), GREETING)

    @case(name, "usage")
    def _():
        same(make().invoke("Hi").usage_metadata["total_tokens"], 16)
        total = None
        for chunk in make().stream("Hi"):
            total = chunk if total is None else total + chunk
        same(total.usage_metadata["total_tokens"], 16)

    @case(name, "tool loop")
    def _():
        model = make().bind_tools([weather])
        first = model.invoke("Hi")
        call = first.tool_calls[0]
        same(call["args"], {"city": "Rome"})
        answer = ToolMessage("sunny", tool_call_id=call["id"])
        same(model.invoke([HumanMessage("Hi"), first, answer]).text, "The tool said sunny.")

    @case(name, "tool without arguments")
    def _():
        same(make().bind_tools([time]).invoke("Hi").tool_calls[0]["args"], {})

    @case(name, "forced tool")
    def _():
        same(make().bind_tools([weather, time], tool_choice="get_time").invoke("Hi").tool_calls[0]["name"], "get_time")

    @case(name, "structured output")
    def _():
        for method in ("json_schema", "function_calling"):
            same(make().with_structured_output(City, method=method).invoke("Give JSON"), City(city="Rome", degrees=25))

    @case(name, "image")
    def _():
        content = [{"type": "text", "text": "What?"}, {"type": "image", "base64": PNG, "mime_type": "image/png"}]
        same(make().invoke([HumanMessage(content)]).text, SAW)

    @case(name, "cancel")
    def _():
        stream = make(slow(name)).stream("Hi")
        next(stream)
        stream.close()


def pydantic_cases():
    from pydantic_ai import Agent, BinaryContent, ToolOutput
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
    name = "pydantic-ai"

    def make(model=MODEL, own=key, **more):
        return Agent(AnthropicModel(model, provider=AnthropicProvider(base_url=base_url, api_key=own)), **more)
    errors(name, lambda model, own: make(model=model, own=own).run_sync("Hi"), lambda error: error.__cause__)

    @case(name, "text")
    def _():
        same(make(instructions="Be brief.").run_sync("Hi").output, GREETING)

    @case(name, "stream")
    def _():
        async def run():
            async with make().run_stream("Hi") as result:
                return "".join([piece async for piece in result.stream_text(delta=True)])
        same(asyncio.run(run()), GREETING)

    @case(name, "usage")
    def _():
        usage = make().run_sync("Hi").usage
        usage = usage() if callable(usage) else usage
        same(usage.input_tokens + usage.output_tokens, 16)

    @case(name, "tool loop")
    def _():
        same(make(tools=[get_weather]).run_sync("Hi").output, "The tool said Rome is sunny.")

    @case(name, "tool without arguments")
    def _():
        same(make(tools=[get_time]).run_sync("Hi").output, "The tool said noon.")

    @case(name, "forced tool")
    def _():
        same(make(output_type=City, tools=[get_weather]).run_sync("Hi").output.city, "Rome")

    @case(name, "structured output")
    def _():
        for wanted in (City, ToolOutput(City)):
            same(make(output_type=wanted).run_sync("Hi").output, City(city="Rome", degrees=25))

    @case(name, "image")
    def _():
        image = BinaryContent(base64.b64decode(PNG), media_type="image/png")
        same(make().run_sync(["What?", image]).output, SAW)


def litellm_cases():
    import litellm
    litellm.suppress_debug_info = True
    options = {"model": f"anthropic/{MODEL}", "api_base": base_url, "api_key": key, "max_tokens": 100}
    user = [{"role": "user", "content": "Hi"}]
    ask = lambda **more: litellm.completion(**{**options, "messages": user, **more})
    function = {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}
    empty = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}
    kinds = [litellm.BadRequestError, litellm.AuthenticationError, litellm.NotFoundError, litellm.RateLimitError, litellm.BadRequestError]
    errors_of("litellm", lambda model, own: ask(model=f"anthropic/{model}", api_key=own, num_retries=0, max_retries=0), kinds, too_many="rate")

    @case("litellm", "text")
    def _():
        same(ask().choices[0].message.content, GREETING)

    @case("litellm", "stream")
    def _():
        same("".join(chunk.choices[0].delta.content or "" for chunk in ask(stream=True)), GREETING)

    @case("litellm", "usage")
    def _():
        same(ask().usage.total_tokens, 16)
        chunks = list(ask(stream=True, stream_options={"include_usage": True}))
        same(chunks[-1].usage.total_tokens, 16)

    @case("litellm", "tool loop")
    def _():
        message = ask(tools=[function]).choices[0].message
        answer = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "name": "get_weather", "content": "sunny"}
        same(ask(messages=[*user, message, answer], tools=[function]).choices[0].message.content, "The tool said sunny.")

    @case("litellm", "tool without arguments")
    def _():
        same(json.loads(ask(tools=[empty]).choices[0].message.tool_calls[0].function.arguments), {})

    @case("litellm", "forced tool")
    def _():
        choice = {"type": "function", "function": {"name": "get_time"}}
        same(ask(tools=[function, empty], tool_choice=choice).choices[0].message.tool_calls[0].function.name, "get_time")

    @case("litellm", "structured output")
    def _():
        same(City.model_validate_json(ask(response_format=City).choices[0].message.content), City(city="Rome", degrees=25))

    @case("litellm", "image")
    def _():
        content = [{"type": "text", "text": "What?"}, {"type": "image_url", "image_url": {"url": IMAGE}}]
        same(ask(messages=[{"role": "user", "content": content}]).choices[0].message.content, SAW)


run_cases(anthropic_cases, langchain_cases, pydantic_cases, litellm_cases)
