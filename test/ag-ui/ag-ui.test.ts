// The acceptance list of AG-UI, by the official clients.

import { type BaseEvent, HttpAgent } from "@ag-ui/client";
import { describe, expect, test } from "vitest";
import { resumingFetch } from "../../clients/typescript/src/ag-ui/resuming-fetch.ts";
import { answer, callTools, hangAfter } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { createHeldClock } from "../harness/held-clock.ts";
import { until } from "../harness/wait.ts";
import { ask, clients, openAgent, setAgUiStage, textsOf } from "./stage.ts";

const weather = { name: "get_weather", description: "Weather", parameters: { type: "object", properties: {} } };
const helper = ['helper={"systemPrompt":"Be kind.","tools":{"builtin":["list_dir","read_file"]}}'];

const heartbeatMs = 15_000;

function countBeats(text: string): number {
  return text.split(": heartbeat\n\n").length - 1;
}

/** A fetch that keeps the text of its answers. */
function listeningFetch(heard: { text: string }): typeof fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    const listen = new TransformStream<string, string>({
      transform: (text, controller) => {
        heard.text += text;
        controller.enqueue(text);
      },
    });
    return passThrough(response, listen);
  };
}

/** Returns the response with a body that has gone through a stream. */
function passThrough(response: Response, stream: TransformStream<string, string>): Response {
  const body = response.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(stream)
    .pipeThrough(new TextEncoderStream());
  return new Response(body, response);
}

