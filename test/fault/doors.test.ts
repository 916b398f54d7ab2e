// One run, read at the same time by the official client of each protocol while its service is killed with -9: all end with the same text.

import { HttpAgent } from "@ag-ui/client";
import { stream } from "@durable-streams/client";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { EventSource } from "eventsource";
import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { resumingFetch } from "../../clients/typescript/src/ag-ui/resuming-fetch.ts";
import { as, bindings, connect, TaskReader } from "../a2a/stage.ts";
import { openAgent, textsOf } from "../ag-ui/stage.ts";
import { anthropicClient } from "../anthropic/stage.ts";
import { answer, hangAfter } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { until } from "../harness/wait.ts";
import { openAiClient } from "../openai/stage.ts";
import { type Member, openCluster, openProvider } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";

const half = "The board between them";
const whole = `${half} will not stay.`;
const session = "one-run";
const patienceMs = 40_000;

interface Place {
  readonly member: Member;
  readonly runId: string;
  /** Takes the text so far. */
  readonly seen: (text: string) => void;
}

/** Each reads to the end, and returns the text. */
const readers: Readonly<Record<string, (place: Place) => Promise<string>>> = {
  gRPC: readGrpc,
  SSE: readSse,
  ...Object.fromEntries(bindings.map((binding) => [`A2A ${binding}`, (place: Place) => readA2a(place, binding)])),
  MCP: readMcp,
  OpenAI: readOpenAi,
  "AG-UI": readAgUi,
  "Durable Streams": readDurableStream,
};

test("ten official clients end with the same text", { timeout: 120_000 }, async () => {
  const { provider, environment } = await openProvider();
  provider.respond(hangAfter(half), answer(whole));
  const [port] = await findFreePorts(1);
  const cluster = await openCluster({ ...environment, RUNNEL_SERVER_PORT: String(port) });
  const member = await cluster.start();
  const waiting = new Set(["Anthropic", ...Object.keys(readers)]);
  const seenBy = (door: string) => (text: string) => {
    if (text === half) {
      waiting.delete(door);
    }
  };
  const { runId, text } = await beginAnthropic(member.url, seenBy("Anthropic"));
  const reading = Object.entries(readers).map(([door, read]) => read({ member, runId, seen: seenBy(door) }));
  await until("every door to have the half", () => waiting.size === 0, patienceMs);
  await member.kill();
  await cluster.start();
  expect(await Promise.all([text, ...reading])).toEqual(Array(10).fill(whole));
  await expectInvariants(cluster.databaseUrl);
});

