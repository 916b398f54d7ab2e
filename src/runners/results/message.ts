// Messages and pieces of messages as runners write them (LangBot AgentRunner Protocol v1, §7.2), and the JSON of a message for
// those who speak that protocol.
//
// G1  Nothing is lost: the fields say all of it, or `source` has the whole of it as it was written.

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
import { contentText } from "../../sessions/message-text.ts";
import { type Members, PayloadFault } from "./members.ts";

export function readMessage(members: Members): Message {
  const message = create(MessageSchema, {
    role: members.label("role"),
    name: members.findText("name"),
    content: readContent(members),
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

export function readChunk(members: Members): MessageChunk {
  const chunk = create(MessageChunkSchema, {
    role: members.label("role"),
    content: readPieceText(members),
    allContent: members.findText("all_content"),
    isFinal: readTrue(members, "is_final"),
    msgSequence: readMsgSequence(members),
    toolCalls: readCalls(members),
    providerSpecificFields: members.findJson("provider_specific_fields"),
  });
  checkMessageOnly(members);
  if (!members.isWhole) {
    chunk.source = members.json;
  }
  return chunk;
}

function readContent(members: Members): Message["content"] {
  const node = members.findValue("content");
  switch (node?.kind) {
    case undefined:
      return { case: undefined };
    case "string":
      return { case: "text", value: members.text("content") };
    case "array":
      return { case: "parts", value: create(ContentPartsSchema, { elements: readElements(members) }) };
    default:
      throw new PayloadFault(`${members.path}.content is neither text nor a list of parts: write one of them`);
  }
}

/** A piece has one text: that of a list is joined, and so is not all of it. */
function readPieceText(members: Members): string {
  const content = readContent(members);
  if (content.case === "parts" || content.value === "") {
    members.markMore();
  }
  return contentText(content);
}

function readElements(members: Members): ContentElement[] {
  return (members.findItems("content") ?? []).map((element) => {
    const read = create(ContentElementSchema, {
      type: element.text("type"),
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

/** `{"url": text}`, of which some write the text alone. The field holds the text, so it cannot tell which it was. */
function readImageUrl(element: Members): string | undefined {
  const node = element.findValue("image_url");
  if (node === undefined) {
    return undefined;
  }
  element.markMore();
  return node.kind === "string" ? element.findText("image_url") : element.members("image_url").text("url");
}

function readCalls(members: Members): ToolCall[] {
  const calls = members.findItems("tool_calls");
  if (calls?.length === 0) {
    // No list and an empty one are the same to the field.
    members.markMore();
  }
  return (calls ?? []).map((call) => {
    const called = call.members("function");
    const read = create(ToolCallSchema, {
      id: call.text("id"),
      name: called.text("name"),
      arguments: called.text("arguments"),
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

/** The only type of call that there is; runners may leave it out. */
const functionType = "function";

function passMore(inner: Members, outer: Members): void {
  if (!inner.isWhole) {
    outer.markMore();
  }
}

/** The field cannot tell false from nothing. */
function readTrue(members: Members, name: string): boolean {
  const value = members.findFlag(name);
  if (value === false) {
    members.markMore();
  }
  return value ?? false;
}

function readMsgSequence(members: Members): number {
  const value = members.findInteger("msg_sequence", { min: -(2 ** 31), max: 2 ** 31 - 1 });
  if (value === 0) {
    members.markMore();
  }
  return value ?? 0;
}

/** What a piece has no field for is checked all the same, and kept in `source`. */
function checkMessageOnly(members: Members): void {
  for (const name of ["name", "tool_call_id", "resp_message_id"]) {
    if (members.findText(name) !== undefined) {
      members.markMore();
    }
  }
}
