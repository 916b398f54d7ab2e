// `npm run conformance -- recorded <folder> [text]`: plays the recorded streams of a folder and compares each with its recording.

import type { Answer } from "./answer.ts";
import { compare } from "./compare.ts";
import { expectOfChat } from "./expect/chat.ts";
import { expectOfGemini } from "./expect/gemini.ts";
import { expectOfMessages } from "./expect/messages.ts";
import { expectOfResponses } from "./expect/responses.ts";
import { type Player, startPlayer } from "./play.ts";
import { readFolder } from "./read-folder.ts";
import type { Api, LeftOut, RecordedEvent, Recording } from "./recording.ts";
import { exitCodeOf, type Played, printStream, printTable } from "./report.ts";

const readers: Readonly<Record<Api, (events: readonly RecordedEvent[]) => Answer>> = {
  "Chat Completions": expectOfChat,
  Responses: expectOfResponses,
  Messages: expectOfMessages,
  Gemini: expectOfGemini,
};

/**
 * Plays the streams whose path contains the text, and prints each line as soon as it is known. Returns the exit code: 0 when all are
 * exact, otherwise 1.
 * @throws Error when the folder has no such stream.
 */
export async function runRecorded(folder: string, text: string, print: (line: string) => void): Promise<0 | 1> {
  await using player = await startPlayer();
  const streams: (Played | LeftOut)[] = [];
  for (const stream of await readFolder(folder, text)) {
    const result = "why" in stream ? stream : await playOne(player, stream);
    streams.push(result);
    printAll(printStream(result), print);
  }
  printAll(printTable(streams), print);
  return exitCodeOf(streams);
}

async function playOne(player: Player, recording: Recording): Promise<Played> {
  const { path, provider, api, events } = recording;
  const expected = readers[api](events);
  const tools = new Set(expected.calls.map(({ name }) => name));
  const differences = await player.play(recording, tools).then(
    (got) => compare(expected, got),
    (error: unknown) => [{ kind: "thrown", expected: "nothing", got: String(error) }],
  );
  return { path, provider, api, differences };
}

function printAll(lines: readonly string[], print: (line: string) => void): void {
  for (const line of lines) {
    print(line);
  }
}
