// Converts a run's log to the events of the Agent Runner document: a pure function from one result to its events.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { RunCompleted, RunFailed, RunResult, ToolCallCompleted } from "#gen/runnel/v1/result_pb.js";
import { Session_State } from "#gen/runnel/v1/session_pb.js";
import { type StreamSessionResponse, StreamSessionResponseSchema } from "#gen/runnel/v1/session_service_pb.js";
import { completedText } from "../../engine/sessions/message-text.ts";
import { shared } from "../../platform/base/shared.ts";

type Event = NonNullable<MessageInitShape<typeof StreamSessionResponseSchema>["event"]>;

/**
 * Returns the events of a result: at most two. Only the last one carries the id, so a reader cut off between them gets both
 * again. All readers of the result share them.
 */
export const sessionEvents = shared((result: RunResult): readonly StreamSessionResponse[] => {
  const events = eventsOf(result);
  const id = printPosition(result.runId, result.sequence);
  return events.map((event, index) =>
    create(StreamSessionResponseSchema, index === events.length - 1 ? { id, event } : { event }),
  );
});

/** Prints the id of the event of this result: `<run_id>.<sequence>`. `parsePosition` reads it. */
function printPosition(runId: string, sequence: bigint): string {
  return `${runId}.${sequence}`;
}

function eventsOf({ runId, payload }: RunResult): Event[] {
  switch (payload.case) {
    case "messageDelta":
      return textEvents(payload.value.chunk?.content ?? "");
    case "toolCallStarted":
      return [{ case: "toolCall", value: { tool: payload.value.toolName, args: payload.value.parameters || "{}" } }];
    case "toolCallCompleted":
      return [toolResult(payload.value)];
    case "turnRestarted":
      return [{ case: "turnRestarted", value: { fromId: printPosition(runId, payload.value.fromSequence) } }];
    case "runCompleted":
      return [completed(payload.value)];
    case "runFailed":
      return failed(payload.value);
    default:
      // The document names no other events. Readers of the log itself see all other results and unknown types.
      return [];
  }
}

function textEvents(content: string): Event[] {
  return content === "" ? [] : [{ case: "text", value: { content } }];
}

function toolResult({ toolName: tool, result, error }: ToolCallCompleted): Event {
  if (error !== undefined) {
    return { case: "toolResult", value: { tool, success: false, content: "", error } };
  }
  return { case: "toolResult", value: { tool, success: true, content: resultText(result ?? "{}") } };
}

/**
 * Returns the text of a tool's JSON result. Built-in tools answer `{"content": text}`; for other tools it is the JSON itself.
 */
function resultText(json: string): string {
  const value: unknown = JSON.parse(json);
  const isText = typeof value === "object" && value !== null && "content" in value && typeof value.content === "string";
  return isText ? String(value.content) : json;
}

function completed(end: RunCompleted): Event {
  const { turns, durationMs } = end;
  const value = { status: Session_State.COMPLETED, output: completedText(end), turns, durationMs };
  return { case: "done", value };
}

/** A cancelled run ends with `done` and no error: the client asked for it, by DELETE or by CancelRun. */
function failed({ code, error, output, turns, durationMs }: RunFailed): Event[] {
  if (code === "cancelled") {
    return [{ case: "done", value: { status: Session_State.CANCELLED, output, turns, durationMs } }];
  }
  return [
    { case: "error", value: { message: error } },
    { case: "done", value: { status: Session_State.FAILED, output, turns, durationMs } },
  ];
}
