// The protocols over which the demo reads one run, each as its own clients do: how it connects, where it goes on after a break, and how
// it takes back the text of a turn that began again.

import { toJson } from "@bufbuild/protobuf";
import { A2AService, StreamResponseSchema, TaskSchema } from "#gen/lf/a2a/v1/a2a_pb.js";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { systemClock } from "../platform/base/clock.ts";
import { connectTo } from "./connect.ts";
import { readSse } from "./demo-reader.ts";

/** One way to read a run. */
export interface Door {
  readonly name: string;
  /**
   * Connects, goes on after what it has, and yields the text so far with each piece. Returns at the end of the run, and throws when the
   * connection breaks.
   */
  readonly connect: () => AsyncIterable<string>;
}

/** A run to read. */
export interface DoorPlace {
  readonly url: string;
  /** The id of its session. */
  readonly session: string;
  readonly runId: string;
}

/** The doors that follow a run of any other. */
export const doors: readonly ((place: DoorPlace) => Door)[] = [
  openGrpc,
  openSse,
  openDurableStream,
  openA2aRpc,
  openA2aHttp,
  openA2aGrpc,
  openMcp,
  openOpenAi,
  openAgUi,
];

/** What begins a run over Anthropic's API. */
export interface Beginning {
  readonly url: string;
  readonly session: string;
  readonly message: string;
}

/** Starts a run as a stream. After a break it asks for the whole message: this API cannot take text back. */
export function openAnthropic({ url, session, message }: Beginning): {
  readonly door: Door;
  /** Resolves with the id of the run. */
  readonly begun: Promise<string>;
} {
  const begun = Promise.withResolvers<string>();
  const headers = { "idempotency-key": session, "runnel-session": session, "anthropic-version": "2023-06-01" };
  const request = { model: "demo", max_tokens: 1_000, messages: [{ role: "user", content: message }] };
  let isBroken = false;
  const connect = async function* () {
    if (isBroken) {
      const answer = await fetch(`${url}/v1/messages`, post(request, headers));
      const { content } = (await requireOk(answer).json()) as { content: { text?: string }[] };
      yield content.map(({ text = "" }) => text).join("");
      return;
    }
    isBroken = true;
    let text = "";
    for await (const { data } of readSse(`${url}/v1/messages`, post({ ...request, stream: true }, headers))) {
      const event = JSON.parse(data);
      if (event.type === "message_start") {
        begun.resolve(uuidOf(event.message.id.slice("msg_".length)));
      } else if (event.type === "content_block_delta") {
        text += event.delta.text ?? "";
        yield text;
      } else if (event.type === "message_stop") {
        return;
      }
    }
    throw brokenOff();
  };
  return { door: { name: "Anthropic", connect }, begun: begun.promise };
}

function openGrpc({ url, runId }: DoorPlace): Door {
  const log = new LogText();
  const { runs } = connectTo(url);
  const connect = async function* () {
    for await (const { results } of runs.tailRun({ runId, after: BigInt(log.last) })) {
      const entries = results.map((each) => toJson(RunResultSchema, each, { useProtoFieldName: true }));
      yield* log.take(entries as unknown as readonly LogEntry[]);
    }
    log.assertEnded();
  };
  return { name: "gRPC", connect };
}

function openSse({ url, runId }: DoorPlace): Door {
  const log = new LogText();
  const connect = async function* () {
    const headers = { "last-event-id": String(log.last) };
    for await (const { id, data } of readSse(`${url}/v1/runs/${runId}/results:tail`, { headers })) {
      yield* log.take(id === undefined ? [] : [{ ...JSON.parse(data), sequence: id }]);
    }
    log.assertEnded();
  };
  return { name: "SSE", connect };
}

function openDurableStream({ url, runId }: DoorPlace): Door {
  const log = new LogText();
  let offset = "-1";
  const connect = async function* () {
    for await (const { event, data } of readSse(`${url}/v1/runs/${runId}/stream?offset=${offset}&live=sse`)) {
      if (event === "data") {
        yield* log.take(JSON.parse(data));
      } else {
        offset = JSON.parse(data).streamNextOffset;
      }
    }
    log.assertEnded();
  };
  return { name: "Durable Streams", connect };
}

