# Python programs for OpenAI's API against Runnel: each feature of each client.

import asyncio, base64, json, os, pathlib, tempfile

from checks import City, GREETING, IMAGE, MODEL, PNG, SAW, WEATHER, base_url, case, errors_of, get_time, get_weather, key, run_cases, same, slow

os.environ.update(OPENAI_API_KEY=key, OPENAI_BASE_URL=base_url, OPENAI_API_BASE=base_url, OPENAI_AGENTS_DISABLE_TRACING="1")


def errors(client, call, wrap=lambda error: error, shows_codes=True):
    import openai
    kinds = [openai.BadRequestError, openai.AuthenticationError, openai.NotFoundError, openai.RateLimitError, openai.BadRequestError]
    codes = [None, None, "model_not_found", "insufficient_quota", "context_length_exceeded"] if shows_codes else ()
    errors_of(client, call, kinds, codes, wrap)


# openai, by both APIs.
def openai_cases():
    from openai import OpenAI
    client = OpenAI(base_url=base_url, api_key=key)
    ask = client.chat.completions.create
    user = [{"role": "user", "content": "Hi"}]
    function = {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}
    empty = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}

    def make(model, own):
        return OpenAI(base_url=base_url, api_key=own, max_retries=0).chat.completions.create(model=model, messages=user)
    errors("openai chat", make)

    @case("openai chat", "text")
    def _():
        same(ask(model=MODEL, messages=user).choices[0].message.content, GREETING)

    @case("openai chat", "stream")
    def _():
        chunks = ask(model=MODEL, messages=user, stream=True)
        same("".join(chunk.choices[0].delta.content or "" for chunk in chunks), GREETING)

    @case("openai chat", "usage")
    def _():
        same(ask(model=MODEL, messages=user).usage.total_tokens, 16)
        *_, last = ask(model=MODEL, messages=user, stream=True, stream_options={"include_usage": True})
        same(last.usage.total_tokens, 16)

    @case("openai chat", "tool loop")
    def _():
        first = ask(model=MODEL, messages=user, tools=[function])
        call = first.choices[0].message.tool_calls[0]
        same((first.choices[0].finish_reason, json.loads(call.function.arguments)), ("tool_calls", {"city": "Rome"}))
        messages = [*user, first.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "sunny"}]
        same(ask(model=MODEL, messages=messages, tools=[function]).choices[0].message.content, "The tool said sunny.")

    @case("openai chat", "tool without arguments")
    def _():
        call = ask(model=MODEL, messages=user, tools=[empty]).choices[0].message.tool_calls[0]
        same(call.function.arguments, "{}")

    @case("openai chat", "forced tool")
    def _():
        choice = {"type": "function", "function": {"name": "get_time"}}
        call = ask(model=MODEL, messages=user, tools=[function, empty], tool_choice=choice).choices[0].message.tool_calls[0]
        same(call.function.name, "get_time")

    @case("openai chat", "structured output")
    def _():
        parsed = client.chat.completions.parse(model=MODEL, messages=user, response_format=City).choices[0].message.parsed
        same(parsed, City(city="Rome", degrees=25))

    @case("openai chat", "image")
    def _():
        content = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": IMAGE}}]
        same(ask(model=MODEL, messages=[{"role": "user", "content": content}]).choices[0].message.content, SAW)

    @case("openai chat", "cancel")
    def _():
        with ask(model=slow("openai chat"), messages=user, stream=True) as stream:
            next(stream)

    make = client.responses.create
    weather = {"type": "function", "name": "get_weather", "parameters": WEATHER, "strict": True}
    time = {"type": "function", "name": "get_time", "parameters": {"type": "object", "properties": {}}, "strict": False}

    def create(model, own):
        return OpenAI(base_url=base_url, api_key=own, max_retries=0).responses.create(model=model, input="Hi")
    errors("openai responses", create)

    @case("openai responses", "text")
    def _():
        same(make(model=MODEL, input="Hi").output_text, GREETING)

    @case("openai responses", "stream")
    def _():
        with client.responses.stream(model=MODEL, input="Hi") as stream:
            text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
            same((text, stream.get_final_response().output_text), (GREETING, GREETING))

    @case("openai responses", "usage")
    def _():
        same(make(model=MODEL, input="Hi").usage.total_tokens, 16)

    @case("openai responses", "tool loop")
    def _():
        first = make(model=MODEL, input="Hi", tools=[weather], store=False, include=["reasoning.encrypted_content"])
        call = next(item for item in first.output if item.type == "function_call")
        answer = {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}
        items = [{"role": "user", "content": "Hi"}, *first.output, answer]
        same(make(model=MODEL, input=items, tools=[weather], store=False).output_text, "The tool said sunny.")

    @case("openai responses", "tool without arguments")
    def _():
        same(make(model=MODEL, input="Hi", tools=[time]).output[0].arguments, "{}")

    @case("openai responses", "forced tool")
    def _():
        choice = {"type": "function", "name": "get_time"}
        same(make(model=MODEL, input="Hi", tools=[weather, time], tool_choice=choice).output[0].name, "get_time")

    @case("openai responses", "structured output")
    def _():
        same(client.responses.parse(model=MODEL, input="Hi", text_format=City).output_parsed, City(city="Rome", degrees=25))

    @case("openai responses", "image")
    def _():
        content = [{"type": "input_text", "text": "What?"}, {"type": "input_image", "image_url": IMAGE, "detail": "auto"}]
        same(make(model=MODEL, input=[{"role": "user", "content": content}]).output_text, SAW)

    @case("openai responses", "cancel")
    def _():
        with make(model=slow("openai responses"), input="Hi", stream=True) as stream:
            ids = [event.response.id for event, _ in zip(stream, range(2))]
            next(event for event in stream if event.type == "response.output_text.delta")
        same(client.responses.cancel(ids[0]).status, "cancelled")


