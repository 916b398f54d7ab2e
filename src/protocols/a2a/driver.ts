// The driver of A2A agents: sends the input of the run as a message, and writes what the task of it shows into the log.
//
//   card ──→ checkpoint ──→ message ──→ its task ──→ checkpoint ──→ events … ──→ completed
//
// A1  The checkpoint before a message is durable before the message is sent. A message is never sent again: when its outcome is unknown,
//     its task is looked up by the id of the message. Without one the run fails and says so.
// A2  A task whose stream is lost, or whose replica has died, is read and followed again.
// A3  A cancelled run cancels its task. A replica that leaves does not.

import type { StreamResponse } from "@a2a-js/sdk";
import type { Driver, DriverEnd, DriverStep, FailedEnd, RunContext, WriteOwn } from "../../engine/runs/driver.ts";
import { messageText } from "../../engine/sessions/message-text.ts";
import { type Clock, over } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { parseObject } from "../../platform/base/json/parse-object.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Egress } from "../../platform/egress/post.ts";
import { createHider } from "../../platform/telemetry/scrub.ts";
import type { A2aAgent } from "./agents.ts";
import type { RemoteAgent } from "./connection.ts";
import { failed, findEgressFailure, stopped, taskLost, wordsOf } from "./failure.ts";
import { Fold } from "./fold.ts";
import { cancelGraceMs, clockSkewMs, loggedCharsMax, quietMs, retryMsMax, stopGraceMs, triesMax } from "./limits.ts";
import { partsOf } from "./message.ts";
import { findContext, type Place, saveContext } from "./storage/a2a-context.ts";

/** The name of the driver. */
export const driverName = "a2a-agent";

/** What the driver needs. */
export interface A2aRunnerOptions {
  readonly agents: readonly A2aAgent[];
  readonly clock: Clock;
  readonly db: Db;
  readonly egress: Pick<Egress, "open">;
}

/** Returns the driver of A2A agents. */
export function createA2aRunner(options: A2aRunnerOptions): Driver {
  return {
    name: driverName,
    recovery: "resume",
    isOutside: true,
    stopGraceMs,
    run: async function* (context) {
      const { runner } = context.agent;
      const agent = options.agents.find(({ name }) => name === runner);
      return agent === undefined
        ? failed("runner.unavailable", `this replica has no A2A agent "${runner}" in its settings`)
        : yield* new Work(context, agent, options).run();
    },
  };
}

/** The state of a run in its checkpoint. */
interface Progress {
  /** When its message was about to be sent. */
  readonly sentMs: number;
  /** The task and its context, as far as they are known. */
  readonly taskId: string;
  readonly contextId: string;
}

function checkpointOf(progress: Progress) {
  return { turn: 1, state: Buffer.from(JSON.stringify(progress)) };
}

function readProgress({ checkpoint }: RunContext): Progress | undefined {
  const { sentMs, taskId, contextId } = parseObject(Buffer.from(checkpoint?.state ?? []).toString()) ?? {};
  return typeof sentMs === "number"
    ? { sentMs, taskId: String(taskId ?? ""), contextId: String(contextId ?? "") }
    : undefined;
}

type Steps<T> = AsyncGenerator<DriverStep, T>;

/** Opens a stream of events. */
type Open = (signal: AbortSignal) => AsyncGenerator<StreamResponse>;

class Work {
  readonly #context: RunContext;
  readonly #agent: A2aAgent;
  readonly #options: A2aRunnerOptions;
  readonly #hide: (text: string) => string;
  readonly #fold: Fold;
  #progress: Progress | undefined;
  /** Where the message continues the conversation; undefined for a new context. */
  #place: Place | undefined;

  constructor(context: RunContext, agent: A2aAgent, options: A2aRunnerOptions) {
    this.#context = context;
    this.#agent = agent;
    this.#options = options;
    this.#hide = createHider(agent.secrets);
    this.#progress = readProgress(context);
    this.#fold = new Fold(this.#hide, this.#progress);
  }