describe.each(clients)("$name", ({ Agent, isV1 }) => {
  test("reasoning, two tools in parallel, text: the messages are the thread's, without a warning", async () => {
    const { service, provider, printed } = await setAgUiStage({ agentPresets: helper });
    provider.respond((wire) => {
      wire.reasoning("Let me look");
      wire.text("Looking. ");
      void callTools(
        { id: "c1", name: "list_dir", arguments: '{"path":"."}' },
        { id: "c2", name: "read_file", arguments: '{"file_path":"x"}' },
      )(wire, undefined as never);
    }, answer("All done"));
    const agent = openAgent(Agent, service.url, { preset: "helper" });
    ask(agent, "Look", "u1");
    const events: BaseEvent[] = [];
    await agent.runAgent({ runId: "r1" }, { onEvent: ({ event }) => void events.push(event) });
    expect(printed).toEqual([]);
    expect(events[0]).toMatchObject({ type: "RUN_STARTED", threadId: "thread-1", runId: "r1" });
    expect(events.at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      outcome: { type: "success" },
      result: { output: "All done" },
    });
    const spoken = agent.messages.filter(({ role }) => role !== "reasoning");
    expect(spoken.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
    expect(spoken[1]).toMatchObject({ content: "Looking. ", toolCalls: [{ id: "c1" }, { id: "c2" }] });
    expect(spoken[3]).toMatchObject({ toolCallId: "c2", content: expect.stringMatching(/^Error: /) });
    expect(spoken[4]).toMatchObject({ content: "All done" });
    const { body } = await provider.request(0);
    expect(body.messages[0]).toMatchObject({ role: "system", content: "Be kind." });
  });

  test("the second run of a thread brings only what is new to the model", async () => {
    const { service, provider, printed } = await setAgUiStage();
    provider.respond(answer("one"), answer("two"));
    const agent = openAgent(Agent, service.url);
    ask(agent, "1");
    await agent.runAgent({ context: [{ description: "Page", value: "home" }] });
    ask(agent, "2");
    await agent.runAgent();
    expect(textsOf(agent)).toEqual([
      ["user", "1"],
      ["assistant", "one"],
      ["user", "2"],
      ["assistant", "two"],
    ]);
    const [first, second] = provider.requests.map(({ body }) => body.messages.map(({ content }) => content));
    expect(first).toEqual(["Page:\nhome", "1"]);
    expect(second).toEqual(["1", "one", "2"]);
    expect(printed).toEqual([]);
  });

  test("a failed run calls onRunErrorEvent with the cause of the model's failure, and keeps the partial text", async () => {
    const { service, provider } = await setAgUiStage();
    provider.respond((wire) => {
      wire.text("half");
      wire.raw('data: {"error":{"message":"broken","type":"overloaded_error"}}\n\n');
    }, answer("fine"));
    const agent = openAgent(Agent, service.url);
    ask(agent, "1");
    const errors: unknown[] = [];
    await agent.runAgent({}, { onRunErrorEvent: ({ event }) => void errors.push(event) }).catch(() => undefined);
    expect(errors).toMatchObject([{ type: "RUN_ERROR", code: "overloaded" }]);
    expect(textsOf(agent).slice(0, 2)).toEqual([
      ["user", "1"],
      ["assistant", "half"],
    ]);
    ask(agent, "2");
    await agent.runAgent();
    expect(textsOf(agent).at(-1)).toEqual(["assistant", "fine"]);
    expect((await provider.request(provider.requests.length - 1)).body.messages.map(({ content }) => content)).toEqual([
      "1",
      "2",
    ]);
  });

  test("a cancel from elsewhere ends the run", async () => {
    const { service, provider } = await setAgUiStage();
    provider.respond(hangAfter("half"));
    const agent = openAgent(Agent, service.url);
    ask(agent, "1");
    const events: BaseEvent[] = [];
    const running = agent.runAgent({}, { onEvent: ({ event }) => void events.push(event) }).catch(() => undefined);
    await until("the text", () => events.some(({ type }) => type === "TEXT_MESSAGE_CONTENT"));
    const stopped = await fetch(`${service.url}/v1/ag-ui/agent/default/stop/thread-1`, {
      method: "POST",
      headers: credentialsOf(),
    });
    expect(stopped.status).toBe(200);
    await running;
    expect(events.at(-1)).toMatchObject(
      isV1 ? { type: "RUN_FINISHED", outcome: { type: "cancelled" } } : { type: "RUN_ERROR", code: "cancelled" },
    );
  });

  test("refusals reject with their status, and start nothing", async () => {
    const { service, provider } = await setAgUiStage({ sessionsClientMaxConcurrent: 2 });
    provider.respond(
      (wire) => wire.hang(),
      (wire) => wire.hang(),
    );
    const wrong = new Agent({ url: `${service.url}/v1/ag-ui/default`, headers: { authorization: "Bearer wrong" } });
    ask(wrong, "1");
    await expect(wrong.runAgent()).rejects.toThrow(/401/);
    const lost = openAgent(Agent, service.url, { preset: "unknown" });
    ask(lost, "1");
    await expect(lost.runAgent()).rejects.toThrow(/404/);
    const begin = async (threadId: string, position: number) => {
      const agent = openAgent(Agent, service.url, { threadId });
      ask(agent, "1");
      void agent.runAgent().catch(() => undefined);
      await provider.request(position);
      return agent;
    };
    const busy = await begin("thread-1", 0);
    const second = openAgent(Agent, service.url);
    second.setMessages(busy.messages.slice(0, 1));
    ask(second, "2");
    await expect(second.runAgent()).rejects.toThrow(/409.*SESSION_BUSY/);
    await begin("thread-2", 1);
    const third = openAgent(Agent, service.url, { threadId: "thread-3" });
    ask(third, "1");
    await expect(third.runAgent()).rejects.toThrow(/429/);
    expect(await query(service.databaseUrl, "select from run")).toHaveLength(2);
    for (const threadId of ["thread-1", "thread-2"]) {
      await fetch(`${service.url}/v1/ag-ui/agent/default/stop/${threadId}`, {
        method: "POST",
        headers: credentialsOf(),
      });
    }
  });

  test("an input that is larger than the limit rejects with 413, and starts nothing", async () => {
    const { service } = await setAgUiStage({ serverMaxBodyBytes: 1_024 });
    const agent = openAgent(Agent, service.url);
    ask(agent, "x".repeat(1_024));
    await expect(agent.runAgent()).rejects.toThrow(/413/);
    expect(await query(service.databaseUrl, "select from run")).toEqual([]);
  });

  test("a silent minute: heartbeats arrive, no event does, and the run goes on", async () => {
    const { clock, pass } = createHeldClock(heartbeatMs);
    const { service, provider, printed } = await setAgUiStage({}, { clock });
    const gate = Promise.withResolvers<void>();
    provider.respond(async (wire) => {
      wire.text("before, ");
      await gate.promise;
      wire.text("after");
      wire.done("stop");
    });
    const wire = { text: "" };
    const agent = openAgent(Agent, service.url, { fetch: listeningFetch(wire) });
    ask(agent, "1");
    const events: BaseEvent[] = [];
    const running = agent.runAgent({}, { onEvent: ({ event }) => void events.push(event) });
    await until("the text", () => events.some(({ type }) => type === "TEXT_MESSAGE_CONTENT"));
    const [before, beats] = [events.length, countBeats(wire.text)];
    for (let beat = 1; beat <= 60_000 / heartbeatMs; beat++) {
      pass();
      await until(`heartbeat ${beat}`, () => countBeats(wire.text) === beats + beat);
    }
    expect(events).toHaveLength(before);
    gate.resolve();
    await running;
    expect(textsOf(agent).at(-1)).toEqual(["assistant", "before, after"]);
    expect(printed).toEqual([]);
  });

  test("the same runId twice, at once, is one run, and both get all of it", async () => {
    const { service, provider } = await setAgUiStage();
    provider.respond(answer("only one"), answer("wrong"));
    const agents = [openAgent(Agent, service.url), openAgent(Agent, service.url)];
    for (const agent of agents) {
      ask(agent, "1", "u1");
    }
    await Promise.all(agents.map((agent) => agent.runAgent({ runId: "r1" })));
    for (const agent of agents) {
      expect(textsOf(agent)).toEqual([
        ["user", "1"],
        ["assistant", "only one"],
      ]);
    }
    expect(await query(service.databaseUrl, "select from run")).toHaveLength(1);
  });

  test("joining in mid-sentence shows the sentence whole, and once", async () => {
    const { service, provider } = await setAgUiStage();
    const gate = Promise.withResolvers<void>();
    provider.respond(async (wire) => {
      wire.text("The first half, ");
      await gate.promise;
      wire.text("the second half");
      wire.done("stop");
    });
    const first = openAgent(Agent, service.url);
    ask(first, "1", "u1");
    const seen: BaseEvent[] = [];
    const running = first.runAgent({ runId: "r1" }, { onEvent: ({ event }) => void seen.push(event) });
    await until("the text", () => seen.some(({ type }) => type === "TEXT_MESSAGE_CONTENT"));
    const second = openAgent(Agent, service.url);
    const heard: BaseEvent[] = [];
    const joining = second.runAgent({ runId: "r1" }, { onEvent: ({ event }) => void heard.push(event) });
    await until("the snapshot", () => heard.some(({ type }) => type === "TEXT_MESSAGE_START"));
    gate.resolve();
    await Promise.all([running, joining]);
    const whole = [
      ["user", "1"],
      ["assistant", "The first half, the second half"],
    ];
    expect(textsOf(first)).toEqual(whole);
    expect(textsOf(second)).toEqual(whole);
    const late = openAgent(Agent, service.url);
    await late.runAgent({ runId: "r1" });
    expect(textsOf(late)).toEqual(whole);
  });

  test("a front-end tool beside a tool of the service: call, result, answer", async () => {
    const { service, provider, printed } = await setAgUiStage({ agentPresets: helper });
    provider.respond(
      callTools(
        { id: "c1", name: "list_dir", arguments: '{"path":"."}' },
        { id: "c2", name: "get_weather", arguments: '{"city":"Rome"}' },
      ),
      answer("Sunny"),
    );
    const agent = openAgent(Agent, service.url, { preset: "helper" });
    ask(agent, "Weather?");
    const events: BaseEvent[] = [];
    await agent.runAgent({ tools: [weather] }, { onEvent: ({ event }) => void events.push(event) });
    expect(events.at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      outcome: isV1 ? { type: "success", pendingToolCallIds: ["c2"] } : { type: "success" },
    });
    expect(agent.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    agent.addMessage({ id: "t1", role: "tool", toolCallId: "c2", content: "25" });
    await agent.runAgent({ tools: [weather] });
    expect(textsOf(agent).at(-1)).toEqual(["assistant", "Sunny"]);
    expect((await provider.request(1)).body.messages.slice(-2)).toMatchObject([
      { tool_call_id: "c1" },
      { tool_call_id: "c2", content: "25" },
    ]);
    expect(printed).toEqual([]);
  });

  test("a tool whose name the preset has is refused by RUN_ERROR", async () => {
    const { service } = await setAgUiStage({ agentPresets: helper });
    const agent = openAgent(Agent, service.url, { preset: "helper" });
    ask(agent, "1");
    const errors: unknown[] = [];
    const tools = [{ ...weather, name: "list_dir" }];
    await agent.runAgent({ tools }, { onRunErrorEvent: ({ event }) => void errors.push(event) }).catch(() => undefined);
    expect(errors).toMatchObject([
      { code: "INVALID_ARGUMENT", message: expect.stringContaining("already registered") },
    ]);
    expect(await query(service.databaseUrl, "select from run")).toEqual([]);
  });

  test("an edited history is a fork, and the old thread is unchanged", async () => {
    const { service, provider } = await setAgUiStage();
    provider.respond(answer("one"), answer("two"), answer("other two"), answer("three"));
    const agent = openAgent(Agent, service.url);
    ask(agent, "1", "u1");
    await agent.runAgent({ runId: "r1" });
    ask(agent, "2", "u2");
    await agent.runAgent({ runId: "r2" });
    const edited = openAgent(Agent, service.url);
    edited.setMessages(agent.messages.slice(0, 2));
    ask(edited, "2, but better", "u3");
    const events: BaseEvent[] = [];
    await edited.runAgent({ runId: "r3" }, { onEvent: ({ event }) => void events.push(event) });
    expect(events[0]).toMatchObject({ type: "RUN_STARTED", runId: "r3", parentRunId: "r1" });
    expect(textsOf(edited).map(([, content]) => content)).toEqual(["1", "one", "2, but better", "other two"]);
    ask(edited, "3", "u4");
    await edited.runAgent({ runId: "r4" });
    expect((await provider.request(3)).body.messages.map(({ content }) => content)).toEqual([
      "1",
      "one",
      "2, but better",
      "other two",
      "3",
    ]);
    const rows = await query<{ name: string; count: string }>(
      service.databaseUrl,
      "select session.name, count(*)::int from transcript join session on session.id = session group by 1 order by 1",
    );
    expect(rows).toEqual([
      { name: "thread-1", count: 4 },
      { name: "thread-1_fork1", count: 6 },
    ]);
  });

  test("an edited history that is refused leaves the thread as it is", async () => {
    const { service, provider } = await setAgUiStage();
    provider.respond(answer("one"), answer("other one"));
    const agent = openAgent(Agent, service.url);
    ask(agent, "1", "u1");
    await agent.runAgent({ runId: "r1" });
    const edit = async (tools: Parameters<typeof agent.runAgent>[0]) => {
      const edited = openAgent(Agent, service.url);
      ask(edited, "1, but better", "u2");
      await edited.runAgent(tools).catch(() => undefined);
      return textsOf(edited).map(([, content]) => content);
    };
    expect(await edit({ runId: "r2", tools: [{ ...weather, name: "no name" }] })).toEqual(["1, but better"]);
    const names = () =>
      query<{ name: string }>(service.databaseUrl, "select name from session where delete_time is null");
    expect(await names()).toEqual([{ name: "thread-1" }]);
    expect(await edit({ runId: "r3" })).toEqual(["1, but better", "other one"]);
    expect((await names()).map(({ name }) => name).sort()).toEqual(["thread-1", "thread-1_fork1"]);
  });

  test("another answer to the same message is a fork as well", async () => {
    const { service, provider } = await setAgUiStage();
    provider.respond(answer("one"), answer("other one"));
    const agent = openAgent(Agent, service.url);
    ask(agent, "1", "u1");
    await agent.runAgent();
    agent.setMessages(agent.messages.slice(0, 1));
    await agent.runAgent();
    expect(textsOf(agent)).toEqual([
      ["user", "1"],
      ["assistant", "other one"],
    ]);
    expect((await provider.request(1)).body.messages.map(({ content }) => content)).toEqual(["1"]);
  });

  test("another key's thread is a thread of its own", async () => {
    const { service, provider } = await setAgUiStage();
    provider.respond(answer("one"), answer("for you"));
    const agent = openAgent(Agent, service.url);
    ask(agent, "1");
    await agent.runAgent();
    const stranger = openAgent(Agent, service.url, { clientId: "stranger" });
    ask(stranger, "mine");
    await stranger.runAgent();
    expect((await provider.request(1)).body.messages.map(({ content }) => content)).toEqual(["mine"]);
  });

  test("an answer to an interrupt that is not open is refused by RUN_ERROR, and starts nothing", async () => {
    const { service } = await setAgUiStage();
    const agent = openAgent(Agent, service.url);
    ask(agent, "1");
    const errors: unknown[] = [];
    const resume = [{ interruptId: "unknown", status: "resolved", payload: { approved: true } }] as const;
    await agent
      .runAgent({ resume: [...resume] }, { onRunErrorEvent: ({ event }) => void errors.push(event) })
      .catch(() => undefined);
    expect(errors).toMatchObject([{ code: "interrupt_unknown" }]);
    expect(await query(service.databaseUrl, "select from run")).toEqual([]);
  });
});

