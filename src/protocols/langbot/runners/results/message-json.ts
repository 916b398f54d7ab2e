// Prints a message as the JSON of the LangBot protocol.

import type { ContentElement, Message, ToolCall } from "#gen/runnel/v1/message_pb.js";

/** Returns the message as its runner wrote it, or prints its fields. */
export function messageJson(message: Message): string {
  return message.source ?? printMessage(message);
}

function printMessage({ role, name, content, toolCalls, ...rest }: Message): string {
  return printObject([
    ["role", JSON.stringify(role)],
    ["name", printText(name)],
    ["content", printContent(content)],
    ["tool_calls", printCalls(toolCalls)],
    ["tool_call_id", printText(rest.toolCallId)],
    ["resp_message_id", printText(rest.respMessageId)],
    ["provider_specific_fields", rest.providerSpecificFields],
  ]);
}

function printContent(content: Message["content"]): string | undefined {
  switch (content.case) {
    case "text":
      return JSON.stringify(content.value);
    case "parts":
      return `[${content.value.elements.map(printElement).join(",")}]`;
    default:
      return undefined;
  }
}

function printElement({ type, text, imageUrl, ...rest }: ContentElement): string {
  return printObject([
    ["type", JSON.stringify(type)],
    ["text", printText(text)],
    ["image_url", imageUrl === undefined ? undefined : printObject([["url", JSON.stringify(imageUrl)]])],
    ["image_base64", printText(rest.imageBase64)],
    ["file_url", printText(rest.fileUrl)],
    ["file_base64", printText(rest.fileBase64)],
    ["file_name", printText(rest.fileName)],
  ]);
}

function printCalls(calls: readonly ToolCall[]): string | undefined {
  if (calls.length === 0) {
    return undefined;
  }
  const printed = calls.map(({ id, name, arguments: text, providerSpecificFields }) =>
    printObject([
      ["id", JSON.stringify(id)],
      ["type", '"function"'],
      [
        "function",
        printObject([
          ["name", JSON.stringify(name)],
          ["arguments", JSON.stringify(text)],
        ]),
      ],
      ["provider_specific_fields", providerSpecificFields],
    ]),
  );
  return `[${printed.join(",")}]`;
}

function printText(text: string | undefined): string | undefined {
  return text === undefined ? undefined : JSON.stringify(text);
}

function printObject(members: readonly (readonly [string, string | undefined])[]): string {
  const printed = members.flatMap(([name, json]) => (json === undefined ? [] : [`"${name}":${json}`]));
  return `{${printed.join(",")}}`;
}