def litellm_cases():
    import litellm
    litellm.suppress_debug_info = True
    options = {"model": f"openai/{MODEL}", "api_base": base_url, "api_key": key}
    user = [{"role": "user", "content": "Hi"}]
    ask = lambda **more: litellm.completion(**{**options, "messages": user, **more})
    function = {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}
    empty = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}
    errors("litellm", lambda model, own: ask(model=f"openai/{model}", api_key=own, num_retries=0, max_retries=0), shows_codes=False)

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
        first = ask(tools=[function])
        message = first.choices[0].message
        messages = [*user, message, {"role": "tool", "tool_call_id": message.tool_calls[0].id, "name": "get_weather", "content": "sunny"}]
        same(ask(messages=messages, tools=[function]).choices[0].message.content, "The tool said sunny.")

    @case("litellm", "tool without arguments")
    def _():
        same(ask(tools=[empty]).choices[0].message.tool_calls[0].function.arguments, "{}")

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

    @case("litellm", "responses")
    def _():
        answer = litellm.responses(**options, input="Hi")
        same(answer.output[0].content[0].text, GREETING)
        text = "".join(getattr(event, "delta", "") for event in litellm.responses(**options, input="Hi", stream=True) if event.type == "response.output_text.delta")
        same(text, GREETING)


def langchain_cases():
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    weather, time = tool(get_weather), tool(get_time)
    for name, more in [("langchain chat", {}), ("langchain responses", {"use_responses_api": True})]:
        def make(model=MODEL, own=key, more=more, **extra):
            return ChatOpenAI(model=model, api_key=own, base_url=base_url, max_retries=0, **more, **extra)
        errors(name, lambda model, own, make=make: make(model, own).invoke("Hi"))

        @case(name, "text")
        def _(make=make):
            same(make().invoke("Hi").text, GREETING)

        @case(name, "stream")
        def _(make=make):
            same("".join(chunk.text for chunk in make().stream("Hi")), GREETING)

        @case(name, "usage")
        def _(make=make):
            same(make().invoke("Hi").usage_metadata["total_tokens"], 16)
            total = None
            for chunk in make(stream_usage=True).stream("Hi"):
                total = chunk if total is None else total + chunk
            same(total.usage_metadata["total_tokens"], 16)

        @case(name, "tool loop")
        def _(make=make):
            model = make().bind_tools([weather])
            first = model.invoke("Hi")
            call = first.tool_calls[0]
            same(call["args"], {"city": "Rome"})
            answer = ToolMessage("sunny", tool_call_id=call["id"])
            same(model.invoke([HumanMessage("Hi"), first, answer]).text, "The tool said sunny.")

        @case(name, "tool without arguments")
        def _(make=make):
            same(make().bind_tools([time]).invoke("Hi").tool_calls[0]["args"], {})

        @case(name, "forced tool")
        def _(make=make):
            same(make().bind_tools([weather, time], tool_choice="get_time").invoke("Hi").tool_calls[0]["name"], "get_time")

        @case(name, "structured output")
        def _(make=make):
            for method in ("json_schema", "function_calling", "json_mode"):
                same(make().with_structured_output(City, method=method).invoke("Give JSON"), City(city="Rome", degrees=25))

        @case(name, "image")
        def _(make=make):
            content = [{"type": "text", "text": "What?"}, {"type": "image", "base64": PNG, "mime_type": "image/png"}]
            same(make().invoke([HumanMessage(content)]).text, SAW)

        if name == "langchain chat":
            @case(name, "cancel")
            def _(make=make, name=name):
                stream = make(model=slow(name)).stream("Hi")
                next(stream)
                stream.close()