function openA2aRpc({ url, runId }: DoorPlace): Door {
  const call = (method: string): [url: string, init: RequestInit] => [
    `${url}/a2a`,
    post({ jsonrpc: "2.0", id: 1, method, params: { id: runId } }, a2aVersion),
  ];
  return openA2a("A2A, JSON-RPC", {
    subscribe: async function* () {
      for await (const { data } of readSse(...call("SubscribeToTask"))) {
        yield JSON.parse(data).result;
      }
    },
    get: async () => ((await (await fetch(...call("GetTask"))).json()) as { result: A2aTask }).result,
  });
}

function openA2aHttp({ url, runId }: DoorPlace): Door {
  const task = `${url}/a2a/tasks/${runId}`;
  return openA2a("A2A, HTTP+JSON", {
    subscribe: async function* () {
      for await (const { data } of readSse(`${task}:subscribe`, post({}, a2aVersion))) {
        yield JSON.parse(data);
      }
    },
    get: async () => (await requireOk(await fetch(task, { headers: a2aVersion })).json()) as A2aTask,
  });
}

function openA2aGrpc({ url, runId }: DoorPlace): Door {
  const client = connectTo(url).client(A2AService);
  const options = { headers: a2aVersion };
  return openA2a("A2A, gRPC", {
    subscribe: async function* () {
      for await (const event of client.subscribeToTask({ id: runId }, options)) {
        yield toJson(StreamResponseSchema, event) as A2aEvent;
      }
    },
    get: async () => toJson(TaskSchema, await client.getTask({ id: runId }, options)) as unknown as A2aTask,
  });
}

const a2aVersion = { "a2a-version": "1.0" };

interface A2aArtifact {
  readonly artifactId: string;
  readonly parts?: readonly { readonly text?: string }[];
}

interface A2aTask {
  readonly artifacts?: readonly A2aArtifact[];
  readonly status: { readonly state: string };
}

interface A2aEvent {
  readonly task?: A2aTask;
  readonly artifactUpdate?: { readonly artifact: A2aArtifact; readonly append?: boolean };
  readonly statusUpdate?: Pick<A2aTask, "status">;
}

interface A2aCalls {
  readonly subscribe: () => AsyncIterable<A2aEvent>;
  readonly get: () => Promise<A2aTask>;
}

/** Subscribes to a task: it comes as it is now, and then what comes after it. A task that has ended has to be read instead. */
function openA2a(name: string, { subscribe, get }: A2aCalls): Door {
  const artifacts = new Map<string, string>();
  const whole = (): string => [...artifacts.values()].join("");
  const takeTask = ({ artifacts: all = [] }: A2aTask): void => {
    artifacts.clear();
    for (const artifact of all) {
      artifacts.set(artifact.artifactId, partsOf(artifact));
    }
  };
  const connect = async function* () {
    try {
      for await (const { task, artifactUpdate, statusUpdate } of subscribe()) {
        if (task !== undefined) {
          takeTask(task);
        } else if (artifactUpdate !== undefined) {
          const { artifact, append = false } = artifactUpdate;
          const before = append ? (artifacts.get(artifact.artifactId) ?? "") : "";
          artifacts.set(artifact.artifactId, before + partsOf(artifact));
          yield whole();
        }
        if (hasCompleted(statusUpdate?.status)) {
          return;
        }
      }
    } catch (error) {
      const task = await get();
      if (!hasCompleted(task.status)) {
        throw error;
      }
      takeTask(task);
      yield whole();
      return;
    }
    throw brokenOff();
  };
  return { name, connect };
}

function hasCompleted(status: A2aTask["status"] | undefined): boolean {
  return status?.state === "TASK_STATE_COMPLETED";
}

function partsOf({ parts = [] }: A2aArtifact): string {
  return parts.map(({ text = "" }) => text).join("");
}

/** Reads the log as a resource, again and again: the protocol has no stream of a run that another one has started. */
function openMcp({ url, runId }: DoorPlace): Door {
  const version = "2026-07-28";
  const method = "resources/read";
  const uri = `runnel://runs/${runId}/log`;
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const request = { jsonrpc: "2.0", id: 1, method, params: { _meta, uri } };
  const headers = {
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": version,
    "mcp-method": method,
    "mcp-name": uri,
  };
  const log = new LogText();
  const connect = async function* () {
    while (!log.hasEnded) {
      const { result } = (await requireOk(await fetch(`${url}/mcp`, post(request, headers))).json()) as McpAnswer;
      const lines = result.contents.flatMap(({ text }) => text.split("\n").filter((line) => line !== ""));
      yield* log.take(lines.map((line) => JSON.parse(line)).filter(({ sequence }) => Number(sequence) > log.last));
      await systemClock.sleep(mcpPauseMs);
    }
  };
  return { name: "MCP", connect };
}