  async *run(): Steps<DriverEnd> {
    const remote = await this.#connect();
    if ("kind" in remote) {
      return remote;
    }
    const end = yield* this.#work(remote);
    if (this.#context.signal.aborted && end.kind === "failed") {
      await this.#cancel(remote);
      return stopped;
    }
    return end;
  }

  /** A run that has sent nothing does not wait for its agent. */
  async #connect(): Promise<RemoteAgent | FailedEnd> {
    const { signal } = this.#context;
    const { connectAgent } = await import("./connection.ts");
    for (let failures = 1; ; failures++) {
      try {
        return await connectAgent(this.#agent, { ...this.#options, signal });
      } catch (error) {
        if (signal.aborted) {
          return stopped;
        }
        if (this.#progress === undefined || failures === triesMax) {
          return this.#unavailable(error);
        }
        await this.#rest(failures);
      }
    }
  }

  async *#work(remote: RemoteAgent): Steps<DriverEnd> {
    let open = this.#progress === undefined ? yield* this.#begin(remote) : this.#continue(remote);
    for (let failures = 0; ; ) {
      let problem: unknown = new Error("it ended the stream of the task");
      try {
        for await (const event of this.#whileTalking(open)) {
          failures = 0;
          yield* this.#take(event);
          const end = this.#findEnd();
          if (end !== undefined) {
            return end;
          }
          if (this.#fold.chars > loggedCharsMax) {
            await this.#cancel(remote);
            const problem = `the agent ${this.#agent.name} sent more than ${loggedCharsMax} characters in one run`;
            return failed("runner.error", problem);
          }
        }
      } catch (error) {
        problem = error;
      }
      if (this.#context.signal.aborted) {
        return stopped;
      }
      failures += 1;
      if (this.#fold.taskId !== "") {
        if (failures === triesMax || findEgressFailure(problem)?.isRetryable === false) {
          await this.#cancel(remote);
          return this.#unavailable(problem);
        }
        await this.#rest(failures);
        open = this.#follow(remote);
      } else if (!remote.isRefusal(problem)) {
        const task = await this.#findTask(remote, this.#context.signal).catch(() => undefined);
        if (task === undefined) {
          return taskLost(this.#agent.name, wordsOf(problem, this.#hide));
        }
        open = (signal) => remote.follow(task.id, signal);
        if (failures === triesMax) {
          return this.#unavailable(problem);
        }
      } else if (this.#place !== undefined) {
        // The agent does not continue the conversation. It has begun nothing.
        this.#place = undefined;
        open = this.#send(remote);
      } else {
        return failed("runner.error", `the agent ${this.#agent.name} refused: ${wordsOf(problem, this.#hide)}`);
      }
    }
  }

