// Node programs for AG-UI against Runnel: each feature of each client.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { HttpAgent } from "@ag-ui/client";
import { CopilotKitCore } from "@copilotkit/core";
import { CopilotRuntime, createCopilotRuntimeHandler, InMemoryAgentRunner } from "@copilotkit/runtime/v2";
import { HttpAgent as OldHttpAgent } from "ag-ui-client-0";
import { z } from "zod";
import {
  add,
  baseURL,
  emptySchema,
  getTime,
  getWeather,
  greeting,
  key,
  png,
  runCases,
  same,
  saw,
  weatherSchema,
} from "./checks.mjs";

process.env.COPILOTKIT_TELEMETRY_DISABLED = "true";
// Without a window, CopilotKit's core asks for no agents.
globalThis.window = {};
const weather = { name: "get_weather", description: "The weather", parameters: weatherSchema };
const time = { name: "get_time", description: "The time", parameters: emptySchema };
const authorize = (own) => ({ authorization: `Bearer ${own}` });
const picture = [
  { type: "text", text: "What is it?" },
  { type: "image", source: { type: "data", value: png, mimeType: "image/png" } },
];
const turns = [
  ["user", "Hi"],
  ["assistant", greeting],
];

function say(agent, content = "Hi") {
  agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
}

const textsOf = ({ messages }) => messages.map(({ role, content }) => [role, content]);
const lastOf = ({ messages }) => messages.at(-1).content;

/** Adds the features of a program. `open` returns an agent by the name of its preset; `run` runs it and returns its events. */
function addProgram(name, { open, run, askWeather, askTime, join, ...others }) {
  add(name, {
    errors: async () => {
      for (const [preset, code] of [
        ["bad", "invalid_request"],
        ["quota", "quota"],
        ["context", "context_length"],
      ]) {
        const agent = await open(preset);
        say(agent);
        const events = await run(agent);
        same([preset, events.at(-1).type, events.at(-1).code], [preset, "RUN_ERROR", code]);
      }
      await others.refused();
    },
    text: async () => {
      const agent = await open("default");
      say(agent);
      await run(agent);
      same(textsOf(agent), turns);
    },
    stream: async () => {
      const agent = await open("default");
      say(agent);
      const pieces = (await run(agent)).filter(({ type }) => type === "TEXT_MESSAGE_CONTENT");
      same(pieces.map(({ delta }) => delta).join(""), greeting);
    },
    usage: async () => {
      const agent = await open("default");
      say(agent);
      const { usage } = (await run(agent)).at(-1);
      same(usage?.[0]?.totalTokens, 16);
    },
    thread: async () => {
      const agent = await open("default");
      say(agent);
      await run(agent);
      say(agent);
      await run(agent);
      same(textsOf(agent), [...turns, ...turns]);
    },
    "tool loop": async () => {
      const agent = await open("default");
      say(agent);
      await askWeather(agent);
      same(agent.messages.find(({ role }) => role === "tool").content, "Rome is sunny");
      same(lastOf(agent), "The tool said Rome is sunny.");
    },
    "tool without arguments": async () => {
      const agent = await open("default");
      say(agent);
      await askTime(agent);
      same(lastOf(agent), "The tool said noon.");
    },
    state: async () => {
      const agent = await open("stateful");
      agent.setState({ own: 1 });
      say(agent);
      await run(agent);
      same(agent.state, { own: 1, runnel: { conversation: { Rome: {} } } });
      same(lastOf(agent), "The tool said Set Rome.");
    },
    image: async () => {
      const agent = await open("default");
      say(agent, picture);
      await run(agent);
      same(lastOf(agent), saw);
    },
    interrupt: async () => {
      for (const [approved, wanted] of [
        [true, /^The tool said Set Rome\.$/],
        [false, /^The tool said .*reject/],
      ]) {
        const agent = await open("careful");
        say(agent);
        const { outcome } = (await run(agent)).at(-1);
        const answers = outcome.interrupts.map(({ id }) => ({
          interruptId: id,
          status: "resolved",
          payload: { approved },
        }));
        same(answers.length, 1);
        await run(agent, { resume: answers });
        assert.match(lastOf(agent), wanted);
      }
    },
    join: async () => {
      const agent = await open("default");
      say(agent);
      const [{ runId }] = await run(agent);
      const late = await open("default");
      late.threadId = agent.threadId;
      await join(late, { runId });
      same(textsOf(late).slice(-2), turns);
    },
    ...(others.cancel && { cancel: others.cancel }),
  });
}

