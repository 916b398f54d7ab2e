// A whole task that a person does, from the first outbox to the end: the effects, the outboxes and the log are the same over
// every carrier, and readers of the run see it live.

import { expect, inject, test } from "vitest";
import { told } from "../conformance/stage.ts";
import type { Plain, Result, SessionEvent, Surface } from "../conformance/surface.ts";
import { findSurface } from "../conformance/surfaces.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { fetchReceipt } from "../receipts/fetched.ts";
import { doTask, filesAfter, summary, task } from "./scripted-user.ts";
import { type Answered, type Exchanges, findTransport, type Started, transports } from "./transports.ts";
import { openWorkspace, type Workspace } from "./workspace.ts";

async function openStage(): Promise<TestService> {
  // The person's commands are harmless, so the test also runs on machines without a jail.
  return await startService({ toolsJail: inject("hasJail") ? "required" : "off" });
}

interface Done {
  readonly started: Started;
  readonly workspace: Workspace;
  readonly outboxes: readonly string[];
  readonly answers: readonly Answered[];
}

interface Watch {
  readonly onStart?: (started: Started) => void;
  /** The person reads on after it has resolved. */
  readonly onAnswer?: (answer: Answered, started: Started) => Promise<void>;
}

async function doTaskOver(exchanges: Exchanges, { onStart, onAnswer }: Watch = {}): Promise<Done> {
  const workspace = await openWorkspace();
  const started = await exchanges.start({ task, workDir: workspace.path });
  onStart?.(started);
  const { exchange_id: exchangeId } = started;
  const answers: Answered[] = [];
  const outboxes = await doTask({
    readOutbox: () => exchanges.readOutbox(exchangeId),
    bringInbox: async (sequence, text) => {
      const answer = await exchanges.submit({ exchangeId, text, sequence });
      answers.push(answer);
      await onAnswer?.(answer, started);
    },
  });
  return { started, workspace, outboxes, answers };
}

function withoutId<T>(value: T, { exchange_id: id }: Started): T {
  return JSON.parse(JSON.stringify(value).replaceAll(id, "a1b2c3d4"));
}

async function listLog(api: Surface, { run_id: runId }: Started): Promise<Result[]> {
  const { results, next_page_token: next } = await api.listResults({ runId, pageSize: 250 });
  expect(next).toBeUndefined();
  return [...results];
}

function withoutTime({ sequence, type, payload: { duration_ms: _, ...payload } }: Result): unknown {
  return { sequence, type, payload };
}

test("every carrier gives the same files, outboxes and log", async () => {
  const service = await openStage();
  const grpc = findSurface("gRPC").connect(service);
  const seen = await Promise.all(
    transports.map(async ({ name, open }) => {
      const { started, workspace, outboxes, answers } = await doTaskOver(open(service));
      expect.soft(workspace.read(), name).toEqual(filesAfter);
      const log = (await listLog(grpc, started)).map(withoutTime);
      return { name, ...withoutId({ outboxes, answers, log }, started) };
    }),
  );
  const [first, ...others] = seen;
  expect(first?.outboxes).toHaveLength(4);
  expect(others).toHaveLength(transports.length - 1);
  for (const { name, ...told } of others) {
    expect.soft({ ...told, name: first?.name }, name).toEqual(first);
  }
});

const created = (path: string) => ({ path, content: expect.any(String) });
const turn = (number: number) => ["turn.started", { turn: number }];
const said = (text: string) => ["message.completed", { message: { role: "assistant", text } }];
const waiting = (sequence: number) => ["run.waiting", { reason: `outbox ${sequence} waits for its answer` }];

function call(tool_call_id: string, tool_name: string, parameters: Plain, end: string | { error: string }) {
  const outcome = typeof end === "string" ? { result: { content: end } } : end;
  return [
    ["tool.call.started", { tool_call_id, tool_name, parameters }],
    ["tool.call.completed", { tool_call_id, tool_name, ...outcome }],
  ];
}

