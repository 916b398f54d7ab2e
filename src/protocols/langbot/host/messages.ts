// Converts messages between the runners' format (LangBot AgentRunner Protocol v1, §7.2) and that of models.
//
// H1  Content that a model cannot get is refused with its path, or replaced by a placeholder with the reason. Nothing is left
//     out silently.
// H2  State that a provider needs back with its own messages goes out as `provider_specific_fields` and comes back unchanged.

import { estimateMediaTokens } from "../../../agent/models/catalogue.ts";
import { joinText, placeholder } from "../../../agent/models/media/placeholder.ts";
import type { ModelContent, ModelMessage, ModelToolCall, ModelToolDefinition } from "../../../agent/models/model.ts";
import { invalidField } from "../../../platform/base/fault.ts";
import { ObjectText, readObjectText, withArticle } from "../../../platform/base/json/object-text.ts";
import { assertFewInline, type ReadPart, readContent } from "./content.ts";

/** The messages of a model call. */
export interface Conversation {
  /** The texts of all system messages, in order. */
  readonly system: string;
  /** The other messages. Their artifacts are not loaded yet. */
  readonly messages: readonly ModelMessage<ReadPart>[];
}

/** Parses the messages of a model call. Throws Fault INVALID_ARGUMENT when one is invalid or a tool call is not answered. */
export function readConversation(texts: readonly string[]): Conversation {
  const system: string[] = [];
  const messages: ModelMessage<ReadPart>[] = [];
  const calls = new OpenCalls();
  for (const [index, text] of texts.entries()) {
    const message = readMessage(readObjectText(text, `messages[${index}]`), calls);
    if ("system" in message) {
      system.push(message.system);
    } else {
      messages.push(message);
    }
  }
  calls.assertAnswered();
  assertFewInline(messages.flatMap(mediaOf), "messages");
  if (messages.length === 0) {
    throw invalidField("messages", "have no message that is not of role system: give at least one");
  }
  return { system: system.join("\n\n"), messages };
}

/** Content whose tokens can be estimated. */
export interface Countable {
  readonly texts: readonly string[];
  /** The estimated tokens of images and files. */
  readonly mediaTokens: number;
}

/**
 * Parses messages that need not form a conversation: runners count parts of one before they choose what to send. Throws Fault
 * INVALID_ARGUMENT when a message is invalid.
 */
export function readCountable(texts: readonly string[]): Countable {
  const read = texts.map((text, index) => readMessage(readObjectText(text, `messages[${index}]`), anyCalls));
  return {
    texts: read.flatMap((message) => {
      if ("system" in message) {
        return message.system;
      }
      const calls = message.role === "assistant" ? message.toolCalls : [];
      return [message.text, ...calls.flatMap(({ name, argumentsJson }) => [name, argumentsJson])];
    }),
    mediaTokens: read
      .flatMap((message) => ("system" in message ? [] : mediaOf(message)))
      .reduce((sum, part) => {
        return sum + (part.type === "artifact" ? estimateMediaTokens(part.kind, undefined) : tokensOfMedia(part));
      }, 0),
  };
}

/** Parses tool definitions. Throws Fault INVALID_ARGUMENT when one is invalid or a name is repeated. */
export function readFunctions(texts: readonly string[]): ModelToolDefinition[] {
  const functions = texts.map((text, index) => readFunction(readObjectText(text, `functions[${index}]`)));
  const names = functions.map(({ name }) => name);
  const twin = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (twin !== -1) {
    throw invalidField(
      `functions[${twin}].name`,
      `${JSON.stringify(names[twin])} occurs twice: give each function its own name`,
    );
  }
  return functions;
}

/** A model's answer: text, tool calls and the provider's state as JSON. */
export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
  readonly state: string | undefined;
}

/** Prints a complete answer as JSON. Missing members are left out. An empty text beside tool calls is `null`. */
export function printMessage({ text, calls, state }: ModelAnswer): string {
  const said = { role: "assistant", content: text === "" && calls.length > 0 ? null : text.toWellFormed() };
  return withFields({ ...said, ...(calls.length > 0 && { tool_calls: calls.map(printCall) }) }, state);
}

/** Prints a piece of text: `{"role":"assistant","content":"Hel","is_final":false}`. */
export function printTextChunk(content: string): string {
  return JSON.stringify({ role: "assistant", content: content.toWellFormed(), is_final: false });
}

/** Prints one complete tool call as a chunk. */
export function printCallChunk(call: ModelToolCall): string {
  return JSON.stringify({ role: "assistant", content: "", tool_calls: [printCall(call)], is_final: false });
}

/** Prints the last chunk of an answer. */
export function printLastChunk(state: string | undefined): string {
  return withFields({ role: "assistant", content: "", is_final: true }, state);
}

/** Checks which tool calls may be made and answered. */
type Calls = Pick<OpenCalls, "ask" | "answer" | "assertAnswered">;

const anyCalls: Calls = { ask: () => {}, answer: () => "", assertAnswered: () => {} };

