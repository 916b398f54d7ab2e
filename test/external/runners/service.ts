// A service with one worker of a language, whose runner answers the messages of a conversation.

import { connect } from "node:net";
import { toJson } from "@bufbuild/protobuf";
import { Runner_State } from "#gen/runnel/runner/v1/runner_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { Config } from "../../../src/platform/config/keys.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { openWire } from "../../harness/wire.ts";
import { bind, getRun, readLog, start } from "../../runners/hand-worker.ts";
import type { Language } from "./workers.ts";

/** Interpreters and their imports are slow on a busy machine. */
const startMaxMs = 90_000;

export interface Talk {
  readonly client: GrpcClient;
  /** The output of the worker. */
  readonly stderr: () => string;
  /** Starts a run; `event` replaces parts of its event. */
  start(text: string, event?: object): Promise<string>;
  /** Starts a run and waits for its end. */
  say(text: string, event?: object): Promise<Said>;
  untilResults(runId: string, resultsMin: number): Promise<void>;
  /** Cuts its connections to the service; it may reconnect. */
  cutWorker(): void;
  /** Cancels the run once it has this many results. */
  cancel(runId: string, resultsMin: number): Promise<void>;
}

export interface Said {
  readonly runId: string;
  readonly run: Run | undefined;
  readonly log: readonly RunResult[];
}

export interface TalkOptions {
  /** Models that the runner may use; `demo` by default. */
  readonly models?: readonly string[];
  readonly flags?: Partial<Config>;
}

export async function openTalk(
  language: Pick<Language, "name" | "start">,
  config: object = {},
  { models = ["demo"], flags = {} }: TalkOptions = {},
): Promise<Talk> {
  const service = await startService(flags);
  const client = new GrpcClient(service.target);
  const { port } = new URL(service.url);
  const wire = await openWire({ connectFar: () => connect(Number(port), "127.0.0.1") });
  const worker = await language.start(`http://${wire.host}:${wire.port}`);
  // The output of a program that ends has the reason.
  const ended = worker.finished.then(({ stderr }) => {
    throw new Error(`the runner in ${language.name} ended: ${stderr}`);
  });
  const runnerId = await Promise.race([until("the runner", () => findRunner(client), startMaxMs), ended]);
  await bind(client, {
    runnerId,
    resourcePolicy: { allowedModels: [...models] },
    runnerConfig: JSON.stringify(config),
  });
  const untilResults = async (runId: string, resultsMin: number): Promise<void> => {
    await until("its results", async () => {
      const { results } = await client.call(RunService.method.listRunResults, { runId });
      return results.length >= resultsMin;
    });
  };
  const startOne = (text: string, event: object = {}): Promise<string> =>
    start(client, { ...richEvent(text), ...event });
  return {
    client,
    stderr: worker.stderr,
    start: startOne,
    say: async (text, event) => await finish(client, await startOne(text, event)),
    untilResults,
    cutWorker: () => {
      for (const link of [...wire.links]) {
        link.cut();
      }
    },
    cancel: async (runId, resultsMin) => {
      await untilResults(runId, resultsMin);
      await client.call(RunService.method.cancelRun, { runId });
    },
  };
}

async function findRunner(client: GrpcClient): Promise<string | undefined> {
  const { runners } = await client.call(RunnerService.method.listRunners, {});
  return runners.find(({ state }) => state === Runner_State.AVAILABLE)?.runnerId;
}

export async function finish(client: GrpcClient, runId: string): Promise<Said> {
  const log = await readLog(client, runId);
  return { runId, log, run: await getRun(client, runId) };
}

/** An event with all its fields, for the contexts of every era. */
function richEvent(text: string): object {
  const attachment = { type: "image", mime_type: "image/png", url: "https://example.org/a.png", id: "p-1", odd: [1.0] };
  return {
    eventTime: 1_700_000_000n,
    sourceEventType: "text",
    data: '{"big":9007199254740993}',
    rawRef: { refId: "raw-1" },
    threadId: "t-1",
    launcherType: "group",
    botId: "b-1",
    workspaceId: "w-1",
    actor: { actorType: "user", actorId: "u-1", actorName: "Ada", metadata: "{}" },
    subject: { subjectType: "message", subjectId: "s-1", data: '{"n":1}' },
    input: { text, contents: [JSON.stringify({ type: "text", text })], attachments: [JSON.stringify(attachment)] },
    delivery: { surface: "chat", supportsStreaming: true, replyTarget: '{"id":"m-1"}', maxMessageSize: 4_000n },
    adapterExtra: '{"params":{}}',
  };
}

/** Left out: the duration, and the SDK's own form of a message, which may have nulls for missing fields. */
const leftOut: readonly string[] = ["durationMs", "source"];

/** The log without ids and times. */
export function plain(log: readonly RunResult[]): string[] {
  return log.map((result) => {
    const { runId: _run, createTime: _time, ...json } = toJson(RunResultSchema, result) as Record<string, object>;
    return JSON.stringify(json, (key, value) => (leftOut.includes(key) ? undefined : value));
  });
}
