// The message that an agent gets of a run.

import type { Part } from "@a2a-js/sdk";
import type { Message } from "#gen/runnel/v1/message_pb.js";
import type { RunContext } from "../../engine/runs/driver.ts";
import { conversationText } from "../../engine/sessions/conversation-text.ts";
import { messageText } from "../../engine/sessions/message-text.ts";

/** Returns the parts of a message. A new context needs what a continued one knows. */
export function partsOf(
  { agent, input, transcript }: Pick<RunContext, "agent" | "input" | "transcript">,
  isContinued: boolean,
): Part[] {
  const before = isContinued ? [] : [agent.systemPrompt, conversationText(transcript.slice(0, -1))];
  return [...before.filter((text) => text !== "").map(textPart), ...contentOf(input)];
}

function contentOf(input: Message): Part[] {
  if (input.content.case !== "parts") {
    return [textPart(messageText(input))];
  }
  return input.content.value.elements.map((element) => {
    const { text = "", imageUrl, imageBase64, fileUrl, fileBase64, fileName: filename = "" } = element;
    const url = imageBase64 ?? fileBase64 ?? imageUrl ?? fileUrl;
    if (url === undefined) {
      return textPart(text);
    }
    const [, mediaType = "", base64] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? [];
    return base64 === undefined
      ? { ...empty, content: { $case: "url", value: url }, filename }
      : { ...empty, content: { $case: "raw", value: Buffer.from(base64, "base64") }, filename, mediaType };
  });
}

const empty = { filename: "", mediaType: "", metadata: undefined } as const;

function textPart(text: string): Part {
  return { ...empty, content: { $case: "text", value: text.toWellFormed() } };
}