describe("the wire", () => {
  const post = async (url: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    await fetch(`${url}/v1/ag-ui/default`, {
      method: "POST",
      headers: { ...credentialsOf(), "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const input = {
    threadId: "t",
    runId: "r",
    protocolVersion: "1.0",
    messages: [{ id: "u", role: "user", content: "1" }],
    tools: [],
    context: [],
  };

  test("goes on after Last-Event-ID at every place", async () => {
    const { service, provider } = await setAgUiStage();
    provider.respond((wire) => {
      wire.reasoning("hm");
      wire.text("a ");
      wire.text("b");
      wire.done("stop");
    });
    const whole = await (await post(service.url, input)).text();
    const frames = whole.split("\n\n").filter((frame) => frame.startsWith("id: "));
    expect(frames.length).toBeGreaterThan(6);
    for (const [index, frame] of frames.slice(0, -1).entries()) {
      const id = /^id: (.*)$/m.exec(frame)?.[1] ?? "";
      const rest = await (await post(service.url, input, { "last-event-id": id })).text();
      expect(rest.split("\n\n").filter((each) => each.startsWith("id: "))).toEqual(frames.slice(index + 1));
    }
    expect(whole).not.toContain("\r");
  });

  test("a service that stops ends the run with the error resume", async () => {
    const { service, provider } = await setAgUiStage({}, { own: true });
    provider.respond(hangAfter("half"));
    const agent = openAgent(HttpAgent, service.url);
    ask(agent, "Hi");
    const events: BaseEvent[] = [];
    const running = agent.runAgent({}, { onEvent: ({ event }) => void events.push(event) }).catch(() => undefined);
    await until("the text", () => events.some(({ type }) => type === "TEXT_MESSAGE_CONTENT"));
    await service.close();
    await running;
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "resume" });
  });

  test("our fetch makes one whole run of a connection that is cut at every tenth event", async () => {
    const { service, provider, printed } = await setAgUiStage();
    provider.respond((wire) => {
      for (let word = 0; word < 40; word++) {
        wire.reasoning(`hm${word} `);
        wire.text(`word${word} `);
      }
      wire.done("stop");
    });
    let calls = 0;
    const cutting: typeof fetch = async (url, init) => {
      calls += 1;
      const response = await fetch(url, init);
      let frames = 0;
      const cut = new TransformStream<string, string>({
        transform: (text, controller) => {
          for (const frame of text.split(/(?<=\n\n)/)) {
            // Half of a frame is the last thing that arrives.
            controller.enqueue(frames < 10 ? frame : frame.slice(0, frame.length / 2));
            frames += frame.startsWith("id: ") ? 1 : 0;
            if (frames > 10) {
              controller.terminate();
              return;
            }
          }
        },
      });
      return passThrough(response, cut);
    };
    const agent = openAgent(HttpAgent, service.url, { fetch: resumingFetch({ fetch: cutting, delayMs: 1 }) });
    ask(agent, "Hi");
    await agent.runAgent();
    expect(textsOf(agent).filter(([role]) => role === "assistant")).toEqual([
      ["assistant", Array.from({ length: 40 }, (_, word) => `word${word} `).join("")],
    ]);
    expect(calls).toBeGreaterThan(3);
    expect(printed).toEqual([]);
  });

  test("connect sends the finished thread, and nothing for an unknown one", async () => {
    const { service, provider } = await setAgUiStage();
    provider.respond(answer("one"));
    await (await post(service.url, input)).text();
    const connect = async (threadId: string) => {
      const response = await fetch(`${service.url}/v1/ag-ui/agent/default/connect`, {
        method: "POST",
        headers: { ...credentialsOf(), "content-type": "application/json" },
        body: JSON.stringify({ ...input, threadId, messages: [] }),
      });
      return (await response.text())
        .split("\n")
        .flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
    };
    expect(await connect("t")).toMatchObject([
      { type: "RUN_STARTED", runId: "r" },
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [
          { role: "user", content: "1" },
          { role: "assistant", content: "one" },
        ],
      },
      { type: "STEP_STARTED" },
      { type: "STEP_FINISHED" },
      { type: "RUN_FINISHED", outcome: { type: "success" } },
    ]);
    expect((await connect("unknown")).map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "MESSAGES_SNAPSHOT",
      "RUN_FINISHED",
    ]);
  });

  test("names of the input as the Python types take them", async () => {
    const { service, provider } = await setAgUiStage();
    provider.respond(answer("Sunny"));
    const call = { id: "c1", type: "function", function: { name: "get_weather", arguments: "{}" } };
    const messages = [
      { id: "u1", role: "user", content: "Weather?" },
      { id: "a1", role: "assistant", tool_calls: [call] },
      { id: "t1", role: "tool", tool_call_id: "c1", content: "25" },
    ];
    const body = JSON.stringify({ thread_id: "thread-1", run_id: "r1", protocol_version: "1.0", messages });
    const answered = await fetch(`${service.url}/v1/ag-ui/default`, { method: "POST", headers: credentialsOf(), body });
    expect(await answered.text()).toContain('"type":"RUN_FINISHED","threadId":"thread-1","runId":"r1"');
    expect((await provider.request(0)).body.messages.slice(-2)).toMatchObject([
      { tool_calls: [{ id: "c1" }] },
      { tool_call_id: "c1", content: "25" },
    ]);
  });

  test("info names the presets; a body that is no input is refused by its field", async () => {
    const { service } = await setAgUiStage({ agentPresets: helper });
    const info = await fetch(`${service.url}/v1/ag-ui/info`, { headers: credentialsOf() });
    expect(await info.json()).toMatchObject({ agents: { helper: { name: "helper" } } });
    const system = { role: "system", id: "s1", content: "Be kind." };
    for (const [input, problem] of [
      ["[]", "invalid the body: must be an object"],
      ['{"threadId":"t"}', "invalid runId: is missing: give a text that is not empty"],
      ['{"threadId":"t","runId":"r","tools":{}}', "invalid tools: must be a list"],
      ['{"threadId":"t","runId":"r","resume":[{"interruptId":"i"}]}', "invalid resume[0].payload: must be an object"],
      // The place in the request, not among the messages that are no instructions.
      [JSON.stringify({ threadId: "t", runId: "r", messages: [system, { role: "user" }] }), "invalid messages[1].id: "],
    ] as const) {
      const refused = await fetch(`${service.url}/v1/ag-ui/helper`, {
        method: "POST",
        headers: credentialsOf(),
        body: input,
      });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ error: expect.stringContaining(problem) });
    }
  });
});
