// The messages of clients: their parts become the content of the run's input, and come back as the task's history.

import { create, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { type Message, MessageSchema, type Part, Role } from "#gen/lf/a2a/v1/a2a_pb.js";
import type { Message as InputMessage, MessageSchema as InputSchema } from "#gen/runnel/v1/message_pb.js";
import { A2aError, InvalidField } from "./errors.ts";

type Input = MessageInitShape<typeof InputSchema>;
type Element = NonNullable<
  Extract<NonNullable<Input["content"]>, { readonly case: "parts" }>["value"]["elements"]
>[number];

/** Checks what every message has. Throws InvalidField. */
export function assertMessage(message: Message | undefined): asserts message is Message {
  if (message === undefined) {
    throw new InvalidField("message", "is missing");
  }
  if (message.messageId === "") {
    throw new InvalidField("message.messageId", "is missing: choose an id");
  }
  if (message.role !== Role.USER) {
    throw new InvalidField("message.role", "must be ROLE_USER");
  }
  if (message.parts.length === 0) {
    throw new InvalidField("message.parts", "must have at least one part");
  }
  for (const [index, { content }] of message.parts.entries()) {
    if (content.case === undefined) {
      throw new InvalidField(`message.parts[${index}]`, "must have text, raw, url or data");
    }
  }
}

/** Returns the message as a run takes it. */
export function inputOf({ messageId: id, parts }: Message): Input {
  const elements = parts.map(elementOf);
  const text = elements.every(({ type }) => type === "text") ? elements.map((each) => each.text ?? "").join("") : "";
  const content =
    text === "" ? { case: "parts" as const, value: { elements } } : { case: "text" as const, value: text };
  return { role: "user", id, content };
}

/** Returns the text of a message for an agent that takes text alone. Throws A2aError for another part. */
export function requireText({ parts }: Message): string {
  return parts
    .map(elementOf)
    .map(({ type, text = "" }, index) => {
      if (type !== "text") {
        const problem = `message.parts[${index}]: this agent takes text and data, not files`;
        throw new A2aError("CONTENT_TYPE_NOT_SUPPORTED", problem);
      }
      return text;
    })
    .join("");
}

/** Returns the message of a run's input as clients see it. */
export function messageOf(
  { id, content }: InputMessage,
  { taskId, contextId, index }: { readonly taskId: string; readonly contextId: string; readonly index: number },
): Message {
  const elements = content.case === "parts" ? content.value.elements : [{ text: content.value ?? "" }];
  return create(MessageSchema, {
    messageId: id ?? `${taskId}-input-${index}`,
    taskId,
    contextId,
    role: Role.USER,
    parts: elements.map(partOf),
  });
}

function elementOf({ content, filename, mediaType }: Part): Element & { readonly type: string } {
  const named = filename === "" ? {} : { fileName: filename };
  const isImage = mediaType.startsWith("image/");
  switch (content.case) {
    case "text":
      return { type: "text", text: content.value };
    case "data":
      return { type: "text", text: JSON.stringify(toJson(ValueSchema, content.value)) };
    case "url":
      return isImage
        ? { type: "image_url", imageUrl: content.value, ...named }
        : { type: "file_url", fileUrl: content.value, ...named };
    default: {
      const type = mediaType === "" ? "application/octet-stream" : mediaType;
      const url = `data:${type};base64,${Buffer.from(content.value ?? new Uint8Array()).toString("base64")}`;
      return isImage
        ? { type: "image_base64", imageBase64: url, ...named }
        : { type: "file_base64", fileBase64: url, ...named };
    }
  }
}

type PartInit = NonNullable<MessageInitShape<typeof MessageSchema>["parts"]>[number];

function partOf(element: Partial<Omit<Element, "$typeName">>): PartInit {
  const { text = "", imageUrl, imageBase64, fileUrl, fileBase64, fileName: filename = "" } = element;
  const url = imageUrl ?? fileUrl;
  const [, mediaType = "", base64] = /^data:([^;,]*);base64,(.*)$/s.exec(imageBase64 ?? fileBase64 ?? url ?? "") ?? [];
  if (base64 !== undefined) {
    return { content: { case: "raw", value: Buffer.from(base64, "base64") }, mediaType, filename };
  }
  return url === undefined
    ? { content: { case: "text", value: text } }
    : { content: { case: "url", value: url }, filename };
}
