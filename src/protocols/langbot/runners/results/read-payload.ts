// Parses the payload of a reported result by its type (LangBot AgentRunner Protocol v1, §7.1 and §7.2).
//
// P1  Strict types must match exactly: a missing member, an unknown member or another kind of value is a fault. Optional
//     members may also be null.
// P2  Telemetry of tools and unknown types are never refused because of their content. Content that does not fit its message is
//     kept as it is.
// P3  Raw JSON stays as it was written, except for white space.

import { create } from "@bufbuild/protobuf";
import type { Message, MessageChunk } from "#gen/runnel/v1/message_pb.js";
import {
  type ActionRequested,
  ActionRequestedSchema,
  ExtensionSchema,
  ToolCallCompletedSchema,
  ToolCallStartedSchema,
} from "#gen/runnel/v1/result_pb.js";
import type { ResultInit } from "../../../../engine/log/result.ts";
import { compactJson, type JsonNode } from "../../../../platform/base/json/text.ts";
import { type NewArtifact, readArtifact } from "./artifact.ts";
import { describe, Members, PayloadFault } from "./members.ts";
import { readChunk, readMessage } from "./message.ts";
import { readStateUpdate, type StateUpdate } from "./state.ts";

/** A parsed payload. */
export type RunnerPayload =
  | { readonly kind: "piece"; readonly chunk: MessageChunk }
  | ({ readonly kind: "message"; readonly message: Message } & Noted)
  | { readonly kind: "artifact"; readonly artifact: NewArtifact }
  | { readonly kind: "state"; readonly update: StateUpdate }
  | { readonly kind: "action"; readonly action: ActionRequested }
  | ({ readonly kind: "telemetry" | "unknown"; readonly payload: NonNullable<ResultInit["payload"]> } & Noted)
  | CompletedPayload
  | FailedPayload;

interface Noted {
  /** Problems of a payload that still counts. */
  readonly warnings?: readonly string[];
}

/** The payload of `run.completed`. */
export interface CompletedPayload extends Noted {
  readonly kind: "completed";
  readonly finishReason: string;
  readonly message: Message | undefined;
}

/** The payload of `run.failed`. */
export interface FailedPayload {
  readonly kind: "failed";
  readonly code: string;
  readonly error: string;
  readonly retryable: boolean;
}

/** A parsed JSON text. */
export interface JsonDocument {
  readonly text: string;
  readonly node: JsonNode;
}

/** Parses a payload. Throws PayloadFault when a payload of a strict type is invalid. */
export function readPayload(type: string, data: JsonDocument, newArtifactId: () => string): RunnerPayload {
  const read = readers.get(type);
  return read === undefined
    ? { kind: "unknown", payload: asItCame(type, data), warnings: warnOfData(data) }
    : read({ ...data, type, members: () => new Members(data.text, data.node, "data"), newArtifactId });
}

/** Whether results of this type end a run. */
export function isTerminalType(type: string): boolean {
  return type === "run.completed" || type === "run.failed";
}

interface Reported extends JsonDocument {
  readonly type: string;
  readonly members: () => Members;
  readonly newArtifactId: () => string;
}

const readers: ReadonlyMap<string, (reported: Reported) => RunnerPayload> = new Map([
  ["message.delta", readPiece],
  ["message.completed", readWholeMessage],
  ["tool.call.started", readLoosely(readToolCallStarted)],
  ["tool.call.completed", readLoosely(readToolCallCompleted)],
  ["artifact.created", readNewArtifact],
  ["state.updated", readState],
  ["action.requested", readAction],
  ["run.completed", readCompleted],
  ["run.failed", readFailed],
]);

function readPiece({ members }: Reported): RunnerPayload {
  const data = members();
  const chunk = readChunk(data.requireObject("chunk"));
  data.refuseOthers();
  return { kind: "piece", chunk };
}

function readWholeMessage({ members }: Reported): RunnerPayload {
  const data = members();
  const message = readMessage(data.requireObject("message"));
  data.refuseOthers();
  return { kind: "message", message, warnings: warnOfMessage(message) };
}

function readNewArtifact({ members, newArtifactId }: Reported): RunnerPayload {
  return { kind: "artifact", artifact: readArtifact(members(), newArtifactId) };
}

function readState({ members }: Reported): RunnerPayload {
  return { kind: "state", update: readStateUpdate(members()) };
}

function readAction({ members }: Reported): RunnerPayload {
  const data = members();
  const action = create(ActionRequestedSchema, {
    action: data.requireText("action"),
    target: data.findJson("target"),
    payload: data.findJson("payload"),
  });
  data.refuseOthers();
  return { kind: "action", action };
}

function readCompleted({ members }: Reported): RunnerPayload {
  const data = members();
  const finishReason = data.findLabel("finish_reason") ?? "stop";
  const last = data.findObject("message");
  const message = last && readMessage(last);
  data.refuseOthers();
  return { kind: "completed", finishReason, message, warnings: warnOfMessage(message) };
}

function warnOfMessage(message: Message | undefined): string[] {
  const isEmpty = message !== undefined && message.content.case === undefined && message.toolCalls.length === 0;
  return isEmpty ? ["data.message has neither content nor tool_calls: write its text into content"] : [];
}

function warnOfData({ node }: JsonDocument): string[] {
  return node.kind === "object" ? [] : [`data is ${describe(node)}, expected an object: kept unchanged`];
}

function readFailed({ members }: Reported): RunnerPayload {
  const data = members();
  const failed: RunnerPayload = {
    kind: "failed",
    error: data.requireText("error"),
    code: data.findLabel("code") ?? "runner.error",
    retryable: data.findFlag("retryable") ?? false,
  };
  data.refuseOthers();
  return failed;
}

/** Returns undefined when the message could not hold all of the data. */
type LooseReader = (data: Members) => ResultInit["payload"] | undefined;

function readLoosely(read: LooseReader): (reported: Reported) => RunnerPayload {
  return (reported) => ({
    kind: "telemetry",
    payload: tryReading(read, reported) ?? asItCame(reported.type, reported),
    warnings: warnOfData(reported),
  });
}

function tryReading(read: LooseReader, { members }: Reported): ResultInit["payload"] | undefined {
  try {
    return read(members());
  } catch (error) {
    if (error instanceof PayloadFault) {
      return undefined;
    }
    throw error;
  }
}

function readToolCallStarted(data: Members): ResultInit["payload"] | undefined {
  const value = create(ToolCallStartedSchema, {
    toolCallId: data.requireText("tool_call_id"),
    toolName: data.requireText("tool_name"),
    parameters: data.findJson("parameters") ?? "{}",
  });
  return data.isWhole ? { case: "toolCallStarted", value } : undefined;
}

/** Reads both `result` and `error`: the document writes null for the missing one. */
function readToolCallCompleted(data: Members): ResultInit["payload"] | undefined {
  const toolCallId = data.requireText("tool_call_id");
  const toolName = data.requireText("tool_name");
  const isNull = (name: string) => data.get(name)?.kind === "null";
  const result = isNull("result") ? undefined : data.findJson("result");
  const error = isNull("error") ? undefined : data.findText("error");
  const value = create(ToolCallCompletedSchema, { toolCallId, toolName, result, error });
  return data.isWhole ? { case: "toolCallCompleted", value } : undefined;
}

function asItCame(type: string, { text, node }: JsonDocument): NonNullable<ResultInit["payload"]> {
  return { case: "extension", value: create(ExtensionSchema, { type, json: compactJson(text, node) }) };
}
