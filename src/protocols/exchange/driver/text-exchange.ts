// The driver of exchanges. It writes an outbox and parks until a person has brought the answer. Then it executes the commands
// of the answer in order and writes the next outbox, until an answer says that the task is done. Between the texts no replica
// holds the run.
//
//   outbox ──→ parked ──inbox──→ commands ──[DONE]──→ completed
//     ↑                             │
//     └─────────────────────────────┘
//
// E1  The start of a command is durable before it begins, and its result before the next one begins. After a crash nothing is
//     done twice, and an unknown outcome is reported.
// E2  A command begins only while the lease holds: a process that resumes after a freeze does not repeat another's work.
// E3  The driver keeps no state in memory: a replica resumes an exchange from the database.

import type { ResultInit } from "../../../engine/log/result.ts";
import type {
  CommitStep,
  Driver,
  DriverEnd,
  DriverStep,
  FailedEnd,
  RunContext,
  WriteOwn,
} from "../../../engine/runs/driver.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { failpoint } from "../../../platform/base/failpoint.ts";
import type { Command, CommandResult } from "../command.ts";
import type { Executor } from "../execute/executor.ts";
import { parseInbox } from "../inbox/parse.ts";
import type { WriteOutbox } from "../outbox/write-outbox.ts";
import { encodeResult } from "../results.ts";
import { driverName } from "../start.ts";
import type { ExchangeState, OpenExchange } from "../state.ts";
import { type CommandSignal, openCommandSignal, stopGraceMs } from "./command-signal.ts";
import { applyExchanged, type ExchangedEffects } from "./effects.ts";
import { commandEnded, commandStarted, sayingOf, turnStarted } from "./log.ts";

/** Dependencies of the driver. */
export interface TextExchangeOptions {
  readonly clock: Clock;
  readonly openExchange: OpenExchange;
  readonly executor: Executor;
  readonly writeOutbox: WriteOutbox;
}

/** Creates the driver of exchanges; see E1 to E3. */
export function createTextExchange(options: TextExchangeOptions): Driver {
  return {
    name: driverName,
    recovery: "resume",
    isFreeWhileWaiting: true,
    stopGraceMs,
    run: (context) => run(context, options),
  };
}

/** The constants of one activation. */
interface Activation extends TextExchangeOptions {
  readonly context: RunContext;
  readonly exchange: ExchangeState;
  readonly stop: CommandSignal;
}

async function* run(context: RunContext, options: TextExchangeOptions): AsyncGenerator<DriverStep, DriverEnd> {
  using stop = openCommandSignal(context, options.clock);
  const exchange = await options.openExchange(context.runId);
  const activation: Activation = { ...options, context, exchange, stop };
  const { sequence, imported, readRequests, inbox, hasOutbox, isComplete } = exchange;
  if (isComplete) {
    return completed(sequence, lastMessage(exchange));
  }
  if (!hasOutbox) {
    return yield* writeNext(activation, { sequence, results: imported, readRequests });
  }
  if (inbox === undefined) {
    return parked(sequence);
  }
  const commands = parseInbox(inbox);
  const results = yield* execute(activation, commands);
  if (results === undefined) {
    return stopped;
  }
  const summary = results.findLast(({ type }) => type === "DONE")?.summary;
  if (summary !== undefined) {
    yield commit(activation, [], { isComplete: true });
    failpoint("exchange.completed");
    return completed(sequence, summary);
  }
  return yield* writeNext(activation, {
    sequence: sequence + 1,
    results,
    readRequests: readRequestsOf(commands, results),
  });
}

