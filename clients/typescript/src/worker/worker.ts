// A worker: registers runners, takes the runs that it is offered and reports what they yield. It reconnects for as long as it is
// wanted, sends again what was not acknowledged, and keeps the lease of silent runs. See README.md.
//
// W1  A run goes on while its worker is away from the service, and is told of a cancel when the worker is back.
// W2  A run that has ended holds nothing: neither its runner, which is left behind where it does not end, nor the worker's end.

import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport, type Http2SessionManager } from "@connectrpc/connect-node";
import { RunnerService } from "../../../../gen/runnel/runner/v1/runner_service_pb.js";
import { RunnerWorkerService, type RunOffer } from "../../../../gen/runnel/runner/v1/runner_worker_service_pb.js";
import { createAuthorizer } from "../credentials.ts";
import { isTransient } from "../is-transient.ts";
import { openSession } from "../node-connections.ts";
import { pause } from "../wait.ts";
import { openHost } from "./host.ts";
import { perform } from "./perform.ts";
import { Reporter } from "./reporter.ts";
import type { Manifest, Runner } from "./runner.ts";

export interface WorkerOptions {
  /** Where the service is. */
  readonly url: string;
  /** The client's key, sent as a bearer token. Without one, or with an empty one, calls carry no credentials. */
  readonly apiKey?: string;
  /** Who this worker is: the same for all processes that run the same runners. */
  readonly workerId: string;
  readonly runners: readonly Runner[];
  /** Runs at a time; 10 where it does not say. */
  readonly maxConcurrent?: number;
  /** Ends the worker: no more runs are taken, those at work are told to end. */
  readonly signal?: AbortSignal;
  /** How long they have for it, 10 s where it does not say. What is left then is lost with its lease. */
  readonly endMaxMs?: number;
  /** Called with errors of calls, which are tried again, and with the first result of each kind that the service dropped. */
  readonly onProblem?: (problem: unknown) => void;
}

const reconnectMinMs = 100;
const reconnectMaxMs = 5_000;
const callMaxMs = 30_000;
/** An offer is void by then. */
const offerMs = 10_000;
const acceptRetryMs = 200;
const endMaxDefaultMs = 10_000;

/**
 * Resolves when the signal has aborted and the runs have ended. Rejects when the service takes the key, a runner or what it was
 * told not at all; everything else is tried again.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  await new Worker(options).run();
}

/** `delta` makes chunks that hold only new text, and the service need not guess. A manifest may say otherwise. */
function printManifest(manifest: Manifest): string {
  return JSON.stringify({ ...manifest, metadata: { chunk_content: "increment", ...manifest.metadata } });
}