const mcpPauseMs = 200;

interface McpAnswer {
  readonly result: { readonly contents: readonly { readonly text: string }[] };
}

/** Goes on after the last event. The items of a turn that began again end as incomplete. */
function openOpenAi({ url, runId }: DoorPlace): Door {
  const path = `${url}/v1/responses/resp_${runId.replaceAll("-", "")}?stream=true`;
  const items = new Map<number, string>();
  let last: number | undefined;
  const connect = async function* () {
    for await (const { data } of readSse(last === undefined ? path : `${path}&starting_after=${last}`)) {
      const event = JSON.parse(data);
      last = event.sequence_number;
      const { output_index: index } = event;
      if (event.type === "response.output_text.delta") {
        items.set(index, (items.get(index) ?? "") + event.delta);
        yield [...items.values()].join("");
      } else if (event.type === "response.output_item.done" && event.item.status === "incomplete") {
        items.delete(index);
      } else if (event.type === "response.completed") {
        return;
      }
    }
    throw brokenOff();
  };
  return { name: "OpenAI", connect };
}

/** Joins the newest run of a thread, and goes on after the last event. A snapshot takes the messages back. */
function openAgUi({ url, session }: DoorPlace): Door {
  const input = { threadId: session, runId: "reader", protocolVersion: "1.0", messages: [] };
  const texts = new Map<string, string>();
  let last: string | undefined;
  const connect = async function* () {
    const headers = last === undefined ? {} : { "last-event-id": last };
    for await (const { id, data } of readSse(`${url}/v1/ag-ui/default/connect`, post(input, headers))) {
      last = id ?? last;
      const event = JSON.parse(data);
      if (event.type === "TEXT_MESSAGE_CONTENT") {
        texts.set(event.messageId, (texts.get(event.messageId) ?? "") + event.delta);
        yield [...texts.values()].join("");
      } else if (event.type === "MESSAGES_SNAPSHOT") {
        const answers = (event.messages as AgUiMessage[]).filter(({ role }) => role === "assistant");
        texts.clear();
        for (const message of answers) {
          texts.set(message.id, message.content ?? "");
        }
      } else if (event.type === "RUN_FINISHED") {
        return;
      }
    }
    throw brokenOff();
  };
  return { name: "AG-UI", connect };
}

interface AgUiMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: string;
}

/** What the doors to the log read of an entry. */
interface LogEntry {
  readonly sequence: string | number;
  readonly message_delta?: { readonly chunk?: { readonly content?: string } };
  readonly turn_restarted?: { readonly from_sequence: string | number };
  readonly run_completed?: object;
}

/** The text of a log so far: a turn that begins again takes its pieces back. */
class LogText {
  #pieces: { readonly sequence: number; readonly text: string }[] = [];
  hasEnded = false;
  /** The sequence of the last entry. */
  last = 0;

  *take(entries: readonly LogEntry[]): Generator<string> {
    for (const { sequence, message_delta: delta, turn_restarted: restart, run_completed: end } of entries) {
      this.last = Number(sequence);
      this.hasEnded ||= end !== undefined;
      if (restart !== undefined) {
        this.#pieces = this.#pieces.filter((piece) => piece.sequence < Number(restart.from_sequence));
      } else if (delta !== undefined) {
        this.#pieces.push({ sequence: this.last, text: delta.chunk?.content ?? "" });
        yield this.#pieces.map(({ text }) => text).join("");
      }
    }
  }

  assertEnded(): void {
    if (!this.hasEnded) {
      throw brokenOff();
    }
  }
}

function brokenOff(): Error {
  return new Error("the stream ended before its run");
}

function post(body: object, headers: Readonly<Record<string, string>>): RequestInit {
  return { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}

function requireOk(response: Response): Response {
  if (!response.ok) {
    throw new Error(`the service answered ${response.status}`);
  }
  return response;
}

function uuidOf(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
