// The driver of coding agents: starts the agent's program in the jail, sends it the input of the run as a prompt, and writes what it does
// into the log.
//
//   program ──→ session, new or continued ──→ checkpoint ──→ prompt ──→ updates … ──→ completed
//
// A1  The checkpoint before a prompt is durable before the prompt is sent. A prompt is never sent again: after the death of a replica the
//     next one starts the agent again and tells it to look and go on, if it can continue its session. Otherwise the run fails and says so.
// A2  A call that was open at the death of a replica is reported as interrupted.
// A3  The program ends with the run, and with the service if that dies.

import type { RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { Commands } from "../../agent/tools/bash/commands.ts";
import { type ServedProgram, serveProgram } from "../../agent/tools/bash/served-program.ts";
import type { Wakeup } from "../../engine/log/wakeup.ts";
import type { Driver, DriverEnd, DriverStep, FailedEnd, RunContext } from "../../engine/runs/driver.ts";
import { messageText } from "../../engine/sessions/message-text.ts";
import { type Clock, over } from "../../platform/base/clock.ts";
import { isObject, parseObject } from "../../platform/base/json/parse-object.ts";
import { onAbort } from "../../platform/base/on-abort.ts";
import type { Db } from "../../platform/database/database.ts";
import { createHider } from "../../platform/telemetry/scrub.ts";
import type { CodingAgent } from "./agents.ts";
import type { AgentConnection } from "./connection.ts";
import { failed, interruptedCall, stopped, turnLost } from "./failure.ts";
import { openAgentFiles } from "./files.ts";
import { Fold, settleCall } from "./fold.ts";
import { Happenings, type PromptEnd } from "./happenings.ts";
import { busyRetryMs, cancelGraceMs, errorCharsMax, loggedCharsMax, stopGraceMs } from "./limits.ts";
import { Permissions, permit } from "./permissions.ts";
import { type Beginning, isSeen, promptOf, type SeenHistory } from "./prompt.ts";
import { findAcpSession, saveAcpSession } from "./storage/acp-session.ts";
import { usageOf } from "./usage.ts";

/** The name of the driver. */
export const driverName = "coding-agent";

/** What the driver needs. */
export interface CodingAgentOptions {
  readonly agents: readonly CodingAgent[];
  readonly programsMax: number;
  readonly commands: Pick<Commands, "serve">;
  readonly clock: Clock;
  readonly db: Db;
  readonly wakeup: Wakeup;
}

/** Returns the driver of coding agents. */
export function createCodingAgent(options: CodingAgentOptions): Driver {
  let programs = 0;
  return {
    name: driverName,
    recovery: "resume",
    stopGraceMs,
    run: async function* (context) {
      const agent = options.agents.find(({ name }) => name === context.agent.runner);
      if (agent === undefined) {
        return failed(
          "runner.unavailable",
          `this replica has no coding agent "${context.agent.runner}" in its settings`,
        );
      }
      if (programs >= options.programsMax) {
        const checkpoint = context.checkpoint ?? checkpointOf({ calls: 0, open: {} });
        const reason = `this replica runs its maximum of ${programs} coding agents`;
        return { kind: "parked", reason, wakeInMs: busyRetryMs, checkpoint };
      }
      programs += 1;
      try {
        return yield* run(context, agent, options);
      } finally {
        programs -= 1;
      }
    },
  };
}

/** The state of a run in its checkpoint. */
interface Progress {
  /** The number of tool calls so far. */
  readonly calls: number;
  /** The numbers of the open tool calls, by their ids. */
  readonly open: Readonly<Record<string, number>>;
  /** The agent's session; undefined until a prompt may have been sent. */
  readonly acpSession?: string;
}

function checkpointOf(progress: Progress) {
  return { turn: progress.calls, state: Buffer.from(JSON.stringify(progress)) };
}

function readProgress({ checkpoint }: RunContext): Progress {
  const { calls, open, acpSession } = parseObject(Buffer.from(checkpoint?.state ?? []).toString()) ?? {};
  return {
    calls: typeof calls === "number" ? calls : 0,
    open: isObject(open) ? (open as Readonly<Record<string, number>>) : {},
    ...(typeof acpSession === "string" && { acpSession }),
  };
}

async function* run(
  context: RunContext,
  agent: CodingAgent,
  options: CodingAgentOptions,
): AsyncGenerator<DriverStep, DriverEnd> {
  const { commands, clock } = options;
  const progress = readProgress(context);
  for (const { call } of context.openToolCalls) {
    const turn = progress.open[call.id] ?? progress.calls;
    yield settleCall({ turn, call, end: { error: interruptedCall }, checkpoint: checkpointOf(progress) });
  }
  const hide = createHider(agent.secrets);
  const place = { ...(await context.openWorkspace()), sessionId: context.session.name };
  const happenings = new Happenings();
  let program: ServedProgram | undefined;
  let connection: AgentConnection | undefined;
  try {
    try {
      const { connectAgent } = await import("./connection.ts");
      program = await serveProgram(agent.address, { commands, clock, context: place, network: agent.hasNetwork });
      connection = await connectAgent(program, {
        ...{ clock, signal: context.signal, updates: happenings },
        files: openAgentFiles({ ...place, signal: context.signal }),
        ask: (request) =>
          agent.permissions === "allow"
            ? Promise.resolve(permit(request))
            : new Promise<RequestPermissionResponse["outcome"]>((answer) =>
                happenings.push({ kind: "asked", request, answer }),
              ),
      });
    } catch (error) {
      return context.signal.aborted
        ? stopped
        : failed("runner.unavailable", `the coding agent ${agent.name} did not start: ${words(error, hide)}`);
    }
    return yield* converse({ context, agent, options, progress, hide, happenings, connection, workDir: place.workDir });
  } finally {
    connection?.close();
    await program?.stop();
  }
}

/** The constants of a prompt. */
interface Turn {
  readonly context: RunContext;
  readonly agent: CodingAgent;
  readonly options: CodingAgentOptions;
  readonly progress: Progress;
  readonly hide: (text: string) => string;
  readonly happenings: Happenings;
  readonly connection: AgentConnection;
  readonly workDir: string;
}

async function* converse(turn: Turn): AsyncGenerator<DriverStep, DriverEnd> {
  const { context, agent, progress, connection } = turn;
  const opened = await openSession(turn);
  if ("kind" in opened) {
    return opened;
  }
  const { acpSession, beginning } = opened;
  const isResumed = progress.acpSession !== undefined;
  const lastText = messageText(context.input);
  yield {
    kind: "commit",
    results: isResumed
      ? [
          {
            payload: {
              case: "extension",
              value: { type: "acp.prompt.interrupted", json: JSON.stringify({ beginning }) },
            },
          },
        ]
      : [{ payload: { case: "turnStarted", value: { turn: 1 } } }],
    effects: {
      checkpoint: checkpointOf({ ...progress, open: {}, acpSession }),
      own: (trx, { session }) => saveAcpSession(trx, session, { agent: agent.name, acpSession, lastText }),
    },
  };
  while (!context.isHeld()) {
    yield { kind: "commit", results: [], effects: {} };
  }
  const fold = new Fold({
    calls: progress.calls,
    hide: turn.hide,
    checkpoint: (calls, open) => checkpointOf({ calls, open, acpSession }),
  });
  const prompt = promptOf(context, beginning, connection.takesImages);
  void connection.prompt(acpSession, prompt).then((outcome) => turn.happenings.push({ kind: "ended", outcome }));
  const end = yield* follow(turn, fold, acpSession);
  if (end === undefined) {
    return stopped;
  }
  yield* fold.end();
  return endOf(end, { fold, turn, acpSession });
}

/** Opens a session of the agent, or continues the one that it has. */
async function openSession({
  context,
  agent,
  options,
  progress,
  hide,
  happenings,
  connection,
  workDir,
}: Turn): Promise<{ acpSession: string; beginning: Beginning } | FailedEnd> {
  const { runId, transcript, input, signal } = context;
  const before = transcript.at(-2);
  const known =
    progress.acpSession ??
    (before && (await findAcpSession(options.db, { runId, agent: agent.name, lastText: messageText(before) })));
  const mustContinue = progress.acpSession !== undefined;
  try {
    if (known !== undefined && connection.continues !== undefined) {
      const history = readHistory(happenings);
      try {
        await connection.openSession(workDir, known);
        const seen = isSeen(input, await history.close(), connection.takesImages);
        return {
          acpSession: known,
          beginning: mustContinue ? (seen ? "interrupted" : "interrupted-unseen") : "continued",
        };
      } catch (error) {
        await history.close();
        if (mustContinue || signal.aborted) {
          throw error;
        }
      }
    }
    if (mustContinue) {
      return turnLost("this agent cannot continue a session");
    }
    return { acpSession: await connection.openSession(workDir), beginning: "new" };
  } catch (error) {
    if (signal.aborted) {
      return stopped;
    }
    return mustContinue
      ? turnLost(`the agent could not continue its session: ${words(error, hide)}`)
      : failed("runner.error", `the coding agent ${agent.name} opened no session: ${words(error, hide)}`);
  }
}

/** Reads the history that an agent repeats while it loads a session. */
function readHistory(happenings: Happenings): { close(): Promise<SeenHistory> } {
  let text = "";
  let imageChars = 0;
  const images = new Set<string>();
  let isOpen = true;
  const reading = (async () => {
    while (isOpen) {
      for (const happening of await happenings.next()) {
        const update =
          happening.kind === "update"
            ? (happening.update as { sessionUpdate?: unknown; content?: { text?: unknown; data?: unknown } })
            : {};
        const { text: said, data } = update.sessionUpdate === "user_message_chunk" ? (update.content ?? {}) : {};
        text += text.length < loggedCharsMax ? String(said ?? "") : "";
        if (typeof data === "string" && imageChars < loggedCharsMax) {
          imageChars += data.length;
          images.add(data);
        }
      }
    }
  })();
  return {
    close: async () => {
      isOpen = false;
      happenings.push({ kind: "look" });
      await reading;
      return { text, images };
    },
  };
}

/** Writes what the agent does until its prompt ends. Returns undefined when the run was stopped. */
async function* follow(
  { context, options, happenings, connection }: Turn,
  fold: Fold,
  acpSession: string,
): AsyncGenerator<DriverStep, PromptEnd | undefined> {
  const { clock, db, wakeup } = options;
  const permissions = new Permissions(context, { db, clock });
  const look = (): void => happenings.push({ kind: "look" });
  const leave = [wakeup.subscribe("approval", ({ key }) => key === context.runId && look()), wakeup.onGap(look)];
  const done = new AbortController();
  const stop = (): void => {
    permissions.cancel();
    connection.cancel(acpSession);
    const graceMs = context.stopReason() === "lost" ? 0 : cancelGraceMs;
    void clock.sleep(graceMs, done.signal).then(() => happenings.push({ kind: "stopped" }));
  };
  using _stopping = onAbort(context.signal, stop);
  if (context.signal.aborted) {
    stop();
  }
  try {
    for (;;) {
      for (const happening of await happenings.next()) {
        switch (happening.kind) {
          case "update":
            // An agent may have a session for each agent that it calls.
            if (happening.sessionId !== acpSession) {
              break;
            }
            yield* fold.take(happening.update);
            if (fold.chars > loggedCharsMax) {
              return { error: new Error(`it sent more than ${loggedCharsMax} characters in one run`) };
            }
            break;
          case "asked":
            if (context.signal.aborted) {
              happening.answer({ outcome: "cancelled" });
              break;
            }
            yield* permissions.ask(happening, fold);
            void clock.sleep(permissions.waitMs ?? 0, done.signal).then(() => done.signal.aborted || look());
            break;
          case "look":
            yield* permissions.look();
            break;
          case "ended":
            return context.signal.aborted ? undefined : happening.outcome;
          case "stopped":
            return undefined;
          default:
            return happening satisfies never;
        }
      }
    }
  } finally {
    done.abort(over);
    for (const each of leave) {
      each();
    }
  }
}

const finishReasons: Readonly<Record<string, string>> = {
  end_turn: "stop",
  max_tokens: "length",
  max_turn_requests: "max_turns",
};

function endOf(end: PromptEnd, { fold, turn, acpSession }: { fold: Fold; turn: Turn; acpSession: string }): DriverEnd {
  const { agent, hide } = turn;
  if ("error" in end) {
    return failed("runner.error", `the coding agent ${agent.name} failed: ${words(end.error, hide)}`);
  }
  const usage = usageOf(end.usage);
  const finishReason = finishReasons[end.stopReason];
  if (finishReason === undefined) {
    return { ...failed("runner.error", `the coding agent ${agent.name} ended its turn: ${end.stopReason}`), ...usage };
  }
  const message = fold.said;
  const lastText = messageText(message ?? turn.context.input);
  return {
    ...{ kind: "completed", finishReason, message, turns: fold.calls + 1, ...usage },
    ...(message !== undefined && { transcript: [message] }),
    own: (trx, { session }) => saveAcpSession(trx, session, { agent: agent.name, acpSession, lastText }),
  };
}

/** Words an error of the agent. */
function words(error: unknown, hide: (text: string) => string): string {
  const { message, data } = (error ?? {}) as { message?: unknown; data?: unknown };
  const { details = data } = (data ?? {}) as { details?: unknown };
  const more = details == null ? "" : ` (${typeof details === "string" ? details : JSON.stringify(details)})`;
  return hide(`${String(message ?? error)}${more}`)
    .slice(0, errorCharsMax)
    .toWellFormed();
}