  async *#begin(remote: RemoteAgent): Steps<Open> {
    const { runId, transcript } = this.#context;
    const { name: agent } = this.#agent;
    const before = transcript.at(-2);
    this.#place = before && (await findContext(this.#options.db, { runId, agent, lastText: messageText(before) }));
    this.#progress = { sentMs: this.#options.clock.nowMs(), taskId: "", contextId: "" };
    yield {
      kind: "commit",
      results: [{ payload: { case: "turnStarted", value: { turn: 1 } } }],
      effects: { checkpoint: checkpointOf(this.#progress) },
    };
    while (!this.#context.isHeld()) {
      yield { kind: "commit", results: [], effects: {} };
    }
    failpoint("a2a.sending");
    return this.#send(remote);
  }

  #send(remote: RemoteAgent): Open {
    const { contextId, taskId } = this.#place ?? { contextId: "", taskId: "" };
    const parts = partsOf(this.#context, this.#place !== undefined);
    return (signal) => remote.send({ messageId: this.#context.runId, contextId, taskId, parts }, signal);
  }

  #continue(remote: RemoteAgent): Open {
    return this.#fold.taskId === ""
      ? // biome-ignore lint/correctness/useYield: the stream of a message that another replica has sent is gone
        async function* () {
          throw new Error("the replica that sent it was lost");
        }
      : this.#follow(remote);
  }

  #follow(remote: RemoteAgent): Open {
    return (signal) => remote.follow(this.#fold.taskId, signal);
  }

  #findTask(remote: RemoteAgent, signal: AbortSignal) {
    const afterMs = (this.#progress?.sentMs ?? 0) - clockSkewMs;
    return remote.findTask({ messageId: this.#context.runId, afterMs }, signal);
  }

  async *#take(event: StreamResponse): Steps<void> {
    const fold = this.#fold;
    fold.name(event);
    const { taskId, contextId } = fold;
    if (this.#progress?.taskId !== taskId) {
      failpoint("a2a.answered");
      this.#progress = { sentMs: this.#progress?.sentMs ?? 0, taskId, contextId };
      const own = this.#keep(messageText(this.#context.input), "");
      yield { kind: "commit", results: [], effects: { checkpoint: checkpointOf(this.#progress), own } };
    }
    for (const result of fold.take(event)) {
      yield { kind: "append", result };
    }
  }

  #findEnd(): DriverEnd | undefined {
    const { outcome, said: message, taskId } = this.#fold;
    switch (outcome?.kind) {
      case "completed": {
        const { finishReason } = outcome;
        const own = this.#keep(
          messageText(message ?? this.#context.input),
          finishReason === "input_required" ? taskId : "",
        );
        const transcript = message === undefined ? {} : { transcript: [message] };
        return { kind: "completed", finishReason, message, turns: 1, ...transcript, own };
      }
      case "failed":
        return failed(outcome.code, outcome.error);
      default:
        return undefined;
    }
  }

  /** Keeps the place for the next run of the session, once the agent has named its context. */
  #keep(lastText: string, taskId: string): WriteOwn {
    const { contextId } = this.#fold;
    const { name: agent } = this.#agent;
    return async (trx, { session }) => {
      if (contextId !== "") {
        await saveContext(trx, session, { agent, contextId, taskId, lastText });
      }
    };
  }

  /** The events of a stream, until it is silent for long: its connection may be gone without a sign. */
  async *#whileTalking(open: Open): AsyncGenerator<StreamResponse> {
    const quiet = new AbortController();
    const events = open(AbortSignal.any([this.#context.signal, quiet.signal]));
    try {
      for (;;) {
        const done = new AbortController();
        // A message may be answered only at the end of its task.
        if (this.#fold.taskId !== "") {
          void this.#options.clock.sleep(quietMs, done.signal).then(() => done.signal.aborted || quiet.abort());
        }
        const next = await events.next().finally(() => done.abort(over));
        if (next.done === true) {
          return;
        }
        yield next.value;
      }
    } finally {
      quiet.abort();
      await events.return(undefined).catch(() => {});
    }
  }

  async #rest(failures: number): Promise<void> {
    await this.#options.clock.sleep(Math.min(retryMsMax, 500 * 2 ** failures), this.#context.signal);
  }

  #unavailable(error: unknown): FailedEnd {
    const { taskId } = this.#fold;
    const words = wordsOf(error, this.#hide);
    return taskId === ""
      ? failed(
          "runner.unavailable",
          `the agent ${this.#agent.name} is not available: ${words}`,
          this.#progress === undefined,
        )
      : failed("runner.disconnected", `the agent ${this.#agent.name} left the task ${taskId} without an end: ${words}`);
  }

  /** A replica that leaves lets the task go on: the next one follows it. */
  async #cancel(remote: RemoteAgent | undefined): Promise<void> {
    const reason = this.#context.stopReason();
    if (remote === undefined || this.#progress === undefined || reason === "lost" || reason === "handed-on") {
      return;
    }
    const late = new AbortController();
    const done = new AbortController();
    void this.#options.clock.sleep(cancelGraceMs, done.signal).then(() => late.abort());
    try {
      const taskId = this.#fold.taskId || (await this.#findTask(remote, late.signal))?.id;
      if (taskId !== undefined) {
        await remote.cancel(taskId, late.signal);
      }
    } catch {
      // The task may have ended, or its agent is away: the run ends in any case.
    } finally {
      done.abort(over);
    }
  }
}