def instructor_cases():
    import instructor
    from openai import OpenAI
    user = [{"role": "user", "content": "Hi"}]
    modes = [instructor.Mode.TOOLS, instructor.Mode.TOOLS_STRICT, instructor.Mode.JSON, instructor.Mode.JSON_SCHEMA, instructor.Mode.RESPONSES_TOOLS]

    @case("instructor", "structured output")
    def _():
        for mode in modes:
            client = instructor.from_openai(OpenAI(base_url=base_url, api_key=key), mode=mode)
            try:
                same(client.chat.completions.create(model=MODEL, messages=user, response_model=City).model_dump(), {"city": "Rome", "degrees": 25})
            except Exception as error:
                raise AssertionError(f"{mode}: {error}") from error

    @case("instructor", "stream")
    def _():
        client = instructor.from_openai(OpenAI(base_url=base_url, api_key=key))
        *_, last = client.chat.completions.create_partial(model=MODEL, messages=user, response_model=City)
        same((last.city, last.degrees), ("Rome", 25))

    @case("instructor", "image")
    def _():
        client = instructor.from_openai(OpenAI(base_url=base_url, api_key=key))
        messages = [{"role": "user", "content": ["What?", instructor.Image.from_base64(IMAGE)]}]
        same(client.chat.completions.create(model=MODEL, messages=messages, response_model=City).city, "Rome")


def pydantic_cases():
    from pydantic_ai import Agent, BinaryContent, ModelHTTPError, NativeOutput, PromptedOutput, ToolOutput
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider
    for name, kind in [("pydantic-ai chat", OpenAIChatModel), ("pydantic-ai responses", OpenAIResponsesModel)]:
        def make(kind=kind, model=MODEL, own=key, **more):
            return Agent(kind(model, provider=OpenAIProvider(base_url=base_url, api_key=own)), **more)

        errors(name, lambda model, own, make=make: make(model=model, own=own).run_sync("Hi"), lambda error: error.__cause__)

        @case(name, "text")
        def _(make=make):
            same(make(instructions="Be brief.").run_sync("Hi").output, GREETING)

        @case(name, "stream")
        def _(make=make):
            async def run():
                async with make().run_stream("Hi") as result:
                    return "".join([piece async for piece in result.stream_text(delta=True)])
            same(asyncio.run(run()), GREETING)

        @case(name, "usage")
        def _(make=make):
            usage = make().run_sync("Hi").usage
            usage = usage() if callable(usage) else usage
            same(usage.input_tokens + usage.output_tokens, 16)

        @case(name, "tool loop")
        def _(make=make):
            same(make(tools=[get_weather]).run_sync("Hi").output, "The tool said Rome is sunny.")

        @case(name, "tool without arguments")
        def _(make=make):
            same(make(tools=[get_time]).run_sync("Hi").output, "The tool said noon.")

        @case(name, "structured output")
        def _(make=make):
            for wanted in (City, ToolOutput(City), NativeOutput(City)):
                same(make(output_type=wanted).run_sync("Hi").output, City(city="Rome", degrees=25))

        @case(name, "forced tool")
        def _(make=make):
            same(make(output_type=City, tools=[get_weather]).run_sync("Hi").output.city, "Rome")

        @case(name, "image")
        def _(make=make):
            image = BinaryContent(base64.b64decode(PNG), media_type="image/png")
            same(make().run_sync(["What?", image]).output, SAW)


