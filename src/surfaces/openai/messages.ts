// Converts the messages of requests to those of the contract, and back to items.

import { create } from "@bufbuild/protobuf";
import { type Message, MessageSchema, type ToolCall, ToolCallSchema } from "#gen/runnel/v1/message_pb.js";
import { printJson } from "../../platform/base/json/exact.ts";
import { textOf } from "../in-process/message-text.ts";
import { annotationsOf } from "./citations.ts";
import { type Element, inputParts, readContent, readText, textOfElements } from "./content.ts";
import { invalid, unsupported } from "./errors.ts";
import { Fields } from "./fields.ts";

/** Returns the messages in `input` of a response: a text, or items. */
export function readInput(request: Fields): readonly Message[] {
  const input = request.find("input");
  if (typeof input === "string") {
    return [textMessage("user", input)];
  }
  const items = request.findItems("input");
  if (items === undefined || items.length === 0) {
    throw invalid("input", "give a text or a list of items");
  }
  const messages: Message[] = [];
  for (const [index, item] of items.entries()) {
    const fields = new Fields(item, `input[${index}]`);
    addItem(messages, fields);
    fields.ignore("id", "status", "phase", "namespace");
    fields.assertAllRead();
  }
  return messages;
}

function addItem(messages: Message[], item: Fields): void {
  const type = item.findText("type") ?? "message";
  switch (type) {
    case "message":
      messages.push(messageOf(readRole(item), readContent(item, "content")));
      return;
    case "function_call":
      addCall(messages, callOf(item.requireText("call_id"), item));
      return;
    case "function_call_output":
      messages.push(resultMessage(item.requireText("call_id"), readText(item, "output")));
      return;
    case "mcp_call": {
      // A call of this service's own tool, which the caller sends back with the answer before.
      const call = callOf(item.requireText("id"), item);
      addCall(messages, call);
      messages.push(resultMessage(call.id, item.findText("output") ?? `Error: ${printJson(item.find("error") ?? "")}`));
      item.ignore("server_label", "error", "approval_request_id");
      return;
    }
    case "reasoning":
      // Models get their own reasoning from the transcript.
      item.ignore("summary", "content", "encrypted_content");
      return;
    case "image_generation_call":
      // So do those that take their own images.
      item.ignore("result", "output_format", "size", "quality", "background", "action", "revised_prompt");
      return;
    default:
      throw unsupported(item.at("type"), `items of type ${type} are not supported`);
  }
}

/** Returns the messages of a chat completion. */
export function readChatMessages(request: Fields): readonly Message[] {
  const items = request.findItems("messages");
  if (items === undefined || items.length === 0) {
    throw invalid("messages", "give at least one message");
  }
  return items.map((item, index) => {
    const fields = new Fields(item, `messages[${index}]`);
    const message = readChatMessage(fields);
    fields.ignore("name", "refusal", "annotations", "reasoning_content", "images");
    fields.assertAllRead();
    return message;
  });
}

function readChatMessage(item: Fields): Message {
  const role = readRole(item);
  if (role === "tool") {
    return resultMessage(item.requireText("tool_call_id"), readText(item, "content"));
  }
  const message =
    item.find("content") === undefined ? textMessage(role, "") : messageOf(role, readContent(item, "content"));
  message.toolCalls = (item.findItems("tool_calls") ?? []).map((each, index) => {
    const call = new Fields(each, item.at(`tool_calls[${index}]`));
    const called = new Fields(call.find("function"), call.at("function"));
    call.ignore("type");
    const read = callOf(call.requireText("id"), called);
    call.assertAllRead();
    return read;
  });
  return message;
}

const roles: ReadonlySet<string> = new Set(["system", "developer", "user", "assistant", "tool"]);

function readRole(item: Fields): string {
  const role = item.requireText("role");
  if (!roles.has(role)) {
    throw invalid(item.at("role"), `must be one of ${[...roles].join(", ")}`);
  }
  return role;
}

/** Only users send images, recordings and files. */
function messageOf(role: string, elements: readonly Element[]): Message {
  const isPlain = elements.every(({ type }) => type === "text");
  return isPlain
    ? textMessage(role, textOfElements(elements))
    : create(MessageSchema, { role, content: { case: "parts", value: { elements: [...elements] } } });
}

function callOf(id: string, fields: Fields): ToolCall {
  return create(ToolCallSchema, { id, name: fields.requireText("name"), arguments: fields.requireText("arguments") });
}

/** A call belongs to the assistant's message before it: one response of the model. */
function addCall(messages: Message[], call: ToolCall): void {
  const last = messages.at(-1);
  if (last?.role === "assistant") {
    last.toolCalls.push(call);
  } else {
    messages.push(create(MessageSchema, { role: "assistant", toolCalls: [call] }));
  }
}

function textMessage(role: string, text: string): Message {
  return create(MessageSchema, { role, content: { case: "text", value: text } });
}

function resultMessage(toolCallId: string, text: string): Message {
  return create(MessageSchema, { role: "tool", toolCallId, content: { case: "text", value: text } });
}

/** Returns a message as items with ids that begin with `prefix`. */
export function itemsOf(message: Message, prefix: string): object[] {
  const text = textOf(message);
  if (message.role === "tool") {
    const { toolCallId: call_id = "" } = message;
    return [{ id: `fco_${prefix}`, type: "function_call_output", call_id, output: text, status: "completed" }];
  }
  const isAssistant = message.role === "assistant";
  const content = isAssistant
    ? [{ type: "output_text", text, annotations: annotationsOf(message), logprobs: [] }]
    : inputParts(message);
  const said = { id: `msg_${prefix}`, type: "message", role: message.role, status: "completed", content };
  const calls = message.toolCalls.map(({ id, name, arguments: json }, index) => ({
    id: `fc_${prefix}_${index}`,
    type: "function_call",
    call_id: id,
    name,
    arguments: json,
    status: "completed",
  }));
  return text === "" && calls.length > 0 ? calls : [said, ...calls];
}
