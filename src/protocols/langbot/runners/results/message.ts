// Parses messages and their chunks as runners write them (LangBot AgentRunner Protocol v1, §7.2).
//
// G1  Nothing of a message is lost: the fields have all of it, or `source` has the whole message as it was written.
// G2  Nothing of a chunk is lost: the fields have all of it, or `source` has the chunk as it was written, without the text that
//     `content` holds. Many runners repeat all text in each chunk. A null of a known member counts as missing, because Python's
//     dumps are full of them.

import { create } from "@bufbuild/protobuf";
import {
  type ContentElement,
  ContentElementSchema,
  ContentPartsSchema,
  type Message,
  type MessageChunk,
  MessageChunkSchema,
  MessageSchema,
  type ToolCall,
  ToolCallSchema,
} from "#gen/runnel/v1/message_pb.js";
import { contentText } from "../../../../engine/sessions/message-text.ts";
import type { JsonNode } from "../../../../platform/base/json/text.ts";
import { type Members, PayloadFault } from "./members.ts";

/** Parses a message. Throws PayloadFault when it is invalid. */
export function readMessage(members: Members): Message {
  const message = create(MessageSchema, {
    role: members.label("role"),
    name: members.findText("name"),
    content: readMessageContent(members),
    toolCalls: readCalls(members),
    toolCallId: members.findText("tool_call_id"),
    respMessageId: members.findText("resp_message_id"),
    providerSpecificFields: members.findJson("provider_specific_fields"),
  });
  if (!members.isWhole) {
    message.source = members.json;
  }
  return message;
}

/** Reads `content`, or `text`, which some runners write instead. */
function readMessageContent(members: Members): Message["content"] {
  const content = readContent(members);
  const text = content.case === undefined ? members.findText("text") : undefined;
  return text === undefined ? content : { case: "text", value: text };
}

/** Parses a chunk. Throws PayloadFault when it is invalid. */
export function readChunk(members: Members): MessageChunk {
  const toolCalls = readCalls(members);
  const holdsCalls = toolCalls.length === 0 || !members.hasMore;
  const content = contentText(readContent(members));
  for (const name of messageOnly) {
    members.findText(name);
  }
  return create(MessageChunkSchema, {
    role: members.label("role"),
    content,
    allContent: members.findText("all_content"),
    isFinal: members.findFlag("is_final") ?? false,
    msgSequence: members.findInteger("msg_sequence", { min: -(2 ** 31), max: 2 ** 31 - 1 }) ?? 0,
    toolCalls,
    providerSpecificFields: members.findJson("provider_specific_fields"),
    source: readSource(members, holdsCalls),
  });
}

/** Returns the chunk without its text; undefined when the fields hold all of it. */
function readSource(members: Members, holdsCalls: boolean): string | undefined {
  const isHeld = (name: string, value: JsonNode) => {
    switch (name) {
      case "content":
        return isOnlyText(value);
      case "tool_calls":
        return holdsCalls;
      default:
        return chunkFields.has(name) || (value.kind === "null" && messageOnly.includes(name));
    }
  };
  return members.every(isHeld)
    ? undefined
    : members.select((name, value) => name !== "all_content" && !(name === "content" && isOnlyText(value)));
}

/** The members of a message that a chunk has no field for. They are checked, and kept in `source`. */
const messageOnly = ["name", "tool_call_id", "resp_message_id"];

const chunkFields = new Set(["role", "all_content", "is_final", "msg_sequence", "provider_specific_fields"]);

/** Whether the joined text is all of a chunk's content. Half of a surrogate pair is not: a field cannot have it. */
function isOnlyText(content: JsonNode): boolean {
  switch (content.kind) {
    case "string":
      return content.value.isWellFormed();
    case "array":
      return content.items.every(isTextPart);
    default:
      return content.kind === "null";
  }
}

function isTextPart(part: JsonNode): boolean {
  return (
    part.kind === "object" &&
    part.members.every(({ key, value }) => {
      switch (key.value) {
        case "type":
          return value.kind === "string" && value.value === "text";
        case "text":
          return isOnlyText(value);
        default:
          return value.kind === "null" && otherParts.has(key.value);
      }
    })
  );
}

const otherParts = new Set(["image_url", "image_base64", "file_url", "file_base64", "file_name"]);

function readContent(members: Members): Message["content"] {
  const node = members.find("content");
  switch (node?.kind) {
    case undefined:
      return { case: undefined };
    case "string":
      return { case: "text", value: members.requireText("content") };
    case "array":
      return { case: "parts", value: create(ContentPartsSchema, { elements: readElements(members) }) };
    default:
      throw new PayloadFault(`${members.path}.content must be text or a list of parts`);
  }
}

function readElements(members: Members): ContentElement[] {
  return (members.findObjects("content") ?? []).map((element) => {
    const read = create(ContentElementSchema, {
      type: element.requireText("type"),
      text: element.findText("text"),
      imageUrl: readImageUrl(element),
      imageBase64: element.findText("image_base64"),
      fileUrl: element.findText("file_url"),
      fileBase64: element.findText("file_base64"),
      fileName: element.findText("file_name"),
    });
    passMore(element, members);
    return read;
  });
}

/** Reads `{"url": "https://…"}` or a plain URL, which some runners write. The field does not show which form it was. */
function readImageUrl(element: Members): string | undefined {
  const node = element.find("image_url");
  if (node === undefined) {
    return undefined;
  }
  element.markMore();
  return node.kind === "string" ? element.findText("image_url") : element.requireObject("image_url").requireText("url");
}

function readCalls(members: Members): ToolCall[] {
  const calls = members.findObjects("tool_calls");
  if (calls?.length === 0) {
    // The field cannot distinguish a missing list from an empty one.
    members.markMore();
  }
  return (calls ?? []).map((call) => {
    const called = call.requireObject("function");
    const read = create(ToolCallSchema, {
      id: call.requireText("id"),
      name: called.requireText("name"),
      arguments: called.requireText("arguments"),
      providerSpecificFields: call.findJson("provider_specific_fields"),
    });
    if (call.findText("type") !== functionType) {
      call.markMore();
    }
    passMore(called, call);
    passMore(call, members);
    return read;
  });
}

/** The only type of call. Runners may leave it out. */
const functionType = "function";

function passMore(inner: Members, outer: Members): void {
  if (!inner.isWhole) {
    outer.markMore();
  }
}