def agents_cases():
    from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, SQLiteSession, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI
    set_tracing_disabled(True)
    weather, time = function_tool(get_weather), function_tool(get_time)
    for name, kind in [("openai-agents responses", OpenAIResponsesModel), ("openai-agents chat", OpenAIChatCompletionsModel)]:
        def make(kind=kind, model=MODEL, own=key, **more):
            return Agent(name="a", instructions="Be brief.", model=kind(model, AsyncOpenAI(base_url=base_url, api_key=own, max_retries=0)), **more)

        def run(agent, prompt="Hi", **more):
            return asyncio.run(Runner.run(agent, prompt, **more))
        errors(name, lambda model, own, make=make, run=run: run(make(model=model, own=own)))

        @case(name, "text")
        def _(make=make, run=run):
            same(run(make()).final_output, GREETING)

        @case(name, "stream")
        def _(make=make):
            async def read():
                result = Runner.run_streamed(make(), "Hi")
                text = ""
                async for event in result.stream_events():
                    if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                        text += event.data.delta
                return text, result.final_output
            same(asyncio.run(read()), (GREETING, GREETING))

        @case(name, "usage")
        def _(make=make, run=run):
            same(run(make()).context_wrapper.usage.total_tokens, 16)

        @case(name, "tool loop")
        def _(make=make, run=run):
            same(run(make(tools=[weather])).final_output, "The tool said Rome is sunny.")

        @case(name, "tool without arguments")
        def _(make=make, run=run):
            same(run(make(tools=[time])).final_output, "The tool said noon.")

        @case(name, "forced tool")
        def _(make=make, run=run):
            same(run(make(tools=[weather, time], model_settings=ModelSettings(tool_choice="get_time"))).final_output, "The tool said noon.")

        @case(name, "structured output")
        def _(make=make, run=run):
            same(run(make(output_type=City)).final_output, City(city="Rome", degrees=25))

        @case(name, "image")
        def _(make=make, run=run):
            content = [{"type": "input_text", "text": "What?"}, {"type": "input_image", "image_url": IMAGE, "detail": "auto"}]
            same(run(make(), [{"role": "user", "content": content}]).final_output, SAW)

        @case(name, "handoff")
        def _(make=make, run=run):
            other = make(handoff_description="Knows all.")
            other.name = "other"
            assert run(make(handoffs=[other])).last_agent is other

    @case("openai-agents responses", "local tools")
    def _():
        from agents import ApplyPatchTool, ShellCallOutcome, ShellCommandOutput, ShellResult, ShellTool
        from agents.editor import ApplyPatchResult
        seen = []

        async def execute(request):
            seen.append(request.data.action.commands)
            return ShellResult(output=[ShellCommandOutput(stdout="sunny", outcome=ShellCallOutcome(type="exit", exit_code=0))])

        class Editor:
            def create_file(self, operation):
                seen.append((operation.type, operation.path, operation.diff))
                return ApplyPatchResult(status="completed", output="written")
            update_file = delete_file = create_file
        make = lambda tool: Agent(name="a", model=MODEL, tools=[tool])
        shell, patch = ShellTool(executor=execute), ApplyPatchTool(editor=Editor())
        same(asyncio.run(Runner.run(make(shell), "Hi")).final_output, "The tool said sunny\n[exit code 0].")
        same(asyncio.run(Runner.run(make(patch), "Hi")).final_output, "The tool said written.")
        same(seen, [["Rome"], ("create_file", "Rome", "Rome")])

    @case("openai-agents responses", "default model")
    def _():
        same(asyncio.run(Runner.run(Agent(name="a"), "Hi")).final_output, GREETING)

    @case("openai-agents responses", "conversation")
    def _():
        from agents import OpenAIConversationsSession

        async def run():
            session = OpenAIConversationsSession()
            first = await Runner.run(make_agent(), "Hi", session=session)
            second = await Runner.run(make_agent(), "Again", session=session)
            items = await session.get_items()
            await session.pop_item()
            await session.clear_session()
            return first.final_output, second.final_output, len(items)
        make_agent = lambda: Agent(name="a", model=MODEL)
        same(asyncio.run(run()), (GREETING, GREETING, 4))


def llama_cases():
    from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
    from llama_index.core.tools import FunctionTool
    from llama_index.llms.openai import OpenAIResponses
    from llama_index.llms.openai_like import OpenAILike

    def chat(model=MODEL, own=key):
        return OpenAILike(model=model, api_base=base_url, api_key=own, is_chat_model=True, is_function_calling_model=True, max_retries=0)

    def responses(model=MODEL, own=key):
        return OpenAIResponses(model=model, api_base=base_url, api_key=own, max_retries=0)
    weather, time = FunctionTool.from_defaults(get_weather), FunctionTool.from_defaults(get_time)
    for name, make in [("llama-index chat", chat), ("llama-index responses", responses)]:
        if name == "llama-index chat":
            errors(name, lambda model, own, make=make: make(model, own).complete("Hi"))

        @case(name, "text")
        def _(make=make):
            same(make().complete("Hi").text, GREETING)

        @case(name, "stream")
        def _(make=make):
            same("".join(piece.delta or "" for piece in make().stream_chat([ChatMessage("Hi")])), GREETING)

        @case(name, "usage")
        def _(make=make):
            raw = make().chat([ChatMessage("Hi")]).raw
            usage = raw["usage"] if isinstance(raw, dict) else raw.usage
            same(usage.total_tokens, 16)

        @case(name, "tool loop")
        def _(make=make):
            answer = make().predict_and_call([weather], "Hi")
            same(answer.response, "Rome is sunny")

        @case(name, "tool without arguments")
        def _(make=make):
            same(make().predict_and_call([time], "Hi").response, "noon")

        @case(name, "forced tool")
        def _(make=make):
            answer = make().chat_with_tools([weather, time], "Hi", tool_choice="get_time")
            same(make().get_tool_calls_from_response(answer)[0].tool_name, "get_time")

        @case(name, "structured output")
        def _(make=make):
            same(make().as_structured_llm(City).complete("Hi").raw, City(city="Rome", degrees=25))

        @case(name, "image")
        def _(make=make):
            message = ChatMessage(blocks=[TextBlock(text="What?"), ImageBlock(image=base64.b64decode(PNG), image_mimetype="image/png")])
            same(make().chat([message]).message.content, SAW)