test("each step is in the log, and the run ends with the person's summary", async () => {
  const service = await openStage();
  const api = findSurface("gRPC").connect(service);
  const exchanges = findTransport("REST, plain text").open(service);
  const { started } = await doTaskOver(exchanges);
  const log = await listLog(api, started);
  expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
  const build = { command: "sh build.sh" };
  const steps = log.map(({ type, payload: { duration_ms: _, ...payload } }) => [type, payload]);
  expect(steps.slice(0, -1)).toEqual([
    waiting(1),
    turn(1),
    said("A first attempt follows."),
    ...call("1.2", "CREATE_FILE", created("src/greet.sh"), "Created 'src/greet.sh'"),
    ...call("1.3", "CREATE_FILE", created("build.sh"), "Created 'build.sh'"),
    ...call("1.4", "RUN_COMMAND", build, {
      error: "Ran 'sh build.sh' (exit code 3)\nbuilding\n\ngreet.sh is wrong\n",
    }),
    waiting(2),
    turn(2),
    ...call("2.1", "READ_FILE", { path: "src/greet.sh" }, "Queued 'src/greet.sh' for next outbox"),
    ...call("2.2", "READ_FILE", { path: "notes.txt" }, { error: "File 'notes.txt' not found" }),
    ...call("2.3", "PARSE_ERROR", {}, { error: "EDIT_FILE start_line/end_line must be integers" }),
    waiting(3),
    turn(3),
    ...call(
      "3.1",
      "EDIT_FILE",
      { path: "src/greet.sh", start_line: 3, end_line: 3, content: 'echo "Hello, world"' },
      "Edited 'src/greet.sh' lines 3-3\nnote: the edit also added a final newline",
    ),
    ...call("3.2", "RUN_COMMAND", build, "Ran 'sh build.sh' (exit code 0)\nbuilding\nbuilt\n"),
    waiting(4),
    turn(4),
    ...call("4.1", "DELETE_FILE", { path: "build.sh" }, "Deleted 'build.sh'"),
    said(summary),
  ]);
  expect(steps.at(-1)).toEqual([
    "run.completed",
    { finish_reason: "stop", message: { role: "assistant", text: summary }, turns: 4 },
  ]);

  const { exchange_id: exchangeId, run_id: runId } = started;
  expect(await api.getRun(runId)).toMatchObject({ state: "completed", turns: 4, output: summary });
  expect(await exchanges.get(exchangeId)).toMatchObject({
    state: "completed",
    sequence: 4,
    is_complete: true,
    last_results: [
      { type: "DELETE_FILE", success: true },
      { type: "DONE", success: true, summary },
    ],
  });
  expect(await api.getSession(exchangeId)).toMatchObject({ status: "completed" });
  const { statement } = await fetchReceipt({ client: new GrpcClient(service.target), url: service.url }, runId);
  expect(statement).toMatchObject({ status: "completed", entries: log.length });
});

test("readers of the run and of its session follow it live, and resume from any position", async () => {
  const service = await openStage();
  const grpc = findSurface("gRPC").connect(service);
  const followers = ["gRPC", "REST", "gRPC-Web, HTTP/1.1"].map(
    (name) => new Follower(findSurface(name).connect(service)),
  );
  let toolsUsed = 0;
  const { started } = await doTaskOver(findTransport("REST, JSON").open(service), {
    onStart: (begun) => {
      for (const follower of followers) {
        follower.follow(begun);
      }
    },
    onAnswer: async ({ results }, begun) => {
      const { sequence: last = 0 } = (await listLog(grpc, begun)).at(-1) ?? {};
      toolsUsed += results.filter(({ type }) => type !== "MESSAGE" && type !== "DONE").length;
      for (const follower of followers) {
        await follower.until(last, toolsUsed);
        await follower.comeBack(last);
      }
    },
  });
  const log = await listLog(grpc, started);
  const [first, ...others] = await Promise.all(followers.map((follower) => follower.end()));
  expect(first?.results).toEqual(log);
  expect(first?.resumed).toEqual(log);
  for (const other of others) {
    expect(other).toEqual(first);
  }
  expect(first?.events.at(-1)).toEqual(["done", { status: "completed", output: summary, turns: 4 }]);

  for (const name of ["gRPC", "REST"]) {
    const api = findSurface(name).connect(service);
    for (const { sequence: after } of log) {
      expect(await Array.fromAsync(api.followRun(started.run_id, after)), `${name} after ${after}`).toEqual(
        log.slice(after),
      );
    }
  }
});

/** A reader of the run and its session from their start, and a second one that leaves and resumes after every answer. */
class Follower {
  readonly #api: Surface;
  readonly #results: Result[] = [];
  readonly #resumed: Result[] = [];
  readonly #events: SessionEvent[] = [];
  #reading: Promise<unknown> = Promise.resolve();
  #runId = "";

  constructor(api: Surface) {
    this.#api = api;
  }

  follow({ run_id: runId, session_id: sessionId }: Started): void {
    this.#runId = runId;
    this.#reading = Promise.all([
      collect(this.#api.followRun(runId), this.#results),
      collect(this.#api.followSession(sessionId), this.#events),
    ]);
  }

  async until(sequence: number, toolsUsed: number): Promise<void> {
    await until("the readers to have what there is", () => {
      const used = this.#events.filter(({ type }) => type === "tool_result").length;
      return this.#results.at(-1)?.sequence === sequence && used === toolsUsed;
    });
  }

  /** Reads the new results up to this sequence. */
  async comeBack(sequence: number): Promise<void> {
    const after = this.#resumed.at(-1)?.sequence ?? 0;
    for await (const result of this.#api.followRun(this.#runId, after)) {
      this.#resumed.push(result);
      if (result.sequence === sequence) {
        return;
      }
    }
  }

  async end() {
    await this.#reading;
    return { results: this.#results, resumed: this.#resumed, events: told(this.#events) };
  }
}

async function collect<T>(source: AsyncIterable<T>, into: T[]): Promise<void> {
  for await (const item of source) {
    into.push(item);
  }
}