class Worker {
  readonly #options: WorkerOptions;
  readonly #sessionManager: Http2SessionManager;
  readonly #directory: Client<typeof RunnerService>;
  readonly #work: Client<typeof RunnerWorkerService>;
  readonly #signal: AbortSignal;
  readonly #runs = new Map<string, { readonly stop: AbortController; readonly over: Promise<void> }>();
  /** Aborts when what is left of the runs is given up. */
  readonly #leave = new AbortController();
  #delayMs = reconnectMinMs;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#signal = options.signal ?? new AbortController().signal;
    const { url: baseUrl, apiKey } = options;
    this.#sessionManager = openSession(baseUrl);
    const transport = createGrpcTransport({
      baseUrl,
      sessionManager: this.#sessionManager,
      interceptors: [createAuthorizer({ apiKey })],
    });
    this.#directory = createClient(RunnerService, transport);
    this.#work = createClient(RunnerWorkerService, transport);
  }

  async run(): Promise<void> {
    try {
      await this.#stayConnected();
    } finally {
      await this.#endRuns();
      this.#sessionManager.abort();
    }
  }

  /** Its session outlives connections, and so do cancels of the runs that were accepted with it. */
  async #stayConnected(): Promise<void> {
    let session: string | undefined;
    while (!this.#signal.aborted) {
      try {
        session ??= await this.#register();
        await this.#listen(session);
      } catch (error) {
        if (error instanceof RefusedWorker) {
          throw error;
        }
        if (ConnectError.from(error).code === Code.NotFound) {
          session = undefined;
        }
        if (!this.#signal.aborted) {
          this.#options.onProblem?.(error);
        }
      }
      // Not all workers of a service that was away shall come back at one moment.
      await pause(this.#delayMs * (0.5 + Math.random()), this.#signal);
      this.#delayMs = Math.min(this.#delayMs * 2, reconnectMaxMs);
    }
  }

  async #endRuns(): Promise<void> {
    const runs = [...this.#runs.values()];
    for (const { stop } of runs) {
      stop.abort();
    }
    const ended = new AbortController();
    const all = Promise.all(runs.map(({ over }) => over)).finally(() => ended.abort());
    await pause(this.#options.endMaxMs ?? endMaxDefaultMs, ended.signal);
    this.#leave.abort();
    await all;
  }

  async #register(): Promise<string> {
    const { workerId, runners } = this.#options;
    const manifests = runners.map(({ manifest }) => printManifest(manifest));
    const request = { workerId, manifests, era: "4.11" };
    const { workerSessionId, verdicts } = await this.#directory
      .registerRunners(request, { signal: this.#signal, timeoutMs: callMaxMs })
      .catch((error: unknown) => {
        const { code, rawMessage } = ConnectError.from(error);
        throw refusals.includes(code) ? new RefusedWorker(rawMessage, { cause: error }) : error;
      });
    const refused = verdicts.filter(({ accepted }) => !accepted);
    if (refused.length > 0) {
      throw new RefusedWorker(refused.map(({ runnerId, problem }) => `${runnerId}: ${problem}`).join("; "));
    }
    return workerSessionId;
  }

  /** Until the stream ends, which it does now and then. */
  async #listen(workerSessionId: string): Promise<void> {
    const { maxConcurrent = 10 } = this.#options;
    const request = { workerSessionId, maxConcurrent };
    for await (const { assignment } of this.#work.listenAssignments(request, { signal: this.#signal })) {
      this.#delayMs = reconnectMinMs;
      if (assignment.case === "offer") {
        this.#start(workerSessionId, assignment.value);
      } else if (assignment.case === "cancel") {
        this.#runs.get(assignment.value.runId)?.stop.abort();
      } else if (assignment.case === "drain") {
        return;
      }
    }
  }

  #start(workerSessionId: string, offer: RunOffer): void {
    if (this.#runs.has(offer.runId)) {
      return;
    }
    const stop = new AbortController();
    const over = this.#take(workerSessionId, offer, stop)
      .catch((error: unknown) => this.#options.onProblem?.(error))
      .finally(() => this.#runs.delete(offer.runId));
    this.#runs.set(offer.runId, { stop, over });
  }

  async #take(workerSessionId: string, { runId, offerId, runnerId }: RunOffer, stop: AbortController): Promise<void> {
    const { url, runners, onProblem } = this.#options;
    const runner = runners.find(({ manifest }) => manifest.id === runnerId);
    const accepted = await this.#accept({ workerSessionId, runId, offerId });
    if (accepted?.context === undefined || runner === undefined) {
      return;
    }
    const { context, runToken, attempt } = accepted;
    const host = openHost({ url, sessionManager: this.#sessionManager, runId, token: runToken });
    const run = { runId, attempt, runToken };
    const reporter = new Reporter({ work: this.#work, run, stop, leave: this.#leave.signal, onProblem });
    await perform({ runner, run: { runId, context, host, signal: stop.signal }, reporter, onProblem });
  }

  /** Undefined when somebody else has the run. An answer that was lost is given again. */
  async #accept(request: { workerSessionId: string; runId: string; offerId: string }) {
    const voidAtMs = performance.now() + offerMs;
    for (;;) {
      try {
        return await this.#work.acceptRun(request, { timeoutMs: offerMs, signal: this.#leave.signal });
      } catch (error) {
        if (ConnectError.from(error).code === Code.Aborted) {
          return undefined;
        }
        if (!isTransient(error) || this.#leave.signal.aborted || performance.now() > voidAtMs) {
          throw error;
        }
        await pause(acceptRetryMs, this.#leave.signal);
      }
    }
  }
}

/** Nothing that waiting would mend. */
const refusals: readonly Code[] = [Code.Unauthenticated, Code.PermissionDenied, Code.InvalidArgument];

class RefusedWorker extends Error {
  override readonly name = "RefusedWorker";
}