/** Reads again after each break. Throws the last break when the end does not come. */
async function again<T>(read: () => Promise<T | undefined>): Promise<T> {
  let cause: unknown;
  const tried = () =>
    read().catch((error: unknown) => {
      cause = error;
      return undefined;
    });
  return await until("the end", tried, patienceMs).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${String(cause)}`, { cause });
  });
}

/** Starts the run as a stream, and asks for the whole message when the stream has broken. */
async function beginAnthropic(url: string, seen: Place["seen"]) {
  const client = anthropicClient(url);
  const messages = [{ role: "user" as const, content: "Write it." }];
  const request = { model: "openai:fake", max_tokens: 100, messages };
  const options = { headers: { "idempotency-key": session, "runnel-session": session } };
  const begun = client.messages.stream(request, options);
  const id = new Promise<string>((resolve) =>
    begun.on("streamEvent", (event) => event.type === "message_start" && resolve(event.message.id)),
  );
  begun.on("text", (_, text) => seen(text));
  const text = begun.done().catch(async () => {
    const { content } = await again(() => client.messages.create(request, options));
    return content.map((block) => (block.type === "text" ? block.text : "")).join("");
  });
  const runId = (await id).replace(/^msg_(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  return { runId, text: text.then((told) => told ?? "the stream did not break") };
}

function readGrpc({ member, runId, seen }: Place): Promise<string> {
  let after = 0n;
  return again(async () => {
    for await (const { results } of member.client.stream(RunService.method.tailRun, { runId, after })) {
      for (const { sequence, payload } of results) {
        expect(sequence).toBe(after + 1n);
        after = sequence;
        if (payload.case === "messageDelta") {
          seen(payload.value.chunk?.content ?? "");
        } else if (payload.case === "runCompleted") {
          return String(payload.value.message?.content.value);
        }
      }
    }
    return undefined;
  });
}

/** It connects again by itself, with the id of the last event. */
function readSse({ member, runId, seen }: Place): Promise<string> {
  const source = new EventSource(`${member.url}/v1/runs/${runId}/results:tail`, {
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...credentialsOf() } }),
  });
  source.addEventListener("message.delta", ({ data }) => seen(JSON.parse(data).message_delta.chunk.content));
  return new Promise((resolve) =>
    source.addEventListener("run.completed", ({ data }) => {
      source.close();
      resolve(JSON.parse(data).run_completed.message.text);
    }),
  );
}

function readA2a({ member, runId, seen }: Place, binding: (typeof bindings)[number]): Promise<string> {
  return again(async () => {
    const client = await connect(member.url, binding);
    const reader = new TaskReader();
    // A task that has ended is read instead.
    const events = client.resubscribeTask({ tenant: "", id: runId }, as());
    const task = () => client.getTask({ tenant: "", id: runId, historyLength: 0 }, as());
    try {
      for await (const event of events) {
        reader.take(event);
        seen(reader.text);
      }
    } catch {
      reader.take({ payload: { $case: "task", value: await task() } });
    }
    return reader.state === 3 ? reader.text : undefined;
  });
}

/** Reads the log as a resource until it has its end. */
async function readMcp({ member, runId, seen }: Place): Promise<string> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const requestInit = { headers: credentialsOf() };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${member.url}/mcp`), { requestInit }));
  const text = await again(async () => {
    const { contents } = await client.readResource({ uri: `runnel://runs/${runId}/log` });
    const log = contents.flatMap((each) => ("text" in each ? each.text.trim().split("\n") : []));
    const entries = log.map((line) => JSON.parse(line));
    seen(entries.map((each) => each.message_delta?.chunk?.content ?? "").join(""));
    return entries.at(-1)?.run_completed?.message.text as string | undefined;
  });
  await client.close();
  return text;
}

function readOpenAi({ member, runId, seen }: Place): Promise<string> {
  const id = `resp_${runId.replaceAll("-", "")}`;
  let last: number | undefined;
  return again(async () => {
    const query = { stream: true, ...(last !== undefined && { starting_after: last }) } as const;
    for await (const event of await openAiClient(member.url).responses.retrieve(id, query)) {
      last = event.sequence_number;
      if (event.type === "response.output_text.delta") {
        seen(event.delta);
      } else if (event.type === "response.completed") {
        const [item] = event.response.output;
        return item?.type === "message" && item.content[0]?.type === "output_text" ? item.content[0].text : "";
      }
    }
    return undefined;
  });
}

/** Joins the thread, and goes on after the last event by the fetch of our client. */
async function readAgUi({ member, seen }: Place): Promise<string> {
  const fetch = resumingFetch({ delayMs: 200, attemptsMax: patienceMs / 200 });
  const agent = openAgent(HttpAgent, member.url, { threadId: session, preset: "default/connect", fetch });
  const textNow = (): string => String(textsOf(agent).at(-1)?.[1]);
  await agent.runAgent({}, { onEvent: () => seen(textNow()), onMessagesChanged: () => seen(textNow()) });
  return textNow();
}

function readDurableStream({ member, runId, seen }: Place): Promise<string> {
  const url = `${member.url}/v1/runs/${runId}/stream`;
  let offset = "-1";
  return again(async () => {
    const log = await stream<{
      message_delta?: { chunk: { content: string } };
      run_completed?: { message: { text: string } };
    }>({
      url,
      headers: credentialsOf(),
      offset,
      live: "sse",
    });
    log.closed.catch(() => undefined);
    try {
      for await (const { message_delta: delta, run_completed: end } of log.jsonStream()) {
        seen(delta?.chunk.content ?? "");
        if (end !== undefined) {
          return end.message.text;
        }
      }
    } finally {
      ({ offset } = log);
    }
    return undefined;
  });
}