/** The tool calls without an answer so far, by id. */
class OpenCalls {
  readonly #open = new Map<string, { readonly name: string; readonly field: string }>();

  ask(field: string, call: ModelToolCall): void {
    if (this.#open.has(call.id)) {
      throw invalidField(`${field}.id`, `${JSON.stringify(call.id)} occurs twice: give each call its own id`);
    }
    this.#open.set(call.id, { name: call.name, field });
  }

  /** Returns the name of the called tool. */
  answer(field: string, id: string): string {
    const call = this.#open.get(id);
    if (call === undefined) {
      throw invalidField(field, `${JSON.stringify(id)} matches no open call of an earlier message: remove the message`);
    }
    this.#open.delete(id);
    return call.name;
  }

  assertAnswered(): void {
    for (const { field } of this.#open.values()) {
      throw invalidField(field, "is not answered: follow it with a message of role tool that has its id");
    }
  }
}

type ConversationMessage = ModelMessage<ReadPart>;

function readMessage(message: ObjectText, calls: Calls): ConversationMessage | { readonly system: string } {
  const role = message.requireText("role");
  const content = readContent(message);
  switch (role) {
    case "system":
    case "developer":
      return { system: textAlone(content) };
    case "user":
      calls.assertAnswered();
      return { role, ...said(content) };
    case "assistant":
      calls.assertAnswered();
      return { role, text: textAlone(content), toolCalls: readCalls(message, calls), state: readState(message) };
    case "tool": {
      const toolCallId = message.requireText("tool_call_id");
      const toolName = calls.answer(`${message.path}.tool_call_id`, toolCallId);
      return { role, toolCallId, toolName, ...said(content) };
    }
    default:
      throw invalidField(
        `${message.path}.role`,
        `is ${JSON.stringify(role.slice(0, 40))}: use system, user, assistant or tool`,
      );
  }
}

/** Returns the text, and all parts when some are not text. */
function said(content: readonly ReadPart[]): { readonly text: string; readonly parts?: readonly ReadPart[] } {
  const text = joinText(content.filter((part) => part.type !== "artifact"));
  return content.some(isMedia) ? { text, parts: content } : { text };
}

/** Returns the text with placeholders for media: no provider takes images or files in answers or instructions. */
function textAlone(content: readonly ReadPart[]): string {
  const why = "models receive only images and files of users and tools";
  return joinText(
    content.map((part): ModelContent => {
      const type = part.type === "artifact" ? part.kind : part.type;
      return isMedia(part) ? placeholder({ type: type === "image" ? type : "file", name: part.name }, why) : part;
    }),
  );
}

type MediaPart = Exclude<ReadPart, { readonly text: string }>;

function isMedia(part: ReadPart): part is MediaPart {
  return !("text" in part);
}

function mediaOf(message: ConversationMessage): MediaPart[] {
  return message.role === "assistant" ? [] : (message.parts ?? []).filter(isMedia);
}

function tokensOfMedia({ type, data }: Exclude<MediaPart, { readonly type: "artifact" }>): number {
  return estimateMediaTokens(type, data instanceof URL ? undefined : data.length);
}

function readCalls(message: ObjectText, calls: Calls): ModelToolCall[] {
  return (message.findItems("tool_calls") ?? []).map((item, index) => {
    const field = message.at(`tool_calls[${index}]`);
    const written = new ObjectText(message.text, item, field);
    const called = written.requireObject("function");
    const call: ModelToolCall = {
      id: written.requireText("id"),
      name: called.requireText("name"),
      argumentsJson: called.findText("arguments") ?? "",
    };
    calls.ask(field, call);
    return call;
  });
}

function readState(message: ObjectText): string | undefined {
  const fields = message.find("provider_specific_fields");
  return fields && message.textOf(fields);
}

/** The tool names that providers accept. */
const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;

function readFunction(described: ObjectText): ModelToolDefinition {
  const name = described.requireText("name");
  if (!namePattern.test(name)) {
    throw invalidField(`${described.path}.name`, "must be 1 to 64 letters, digits, underscores or dashes");
  }
  const parameters = described.find("parameters");
  if (parameters !== undefined && parameters.kind !== "object") {
    throw invalidField(
      `${described.path}.parameters`,
      `must be a JSON Schema of an object, not ${withArticle(parameters.kind)}`,
    );
  }
  return {
    name,
    description: described.findText("description") ?? "",
    parameters:
      parameters === undefined ? { type: "object", properties: {} } : JSON.parse(described.textOf(parameters)),
  };
}

function printCall({ id, name, argumentsJson }: ModelToolCall): object {
  return { id, type: "function", function: { name, arguments: argumentsJson.toWellFormed() } };
}

/** Adds the provider's state. It is JSON text already and goes out unchanged. */
function withFields(message: object, state: string | undefined): string {
  const printed = JSON.stringify(message);
  return state === undefined ? printed : `${printed.slice(0, -1)},"provider_specific_fields":${state}}`;
}
