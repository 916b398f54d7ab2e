// The rows of a conversation: the messages of a session, with the log of one run in the place of that run's messages.
//
// C1  The run with a log shows everything by its log, which has incomplete messages too. None of its messages is in another row.
// C2  A tool call and its result are one row.
// C3  What became of a run that has failed or was cancelled stands after its messages.

import type { Message } from "#gen/runnel/v1/message_pb.js";
import type { SessionMessage } from "#gen/runnel/v1/session_service_pb.js";
import type { Row } from "../../../src/platform/run-view/row.ts";
import type { ToolContent } from "../run/tool-call.tsx";

/** What a row shows. Each has a key of its own, which stays while earlier messages arrive. */
export type ConversationRow =
  | { readonly kind: "run"; readonly key: string; readonly runId: string }
  | {
      readonly kind: "message";
      readonly key: string;
      readonly message: Message | undefined;
      /** The number of the message, after which a fork can begin; undefined where it has none. */
      readonly number: number | undefined;
    }
  | { readonly kind: "end"; readonly key: string; readonly runId: string }
  | { readonly kind: "call"; readonly key: string; readonly content: ToolContent }
  | { readonly kind: "entry"; readonly key: string; readonly row: Row };

/** A run that shows its log: what it was started with, and the rows so far. */
export interface LoggedRun {
  readonly runId: string;
  readonly input: readonly Message[];
  readonly rows: readonly Row[];
}

/** Returns the rows, oldest first. `messages` are those that are loaded, oldest first; `failed` are runs that have failed or were cancelled. */
export function layConversation(
  messages: readonly SessionMessage[],
  logged: LoggedRun | undefined,
  failed: ReadonlySet<string>,
): ConversationRow[] {
  const at = logged === undefined ? -1 : messages.findIndex(({ runId }) => runId === logged.runId);
  const end = at === -1 ? messages.length : at;
  const after = messages.slice(end).filter(({ runId }) => runId !== logged?.runId);
  return [
    ...rowsOfMessages(messages.slice(0, end), failed),
    ...(logged === undefined ? [] : rowsOfLog(logged)),
    ...rowsOfMessages(after, failed),
  ];
}

function rowsOfLog({ runId, input, rows }: LoggedRun): ConversationRow[] {
  return [
    { kind: "run", key: `run ${runId}`, runId },
    ...input.map((message, index) => ({
      kind: "message" as const,
      key: `input ${runId} ${index}`,
      message,
      number: undefined,
    })),
    ...rows.map((row) => ({ kind: "entry" as const, key: `entry ${runId} ${row.sequence}`, row })),
  ];
}

function rowsOfMessages(messages: readonly SessionMessage[], failed: ReadonlySet<string>): ConversationRow[] {
  const rows: ConversationRow[] = [];
  const calls = new Map<string, { -readonly [Key in keyof ToolContent]: ToolContent[Key] }>();
  let shownRun = "";
  const end = (): void => {
    if (failed.has(shownRun)) {
      rows.push({ kind: "end", key: `end ${shownRun}`, runId: shownRun });
    }
  };
  for (const { number, runId, message } of messages) {
    if (runId !== shownRun) {
      end();
    }
    if (runId !== shownRun && runId !== "") {
      rows.push({ kind: "run", key: `run ${runId} ${number}`, runId });
    }
    shownRun = runId;
    const text = message?.content.case === "text" ? message.content.value : "";
    const call = message?.role === "tool" ? calls.get(message.toolCallId ?? "") : undefined;
    if (call !== undefined) {
      Object.assign(call, message?.isError === true ? { error: text } : { result: text });
      continue;
    }
    if (message?.role === "tool") {
      // Its call is on a page that is not loaded.
      rows.push({ kind: "call", key: `call ${number}`, content: callOf(message.name ?? "tool", "{}", text) });
      continue;
    }
    const toolCalls = message?.toolCalls ?? [];
    if (message?.content.case !== undefined && (text !== "" || message.content.case === "parts")) {
      // A fork between a call and its result would leave the call without one.
      rows.push({
        kind: "message",
        key: `message ${number}`,
        message,
        number: toolCalls.length > 0 ? undefined : number,
      });
    }
    for (const { id, name, arguments: given } of toolCalls) {
      const content = callOf(name, given, undefined);
      calls.set(id, content);
      rows.push({ kind: "call", key: `call ${number} ${id}`, content });
    }
  }
  end();
  return rows;
}

function callOf(name: string, parameters: string, result: string | undefined): ToolContent {
  return {
    kind: "tool",
    name,
    parameters,
    isOfProvider: false,
    childRunId: undefined,
    result,
    error: undefined,
    endMs: undefined,
    endSequence: undefined,
  };
}
