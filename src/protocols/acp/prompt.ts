// The texts that a coding agent gets as its prompt.

import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { Message } from "#gen/runnel/v1/message_pb.js";
import type { RunContext } from "../../engine/runs/driver.ts";
import { conversationText } from "../../engine/sessions/conversation-text.ts";
import { messageText } from "../../engine/sessions/message-text.ts";

/** What a prompt begins with: a new session needs what a continued one knows. */
export type Beginning = "new" | "continued" | "interrupted" | "interrupted-unseen";

const afterLoss =
  "The process that worked on your last turn was lost, and you were started again. What you had begun may have been done in part: look " +
  "at the files before you go on. Then finish the task.";

/** Returns the prompt of a run. */
export function promptOf(
  { agent, input, transcript }: Pick<RunContext, "agent" | "input" | "transcript">,
  beginning: Beginning,
  takesImages: boolean,
): ContentBlock[] {
  const task = [...textBlocks(messageText(input)), ...(takesImages ? imagesOf(input) : [])];
  switch (beginning) {
    case "new":
      return [...textBlocks(agent.systemPrompt), ...textBlocks(conversationText(transcript.slice(0, -1))), ...task];
    case "continued":
      return task;
    case "interrupted":
      return textBlocks(afterLoss);
    case "interrupted-unseen":
      return [...textBlocks(afterLoss), ...task];
    default:
      return beginning satisfies never;
  }
}

/** What an agent repeats of the user's messages while it loads a session. */
export interface SeenHistory {
  readonly text: string;
  /** The data of images, in base64. */
  readonly images: ReadonlySet<string>;
}

/** Returns whether an agent has the whole input: its text, and its images where it takes them. */
export function isSeen(input: Message, { text, images }: SeenHistory, takesImages: boolean): boolean {
  const wanted = takesImages ? imagesOf(input) : [];
  return text.includes(messageText(input)) && wanted.every((block) => block.type !== "image" || images.has(block.data));
}

function textBlocks(text: string): ContentBlock[] {
  return text === "" ? [] : [{ type: "text", text: text.toWellFormed() }];
}

function imagesOf({ content }: Message): ContentBlock[] {
  const elements = content.case === "parts" ? content.value.elements : [];
  return elements.flatMap(({ imageBase64 = "" }) => {
    const [, mimeType = "image/png", data = imageBase64] = /^data:([^;,]+);base64,(.*)$/s.exec(imageBase64) ?? [];
    return data === "" ? [] : [{ type: "image", mimeType, data }];
  });
}