def smolagents_cases():
    from smolagents import OpenAIServerModel, ToolCallingAgent, tool
    from smolagents.models import ChatMessage

    def make(model=MODEL, own=key):
        return OpenAIServerModel(model_id=model, api_base=base_url, api_key=own, client_kwargs={"max_retries": 0}, retry=False)
    user = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    errors("smolagents", lambda model, own: make(model, own).generate(user))

    @case("smolagents", "text")
    def _():
        same(make().generate(user).content, GREETING)

    @case("smolagents", "stream")
    def _():
        same("".join(delta.content or "" for delta in make().generate_stream(user)), GREETING)

    @case("smolagents", "usage")
    def _():
        same(make().generate(user).token_usage.input_tokens, 11)

    @case("smolagents", "tool loop")
    def _():
        same(ToolCallingAgent(tools=[tool(get_weather)], model=make(), verbosity_level=0).run("Hi"), "Rome")

    @case("smolagents", "tool without arguments")
    def _():
        same(ToolCallingAgent(tools=[tool(get_time)], model=make(), verbosity_level=0).run("Hi"), "Rome")

    @case("smolagents", "structured output")
    def _():
        form = {"type": "json_schema", "json_schema": {"name": "city", "schema": City.model_json_schema()}}
        same(City.model_validate_json(make().generate(user, response_format=form).content).city, "Rome")

    @case("smolagents", "image")
    def _():
        from PIL import Image
        content = [{"type": "text", "text": "What?"}, {"type": "image", "image": Image.new("RGB", (1, 1))}]
        same(make().generate([{"role": "user", "content": content}]).content, SAW)


def llm_cases():
    folder = tempfile.mkdtemp()
    os.environ["LLM_USER_PATH"] = folder
    models = [{"model_id": f"runnel-{name}", "model_name": name, "api_base": base_url, "vision": True, "supports_schema": True, "supports_tools": True, "api_key_name": "runnel"}
              for name in (MODEL, "no-such-model", f"{MODEL}-fail-bad", f"{MODEL}-fail-quota", f"{MODEL}-fail-context")]
    pathlib.Path(folder, "extra-openai-models.yaml").write_text(json.dumps(models))
    import llm
    model = lambda name=MODEL: llm.get_model(f"runnel-{name}")
    errors("llm", lambda name, own: model(name).prompt("Hi", key=own).text())

    @case("llm", "text")
    def _():
        same(model().prompt("Hi", key=key, stream=False).text(), GREETING)

    @case("llm", "stream")
    def _():
        same("".join(model().prompt("Hi", key=key)), GREETING)

    @case("llm", "usage")
    def _():
        response = model().prompt("Hi", key=key)
        response.text()
        same(response.usage().input, 11)

    @case("llm", "tool loop")
    def _():
        assert model().chain("Hi", tools=[get_weather], key=key).text().endswith("The tool said Rome is sunny.")

    @case("llm", "tool without arguments")
    def _():
        assert model().chain("Hi", tools=[get_time], key=key).text().endswith("The tool said noon.")

    @case("llm", "structured output")
    def _():
        same(City.model_validate_json(model().prompt("Hi", schema=City, key=key).text()).city, "Rome")

    @case("llm", "image")
    def _():
        same(model().prompt("What?", attachments=[llm.Attachment(type="image/png", content=base64.b64decode(PNG))], key=key).text(), SAW)


run_cases(openai_cases, litellm_cases, langchain_cases, instructor_cases, pydantic_cases, agents_cases, llama_cases, smolagents_cases, llm_cases)
