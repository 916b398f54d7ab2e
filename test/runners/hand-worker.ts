// A worker that does each step when the test says so, and the client whose events it works on.

import { status } from "@grpc/grpc-js";
import { ResultDisposition, RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import {
  type AcceptRunResponse,
  type ReportResultsResponse,
  RunnerWorkerService,
  type RunOffer,
} from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { Clock } from "../../src/platform/base/clock.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { runnerOf, testRunnerId } from "../harness/worker.ts";

/** A result without a number: its type and its payload. */
export type Said = readonly [type: string, data: unknown];

export const hello: Said = ["message.delta", { chunk: { role: "assistant", content: "hello" } }];
export const done: Said = ["run.completed", { finish_reason: "stop" }];

export interface Accepted extends AcceptRunResponse {
  readonly runId: string;
}

/** The identity of the run in a report. */
export type ReportedRun = Pick<Accepted, "runId" | "attempt" | "runToken">;

export class HandWorker {
  readonly client: GrpcClient;
  session = "";

  constructor(target: string, client = new GrpcClient(target)) {
    this.client = client;
  }

  async register(workerId = "by-hand", manifest: object = {}): Promise<void> {
    const runner = runnerOf(async function* () {}, manifest as Record<string, unknown>);
    const { workerSessionId, verdicts } = await this.client.call(RunnerService.method.registerRunners, {
      workerId,
      manifests: [JSON.stringify(runner.manifest)],
    });
    const problem = verdicts.find(({ accepted }) => !accepted)?.problem;
    if (problem !== undefined) {
      throw new Error(problem);
    }
    this.session = workerSessionId;
  }

  /** Polls until a run is offered. */
  async offer(): Promise<RunOffer> {
    for (;;) {
      const { assignment } = await this.client.call(RunnerWorkerService.method.pollAssignment, {
        workerSessionId: this.session,
        waitSeconds: 10,
      });
      if (assignment?.assignment.case === "offer") {
        return assignment.assignment.value;
      }
    }
  }

  async accept({ runId, offerId }: RunOffer): Promise<Accepted> {
    const request = { workerSessionId: this.session, runId, offerId };
    return { ...(await this.client.call(RunnerWorkerService.method.acceptRun, request)), runId };
  }

  async take(): Promise<Accepted> {
    return await this.accept(await this.offer());
  }

  /** Reports `results` by their numbers. */
  async report(
    { runId, attempt, runToken }: ReportedRun,
    results: Readonly<Record<number, Said>> = {},
    more: { readonly finished?: boolean; readonly of?: string } = {},
  ): Promise<ReportResultsResponse> {
    return await this.client.call(RunnerWorkerService.method.reportResults, {
      runId,
      attempt,
      runToken,
      finished: more.finished ?? false,
      results: Object.entries(results).map(([sequence, [type, data]]) => ({
        sequence: BigInt(sequence),
        type,
        data: JSON.stringify(data),
        runId: more.of ?? "",
      })),
    });
  }
}

/** The dispositions of the verdicts, with their diagnostics. */
interface WorkerStageOptions {
  readonly flags?: Partial<Config>;
  readonly clock?: Clock | undefined;
  /** Without a binding no event reaches the worker. */
  readonly binding?: object;
}

/** Starts a service with a worker that has registered, and makes a client of it and those of the host of a run. */
export async function openWorkerStage({ flags = {}, clock, binding }: WorkerStageOptions = {}) {
  const service = await startService(flags, clock === undefined ? {} : { clock });
  const client = new GrpcClient(service.target);
  const worker = new HandWorker(service.target);
  await worker.register();
  if (binding !== undefined) {
    await bind(client, binding);
  }
  const hostOf = ({ runToken }: Pick<Accepted, "runToken">) =>
    new GrpcClient(service.target, { authorization: `Bearer ${runToken}` });
  return { ...service, client, worker, hostOf };
}

export function dispositions({ verdicts }: ReportResultsResponse): string[] {
  return verdicts.map(({ disposition, diagnostics }) => [ResultDisposition[disposition], ...diagnostics].join(": "));
}

export async function bind(client: GrpcClient, binding: object = {}): Promise<void> {
  await client.call(RunnerService.method.putBinding, {
    binding: { bindingId: "tests", runnerId: testRunnerId, ...binding },
  });
}

let events = 0;

/** A message in a conversation, with the given changes. */
export function newEvent(event: object = {}) {
  return {
    eventId: `event-${++events}`,
    eventType: "message.received",
    conversationId: "c-1",
    actor: { actorType: "user", actorId: "u-1" },
    input: { text: "hello" },
    ...event,
  };
}

export async function start(client: GrpcClient, event: object = {}): Promise<string> {
  const { run } = await client.call(RunnerService.method.startRun, { event: newEvent(event) });
  return run?.runId ?? "";
}

/** Reads the log to its end. Calls again, as clients do, when the service is too busy. */
export async function readLog(client: GrpcClient, runId: string, after = 0n): Promise<RunResult[]> {
  const results: RunResult[] = [];
  for (;;) {
    try {
      const reached = results.at(-1)?.sequence ?? after;
      for await (const batch of client.stream(RunService.method.tailRun, { runId, after: reached })) {
        results.push(...batch.results);
      }
      return results;
    } catch (error) {
      if ((error as { code?: number }).code !== status.UNAVAILABLE) {
        throw error;
      }
    }
  }
}

export async function getRun(client: GrpcClient, runId: string): Promise<Run | undefined> {
  return (await client.call(RunService.method.getRun, { runId })).run;
}