/** Executes the commands. Returns their results in order, or undefined when the run must stop before the last one has ended. */
async function* execute(
  activation: Activation,
  commands: readonly Command[],
): AsyncGenerator<DriverStep, readonly CommandResult[] | undefined> {
  const { context, exchange, stop, executor } = activation;
  const { sequence, attempts } = exchange;
  const results = attempts.flatMap(({ result }) => result ?? []);
  const execution = { ...(await context.openWorkspace()), sessionId: context.session.name, signal: stop.signal };
  // Results that the log still lacks: the end of a command is committed together with the beginning of the next one.
  const hasBegun = context.checkpoint !== undefined && context.checkpoint.turn >= sequence;
  let ended = hasBegun ? nothing : { log: [turnStarted(sequence)], effects: {} };
  for (const [position, command] of commands.entries()) {
    if (position < results.length) {
      continue;
    }
    if (context.signal.aborted) {
      yield commit(activation, ended.log, ended.effects);
      return undefined;
    }
    const attempt = attempts[position];
    if (attempt === undefined) {
      const trace = JSON.stringify(await executor.trace(command, execution));
      const log = [...ended.log, ...commandStarted(command, { sequence, position })];
      yield commit(activation, log, { ...ended.effects, begun: { position, trace } });
      failpoint("command.begun");
    }
    while (!context.isHeld()) {
      yield commit(activation, [], {});
    }
    const result = await executor.run(command, execution, attempt?.trace);
    if (stop.signal.aborted) {
      return undefined;
    }
    failpoint("command.ended");
    results.push(result);
    ended = {
      log: commandEnded(command, result, { sequence, position }),
      effects: { ended: { position, result: encodeResult(result) } },
    };
  }
  yield commit(activation, ended.log, ended.effects);
  failpoint("command.settled");
  return results;
}

interface Ended {
  readonly log: readonly ResultInit[];
  readonly effects: Omit<ExchangedEffects, "sequence">;
}

const nothing: Ended = { log: [], effects: {} };

async function* writeNext(
  activation: Activation,
  outbox: { sequence: number; results: readonly CommandResult[]; readRequests: readonly string[] },
): AsyncGenerator<DriverStep, DriverEnd> {
  const { context, exchange, writeOutbox } = activation;
  const { id, task } = exchange;
  const { sequence, readRequests } = outbox;
  const workspace = await context.openWorkspace();
  const text = await writeOutbox({ exchangeId: id, task, ...outbox }, workspace, context.signal);
  failpoint("outbox.rendered");
  if (context.signal.aborted) {
    return stopped;
  }
  yield commit(activation, [], { outbox: { sequence, text: Buffer.from(text), readRequests } });
  failpoint("outbox.committed");
  return parked(sequence);
}

/**
 * Returns a commit step with a checkpoint. Every step is a valid checkpoint: a takeover never discards the log written so far.
 */
function commit(
  { exchange: { sequence } }: Activation,
  results: readonly ResultInit[],
  exchanged: Omit<ExchangedEffects, "sequence">,
): CommitStep {
  const own: WriteOwn = (trx, { session }) => applyExchanged(trx, session, { sequence, ...exchanged });
  return {
    kind: "commit",
    results,
    effects: { own, checkpoint: checkpointOf(sequence) },
  };
}

function checkpointOf(sequence: number) {
  return { turn: sequence, state: new Uint8Array() };
}

function readRequestsOf(commands: readonly Command[], results: readonly CommandResult[]): readonly string[] {
  return commands.flatMap((command, position) =>
    command.type === "READ_FILE" && results[position]?.success === true ? [command.path] : [],
  );
}

function parked(sequence: number): DriverEnd {
  return {
    kind: "parked",
    reason: `outbox ${sequence} waits for its answer`,
    wakeInMs: undefined,
    checkpoint: checkpointOf(sequence - 1),
  };
}

function completed(sequence: number, summary: string): DriverEnd {
  const message = sayingOf(summary);
  return { kind: "completed", finishReason: "stop", message, turns: sequence, transcript: [message] };
}

/** Returns the summary of a completion that an earlier owner stored. */
function lastMessage({ attempts, imported }: ExchangeState): string {
  const results = [...imported, ...attempts.flatMap(({ result }) => result ?? [])];
  return results.findLast(({ type }) => type === "DONE")?.summary ?? "";
}

/** The supervisor knows why the run was stopped and ends it accordingly. */
const stopped: FailedEnd = { kind: "failed", code: "runner.error", error: "context canceled", retryable: false };
