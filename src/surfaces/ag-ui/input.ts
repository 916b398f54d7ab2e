// Reads RunAgentInput.

import { Fault, invalidField } from "../../platform/base/fault.ts";
import { parseExact } from "../../platform/base/json/exact.ts";
import type { ResumeEntry } from "../in-process/interrupts.ts";
import { type Content, readContent, readText } from "./content.ts";
import type { AgUiMessage, AgUiToolCall } from "./events.ts";
import { InputReader } from "./input-reader.ts";

/** A message that a client sends. */
export interface SentMessage extends Omit<AgUiMessage, "content"> {
  readonly content?: Content;
}

/** The input of a run. */
export interface RunInput {
  readonly threadId: string;
  readonly runId: string;
  /** True for a client of protocol 1.0. */
  readonly isV1: boolean;
  readonly parentRunId: string | undefined;
  readonly state: object;
  readonly messages: readonly SentMessage[];
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: string }[];
  /** What the client tells the model: its context, and its system messages. */
  readonly instructions: string;
  /** The answers to interrupts. */
  readonly resume: readonly ResumeEntry[];
}

/**
 * Reads the input.
 * @throws Fault INVALID_ARGUMENT for a body that is no input, RunRefused for content that models cannot get here.
 */
export function readRunInput(text: string): RunInput {
  const body = new InputReader(parse(text));
  const threadId = body.requireText("threadId");
  const runId = body.requireText("runId");
  const messages = body.findObjects("messages") ?? [];
  const context = body.findObjects("context") ?? [];
  const state = body.find("state");
  return {
    threadId,
    runId,
    isV1: body.hint("protocolVersion") !== undefined,
    parentRunId: body.hint("parentRunId"),
    state: typeof state === "object" && state !== null ? state : {},
    messages: messages.filter((each) => spoken.has(String(each.find("role")))).map(readMessage),
    tools: (body.findItems("tools") ?? []).map((each, index) => readTool(new InputReader(each, `tools[${index}]`))),
    instructions: [
      ...context.map((each) => `${String(each.find("description") ?? "")}:\n${printValue(each.find("value"))}`),
      ...messages.filter((each) => instructing.has(each.find("role"))).map(readText),
    ].join("\n\n"),
    resume: (body.findItems("resume") ?? []).map((each, index) =>
      readResume(new InputReader(each, `resume[${index}]`)),
    ),
  };
}

function readResume(entry: InputReader): ResumeEntry {
  const interruptId = entry.requireText("interruptId");
  const status = entry.find("status");
  if (status === "cancelled") {
    return { interruptId, isApproved: false, isCancelled: true, comment: "" };
  }
  const payload = entry.requireObject("payload");
  const approved = payload.find("approved");
  if (status !== "resolved" || typeof approved !== "boolean") {
    throw invalidField(entry.path, "must be cancelled, or resolved with the payload {approved: true or false}");
  }
  return { interruptId, isApproved: approved, isCancelled: false, comment: payload.hint("comment") ?? "" };
}

/** The roles of a conversation. Reasoning and activities are for people. */
const spoken: ReadonlySet<string> = new Set(["user", "assistant", "tool"]);
const instructing: ReadonlySet<unknown> = new Set(["system", "developer"]);

function readMessage(message: InputReader): SentMessage {
  const id = message.requireText("id");
  const role = String(message.find("role"));
  const content = readContent(message);
  if (role === "tool") {
    return { id, role, ...(content && { content }), toolCallId: message.requireText("toolCallId") };
  }
  const toolCalls = (message.findObjects("toolCalls") ?? []).map(readCall);
  return {
    id,
    role,
    ...(content && { content }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

function readCall(call: InputReader): AgUiToolCall {
  const called = call.requireObject("function");
  const [name, json] = [called.requireText("name"), called.hint("arguments") ?? ""];
  return { id: call.requireText("id"), type: "function", function: { name, arguments: json } };
}

function readTool(tool: InputReader): RunInput["tools"][number] {
  const name = tool.requireText("name");
  const parameters = tool.find("parameters");
  return {
    name,
    description: tool.hint("description") ?? "",
    parameters: parameters === undefined ? "" : JSON.stringify(parameters),
  };
}

function printValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

function parse(text: string): unknown {
  try {
    return parseExact(text);
  } catch (error) {
    throw new Fault("INVALID_ARGUMENT", "invalid request body: not JSON", { cause: error });
  }
}
