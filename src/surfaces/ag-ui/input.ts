// Reads RunAgentInput. Clients of 0.0.x may send null where 1.0 leaves a field out.

import { Fault } from "../../platform/base/fault.ts";
import { type AgUiMessage, type AgUiToolCall, RunRefused } from "./events.ts";

/** The input of a run. */
export interface RunInput {
  readonly threadId: string;
  readonly runId: string;
  /** True for a client of protocol 1.0. */
  readonly isV1: boolean;
  readonly parentRunId: string | undefined;
  readonly state: object;
  readonly messages: readonly AgUiMessage[];
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: string }[];
  /** What the client tells the model: its context, and its system messages. */
  readonly instructions: string;
  /** The answers to interrupts. */
  readonly resume: readonly ResumeEntry[];
}

/** The answer to an interrupt. */
export interface ResumeEntry {
  readonly interruptId: string;
  /** False also when the person left the question. */
  readonly isApproved: boolean;
  /** True when the person left the question. */
  readonly isCancelled: boolean;
  readonly comment: string;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads the input.
 * @throws Fault INVALID_ARGUMENT for a body that is no input, RunRefused for content that models cannot get here.
 */
export function readRunInput(text: string): RunInput {
  const body = asObject(parse(text), "the body");
  const threadId = requireText(body, "threadId");
  const runId = requireText(body, "runId");
  const messages = asList(body.messages, "messages").map((each, index) => asObject(each, `messages[${index}]`));
  const isSystem = ({ role }: Json): boolean => role === "system" || role === "developer";
  const context = asList(body.context, "context").map((each, index) => asObject(each, `context[${index}]`));
  return {
    threadId,
    runId,
    isV1: typeof body.protocolVersion === "string",
    parentRunId: typeof body.parentRunId === "string" ? body.parentRunId : undefined,
    state: typeof body.state === "object" && body.state !== null ? body.state : {},
    messages: messages.filter((each) => !isSystem(each) && spoken.has(String(each.role))).map(readMessage),
    tools: asList(body.tools, "tools").map((each, index) => readTool(asObject(each, `tools[${index}]`), index)),
    instructions: [
      ...context.map(({ description, value }) => `${String(description ?? "")}:\n${printValue(value)}`),
      ...messages.filter(isSystem).map(({ content }) => contentText(content, "system")),
    ].join("\n\n"),
    resume: asList(body.resume, "resume").map((each, index) => readResume(asObject(each, `resume[${index}]`), index)),
  };
}

function readResume(entry: Json, index: number): ResumeEntry {
  const field = `resume[${index}]`;
  const interruptId = requireText(entry, "interruptId", field);
  const { status, payload } = entry;
  if (status === "cancelled") {
    return { interruptId, isApproved: false, isCancelled: true, comment: "" };
  }
  const { approved, comment } = asObject(payload, `${field}.payload`);
  if (status !== "resolved" || typeof approved !== "boolean") {
    throw wrong(field, "must be cancelled, or resolved with the payload {approved: true or false}");
  }
  return { interruptId, isApproved: approved, isCancelled: false, comment: typeof comment === "string" ? comment : "" };
}

/** The roles of a conversation. Reasoning and activities are for people. */
const spoken: ReadonlySet<string> = new Set(["user", "assistant", "tool"]);

function readMessage(message: Json, index: number): AgUiMessage {
  const { role, content } = message;
  const field = `messages[${index}]`;
  const id = requireText(message, "id", field);
  const text = content === undefined || content === null ? undefined : contentText(content, field);
  if (role === "tool") {
    return { id, role, content: text ?? "", toolCallId: requireText(message, "toolCallId", field) };
  }
  const toolCalls = asList(message.toolCalls, `${field}.toolCalls`).map((each) => each as AgUiToolCall);
  return {
    id,
    role: String(role),
    ...(text !== undefined && { content: text }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

function contentText(content: unknown, field: string): string {
  if (typeof content === "string") {
    return content;
  }
  return asList(content, `${field}.content`)
    .map((part) => {
      const { type, text } = asObject(part, `${field}.content`);
      if (type !== "text" || typeof text !== "string") {
        throw new RunRefused(
          "unsupported_content",
          `${field}: parts of type ${String(type)} are not supported: send text`,
        );
      }
      return text;
    })
    .join("");
}

function readTool(tool: Json, index: number): RunInput["tools"][number] {
  const name = requireText(tool, "name", `tools[${index}]`);
  const { description, parameters } = tool;
  return {
    name,
    description: typeof description === "string" ? description : "",
    parameters: parameters === undefined || parameters === null ? "" : JSON.stringify(parameters),
  };
}

function printValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Fault("INVALID_ARGUMENT", "invalid request body: not JSON", { cause: error });
  }
}

function requireText(json: Json, name: string, path = ""): string {
  const value = json[name];
  if (typeof value !== "string" || value === "") {
    throw wrong(path === "" ? name : `${path}.${name}`, "is missing: give a text that is not empty");
  }
  return value;
}

function asObject(value: unknown, field: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrong(field, "must be an object");
  }
  return value as Json;
}

function asList(value: unknown, field: string): readonly unknown[] {
  if (value === undefined || value === null) {
    return [];
  }
  if (!Array.isArray(value)) {
    throw wrong(field, "must be a list");
  }
  return value;
}

function wrong(field: string, problem: string): Fault {
  return new Fault("INVALID_ARGUMENT", `invalid ${field}: ${problem}`, {
    violations: [{ field, description: problem }],
  });
}