/** Runs an agent by its own method. Returns the events. */
async function runAgent(agent, input = {}) {
  const events = [];
  // The old client rejects after RUN_ERROR.
  await agent.runAgent(input, { onEvent: ({ event }) => void events.push(event) }).catch((error) => {
    if (events.at(-1)?.type !== "RUN_ERROR") {
      throw error;
    }
  });
  return events;
}

/** Answers each call of the program's tool, as its author would. */
async function loop(agent, tool, answer) {
  await runAgent(agent, { tools: [tool] });
  const call = agent.messages.at(-1).toolCalls[0];
  const content = await answer(JSON.parse(call.function.arguments));
  agent.addMessage({ id: crypto.randomUUID(), role: "tool", toolCallId: call.id, content });
  await runAgent(agent, { tools: [tool] });
}

for (const [name, Agent] of [
  ["@ag-ui/client", HttpAgent],
  ["@ag-ui/client 0.0.59", OldHttpAgent],
]) {
  const open = async (preset, own = key) => new Agent({ url: `${baseURL}/${preset}`, headers: authorize(own) });
  addProgram(name, {
    open,
    run: runAgent,
    askWeather: (agent) => loop(agent, weather, getWeather),
    askTime: (agent) => loop(agent, time, getTime),
    join: (agent, { runId }) => {
      say(agent);
      return agent.runAgent({ runId });
    },
    refused: async () => {
      for (const [preset, own, status] of [
        ["default", "wrong", 401],
        ["unknown", key, 404],
      ]) {
        const agent = await open(preset, own);
        say(agent);
        await assert.rejects(agent.runAgent(), (error) => error.message.includes(`${status}`));
      }
    },
  });
}

/** Starts CopilotKit's runtime in front of the agents, and returns its URL. */
async function startRuntime() {
  const presets = ["default", "stateful", "careful", "bad", "quota", "context"];
  const { HttpAgent: Own } = createRequire(import.meta.resolve("@copilotkit/runtime"))("@ag-ui/client");
  const agents = Object.fromEntries(
    presets.map((preset) => [preset, new Own({ url: `${baseURL}/${preset}`, headers: authorize(key) })]),
  );
  const runtime = new CopilotRuntime({ agents, runner: new InMemoryAgentRunner() });
  const handle = createCopilotRuntimeHandler({ runtime, basePath: "/api" });
  const server = createServer(async (request, response) => {
    const { method, headers } = request;
    const body = method === "GET" ? {} : { body: Readable.toWeb(request), duplex: "half" };
    const answered = await handle(new Request(`http://runtime${request.url}`, { method, headers, ...body }));
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    await pipeline(Readable.from(answered.body ?? []), response).catch(() => undefined);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}/api`;
}

const cores = new WeakMap();

/** Opens CopilotKit's core, and waits until it knows the agents of its runtime. */
async function openCore(runtimeUrl, own = key) {
  const core = new CopilotKitCore({ runtimeUrl, runtimeTransport: "rest", headers: authorize(own) });
  const problems = [];
  core.subscribe({ onError: ({ error }) => void problems.push(error.message) });
  while (core.runtimeConnectionStatus === "connecting") {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return { core, problems };
}

/** Runs an agent whose core calls a tool of the program. */
async function runWith(agent, tool, parameters, handler) {
  cores.get(agent).setTools([{ ...tool, parameters, handler }]);
  await cores.get(agent).runAgent({ agent });
}

function addCopilotKit(name, runtimeUrl, more) {
  addProgram(name, {
    open: async (preset) => {
      const { core } = await openCore(runtimeUrl);
      const agent = core.getAgent(preset);
      agent.threadId = crypto.randomUUID();
      cores.set(agent, core);
      return agent;
    },
    run: async (agent, input = {}) => {
      const events = [];
      const { unsubscribe } = agent.subscribe({ onEvent: ({ event }) => void events.push(event) });
      await cores.get(agent).runAgent({ agent, ...input });
      unsubscribe();
      return events;
    },
    askWeather: (agent) => runWith(agent, weather, z.object({ city: z.string() }), getWeather),
    askTime: (agent) => runWith(agent, time, z.object({}), getTime),
    join: (agent) => cores.get(agent).connectAgent({ agent }),
    ...more,
  });
}

const copilotKit = "@copilotkit/core";
addCopilotKit(copilotKit, baseURL, {
  refused: async () => {
    const { problems } = await openCore(baseURL, "wrong");
    assert.match(problems.join(), /401/);
  },
  cancel: async () => {
    const { core } = await openCore(baseURL);
    const agent = core.getAgent("slow");
    say(agent);
    agent.subscribe({ onTextMessageContentEvent: () => core.stopAgent({ agent }) });
    await core.runAgent({ agent });
  },
});
addCopilotKit("@copilotkit/runtime", await startRuntime(), { refused: async () => {} });
await runCases();
