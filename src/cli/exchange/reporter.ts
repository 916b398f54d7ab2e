// The output of the exchange commands: lines for people, one JSON object an event for programs. Texts of models and commands
// are shown without characters that act on a terminal.

import { relative, sep } from "node:path";
import { type CommandResult, CommandResultSchema } from "#gen/runnel/exchange/v1/exchange_pb.js";
import { answerJson } from "../answer-json.ts";
import type { CommandError } from "../command-error.ts";
import type { Output, Paint } from "../output.ts";
import type { Folders } from "./folders.ts";

/** Prints the events of an exchange. */
export interface Reporter {
  started(sessionId: string, runId: string): Promise<void>;
  /** Printed once for each outbox; repeated calls print nothing. */
  outbox(sessionId: string, sequence: number, path: string): Promise<void>;
  taken(name: string, sequence: number): Promise<void>;
  results(sequence: number, results: readonly CommandResult[]): Promise<void>;
  /** A file that was not sent, or whose text the service refused: nothing of it was executed. */
  refused(name: string, why: Refusal): Promise<void>;
  /** A file that was answered and cannot be moved away. */
  kept(name: string, why: string): Promise<void>;
  completed(sessionId: string, summary: string): Promise<void>;
  /** The exchange failed or was cancelled. */
  ended(sessionId: string, state: "failed" | "cancelled", why: string): Promise<void>;
}

/** Why a text was refused, and how to fix it. */
export type Refusal = Pick<CommandError, "message" | "reason" | "fix">;

/** Creates the reporter of a command. */
export function createReporter({ stream }: Output, { inbox, processed }: Folders): Reporter {
  let newest = 0;
  const report = (event: string, value: object, show: (paint: Paint) => string): Promise<void> =>
    stream(() => ({ event, ...value }), show);
  return {
    started: (sessionId, runId) =>
      report("started", { session_id: sessionId, run_id: runId }, () => `session ${sessionId}  run ${runId}\n`),
    outbox: async (sessionId, sequence, path) => {
      if (sequence <= newest) {
        return;
      }
      const isFirst = newest === 0;
      newest = sequence;
      await report("outbox", { session_id: sessionId, sequence, path }, (paint) => {
        const next = `  show all of it to your chat window, and save the answer as any .txt file in ${near(inbox)}${sep}\n`;
        return `${paint("bold", `outbox ${sequence}`)}  ${near(path)}\n${isFirst ? next : ""}`;
      });
    },
    taken: (name, sequence) => report("taken", { name, sequence }, () => `${clean(name)} answers outbox ${sequence}\n`),
    results: async (sequence, results) => {
      for (const result of results) {
        const value = { sequence, result: answerJson(CommandResultSchema, result) };
        await report("result", value, (paint) => showResult(result, paint));
      }
    },
    refused: (name, { message, reason, fix }) =>
      report("refused", { name, reason, error: message, ...(fix !== undefined && { fix }) }, (paint) => {
        const what = message.startsWith(name) ? message : `${name}: ${message}`;
        return `${paint("red", "refused")}  ${indent(fix === undefined ? what : `${what}: ${fix}`)}; nothing of it was executed\n`;
      }),
    kept: (name, why) =>
      report("kept", { name, error: why }, (paint) => {
        const what = `${name} was answered and cannot be moved to ${near(processed)}${sep} (${why})`;
        return `${paint("yellow", "kept")}  ${indent(what)}; it is not taken again\n`;
      }),
    completed: (sessionId, summary) =>
      report(
        "completed",
        { session_id: sessionId, summary },
        (paint) => `${paint("green", "✓")} completed: ${indent(summary)}\n`,
      ),
    ended: (sessionId, state, why) =>
      report(
        "ended",
        { session_id: sessionId, state, error: why },
        (paint) => `${paint("red", "✗")} ${state}: ${indent(why)}\n`,
      ),
  };
}

/** Prints a result. `[DONE]` prints nothing, because the end of the exchange is printed by itself. */
function showResult({ type, success, summary, output }: CommandResult, paint: Paint): string {
  if (type === "DONE") {
    return "";
  }
  if (type === "MESSAGE") {
    return `${paint("cyan", "message")}  ${indent(summary)}\n`;
  }
  const mark = success ? paint("green", "[OK]") : paint("red", "[FAILED]");
  const printed = output.trim() === "" ? "" : `  ${indent(output.trimEnd())}\n`;
  return `${mark} ${type}: ${indent(summary)}\n${printed}`;
}

/** Indents all lines except the first. */
function indent(text: string): string {
  return clean(text).replaceAll("\n", "\n  ");
}

function clean(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(/[^\P{Cc}\n\t]|\p{Cf}/gu, " ");
}

/** Returns a path as a person types it here. */
function near(path: string): string {
  const way = relative(process.cwd(), path);
  return way.startsWith("..") ? path : way;
}
