// The output of a run that did not complete: its text since the last checkpoint, read from the log. Without any, the last text
// of the run before it.

import { fromBinary } from "@bufbuild/protobuf";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import type { Transaction } from "../../platform/database/database.ts";
import { decodeResult } from "../log/result.ts";
import { messageText } from "../sessions/message-text.ts";
import { readCheckpoint } from "../storage/checkpoint.ts";
import { readResults } from "../storage/run-result.ts";
import { readLatestMessages } from "../storage/transcript.ts";

const pageRows = 500;
/** More text than a model produces in a turn; the log has the rest. */
const textCharsMax = 1_000_000;
/** How many messages are searched. A turn adds a message and an answer to each of its calls. */
const messagesMax = 50;

/** Returns the partial output of a run; empty when it has no text. */
export async function readPartialOutput(trx: Transaction, runId: string): Promise<string> {
  const unfinished = await readUnfinishedText(trx, runId);
  return unfinished === "" ? await readLastText(trx, runId) : unfinished;
}

async function readUnfinishedText(trx: Transaction, runId: string): Promise<string> {
  let after = (await readCheckpoint(trx, runId))?.sequence ?? 0;
  let text: RunText = { whole: "", streamed: "" };
  for (;;) {
    const page = await readResults(trx, { runId, after, limit: pageRows });
    for (const { payload } of page) {
      text = addText(text, decodeResult(payload).payload);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows || text.streamed.length >= textCharsMax) {
      return text.streamed === "" ? text.whole : text.streamed;
    }
    after = last.sequence;
  }
}

interface RunText {
  /** The last whole message. */
  readonly whole: string;
  /** The text of the chunks since then. */
  readonly streamed: string;
}

function addText(text: RunText, payload: ReturnType<typeof decodeResult>["payload"]): RunText {
  switch (payload.case) {
    case "turnRestarted":
      return { whole: "", streamed: "" };
    case "messageCompleted":
      return { whole: messageText(payload.value.message), streamed: "" };
    case "messageDelta": {
      const { content = "", replacesText = false } = payload.value.chunk ?? {};
      return { whole: text.whole, streamed: replacesText ? content : text.streamed + content };
    }
    default:
      return text;
  }
}

async function readLastText(trx: Transaction, runId: string): Promise<string> {
  const messages = (await readLatestMessages(trx, { runId, limit: messagesMax })).map((bytes) =>
    fromBinary(MessageSchema, bytes),
  );
  const spoken = messages.find((message) => message.role === "assistant" && messageText(message) !== "");
  return messageText(spoken);
}
