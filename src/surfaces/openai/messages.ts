// Converts the messages of chat completions to those of the contract, and messages to items.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Message, MessageSchema, type ToolCall, ToolCallSchema } from "#gen/runnel/v1/message_pb.js";
import { withoutEmptyAnswer } from "../in-process/empty-answer.ts";
import { textOf } from "../in-process/message-text.ts";
import { argumentsOfText, type CallerTools, shownCall } from "./caller-tools.ts";
import { annotationsOf } from "./citations.ts";
import { type Element, inputParts, readContent, textOfElements } from "./content.ts";
import { invalid } from "./errors.ts";
import { Fields } from "./fields.ts";

/** An item of a response or of a conversation. */
export interface Item {
  readonly id: string;
  readonly type: string;
}

/** Returns the messages of a chat completion. */
export function readChatMessages(request: Fields): readonly Message[] {
  const items = request.findItems("messages");
  if (items === undefined || items.length === 0) {
    throw invalid("messages", "give at least one message");
  }
  return endWithUser(
    items.map((item, index) => {
      const fields = new Fields(item, `messages[${index}]`);
      const message = readChatMessage(fields);
      fields.ignore(...withoutEffect);
      fields.assertAllRead();
      return message;
    }),
  );
}

/** Some programs send instructions alone. A model has to have something to answer. */
export function endWithUser(given: readonly Message[]): readonly Message[] {
  const messages = withoutEmptyAnswer(given);
  const last = messages.at(-1);
  if (last?.role === "system" || last?.role === "developer") {
    last.role = "user";
  }
  return messages;
}

/** Other programs add fields to their own messages, which have no effect here. */
const withoutEffect = [
  ...([
    "name",
    "refusal",
    "annotations",
    "audio",
    "images",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
  ] as const),
  ...(["thinking_blocks", "provider_specific_fields", "cache_control", "prefix", "function_call"] as const),
];

function readChatMessage(item: Fields): Message {
  const role = readRole(item);
  if (role === "tool") {
    return resultMessage(item.requireText("tool_call_id"), readContent(item, "content"));
  }
  if (role === "function") {
    return resultMessage(legacyCallId(item.requireText("name")), readContent(item, "content"));
  }
  const message =
    item.find("content") === undefined ? textMessage(role, "") : messageOf(role, readContent(item, "content"));
  message.toolCalls = (item.findObjects("tool_calls") ?? []).map(readChatCall);
  const legacy = item.findObject("function_call");
  if (legacy !== undefined) {
    const name = legacy.requireText("name");
    message.toolCalls.push(callOf(legacyCallId(name), name, legacy.requireText("arguments")));
  }
  return message;
}

/** The older form of calls has no ids: a message has one call, and the result after it is of the same name. */
function legacyCallId(name: string): string {
  return `call_${name}`;
}

function readChatCall(call: Fields): ToolCall {
  const id = call.requireText("id");
  const custom = call.findObject("custom");
  const called = custom ?? call.requireObject("function");
  const json = custom === undefined ? called.requireText("arguments") : argumentsOfText(called.requireText("input"));
  const read = callOf(id, called.requireText("name"), json);
  call.ignore("type", "index", "extra_content", "provider_specific_fields");
  called.assertAllRead();
  call.assertAllRead();
  return read;
}

const roles: ReadonlySet<string> = new Set(["system", "developer", "user", "assistant", "tool", "function"]);

/** Reads the role of a message. */
export function readRole(item: Fields): string {
  const role = item.requireText("role");
  if (!roles.has(role)) {
    throw invalid(item.at("role"), `must be one of ${[...roles].join(", ")}`);
  }
  return role;
}

/** Returns a message with a content. */
export function messageOf(role: string, elements: readonly Element[]): Message {
  return create(MessageSchema, { role, content: contentOf(elements) });
}

function contentOf(elements: readonly Element[]): NonNullable<MessageInit["content"]> {
  return elements.every(({ type }) => type === "text")
    ? { case: "text", value: textOfElements(elements) }
    : { case: "parts", value: { elements: [...elements] } };
}

type MessageInit = Extract<MessageInitShape<typeof MessageSchema>, { readonly $typeName?: never }>;

/** Returns a call of a tool. */
export function callOf(id: string, name: string, json: string): ToolCall {
  return create(ToolCallSchema, { id, name, arguments: json });
}

/** Returns a message with a text. */
export function textMessage(role: string, text: string): Message {
  return create(MessageSchema, { role, content: { case: "text", value: text } });
}

/** Returns the message that answers a call. */
export function resultMessage(toolCallId: string, elements: readonly Element[]): Message {
  return create(MessageSchema, { role: "tool", toolCallId, content: contentOf(elements) });
}

/** Returns a message as items with ids that begin with `prefix`. Without `tools`, calls of custom tools are those of functions. */
export function itemsOf(message: Message, prefix: string, tools: CallerTools = new Map()): Item[] {
  const text = textOf(message);
  if (message.role === "tool") {
    return [resultItem(message, prefix)];
  }
  const isAssistant = message.role === "assistant";
  const content = isAssistant
    ? [{ type: "output_text", text, annotations: annotationsOf(message), logprobs: [] }]
    : inputParts(message);
  const said = { id: `msg_${prefix}`, type: "message", role: message.role, status: "completed", content };
  const calls = message.toolCalls.map((call, index) => callItem(call, `${prefix}_${index}`, tools));
  return text === "" && calls.length > 0 ? calls : [said, ...calls];
}

function resultItem(message: Message, prefix: string): Item {
  const { toolCallId: call_id = "", content } = message;
  const output = content.case === "parts" ? inputParts(message) : textOf(message);
  return { id: `fco_${prefix}`, type: "function_call_output", call_id, output, status: "completed" } as Item;
}

function callItem(call: ToolCall, place: string, tools: CallerTools): Item {
  const { type, prefix, fields } = shownCall(call, tools);
  return { id: `${prefix}_${place}`, type, ...{ call_id: call.id, ...fields, status: "completed" } };
}
