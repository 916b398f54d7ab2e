# Python programs for AG-UI against Runnel: each feature of each client.

import asyncio

import httpx
from checks import GREETING, PNG, SAW, base_url, case, get_time, get_weather, key, raises, run_cases, same


# Microsoft's Agent Framework: an agent whose model is an agent of AG-UI.
def agent_framework_cases():
    from agent_framework import Agent, Content, Message
    from agent_framework.ag_ui import AGUIChatClient
    name = "agent-framework-ag-ui"

    def open_client(preset="default", own=key):
        http = httpx.AsyncClient(headers={"Authorization": f"Bearer {own}"}, timeout=60)
        return AGUIChatClient(endpoint=f"{base_url}/{preset}", http_client=http)

    def ask(preset="default", content="Hi", **more):
        return asyncio.run(Agent(client=open_client(preset), **more).run(content))

    @case(name, "errors")
    def _():
        for preset, text in [("bad", "bad request"), ("quota", "no credits"), ("context", "too long")]:
            errors = [each for message in ask(preset).messages for each in message.contents if each.type == "error"]
            assert len(errors) == 1 and text in errors[0].message, f"{preset}: {errors}"
        for preset, own, status in [("default", "wrong", 401), ("unknown", key, 404)]:
            # This client raises ResponseNotRead when it wants to log a refusal. The refusal is its context.
            refused = raises(httpx.ResponseNotRead, lambda: asyncio.run(open_client(preset, own).get_response("Hi")))
            same(refused.__context__.response.status_code, status)

    @case(name, "text")
    def _():
        same(ask().text, GREETING)

    @case(name, "stream")
    def _():
        async def run():
            return [update.text async for update in Agent(client=open_client()).run("Hi", stream=True) if update.text]
        same("".join(asyncio.run(run())), GREETING)

    @case(name, "thread")
    def _():
        async def run():
            agent = Agent(client=open_client())
            session = agent.create_session()
            return [(await agent.run(text, session=session)).text for text in ["One", "Two"]]
        same(asyncio.run(run()), [GREETING, GREETING])

    @case(name, "tool loop")
    def _():
        same(ask(tools=[get_weather]).text, "The tool said Rome is sunny.")

    @case(name, "tool without arguments")
    def _():
        same(ask(tools=[get_time]).text, "The tool said noon.")

    @case(name, "image")
    def _():
        parts = [Content.from_text("What is it?"), Content.from_uri(f"data:image/png;base64,{PNG}", media_type="image/png")]
        same(ask(content=Message("user", parts)).text, SAW)

    @case(name, "interrupt")
    def _():
        async def run(approved):
            client, options = open_client("careful"), {"metadata": {"thread_id": f"interrupt-{approved}"}}
            first = await client.get_response([Message("user", ["Hi"])], options=options)
            [interrupt] = first.additional_properties["interrupts"]
            answer = {"interruptId": interrupt["id"], "status": "resolved", "payload": {"approved": approved}}
            return (await client.get_response([], options={**options, "resume": [answer]})).text
        same(asyncio.run(run(True)), "The tool said Set Rome.")
        assert "reject" in asyncio.run(run(False))


run_cases(agent_framework_cases)
