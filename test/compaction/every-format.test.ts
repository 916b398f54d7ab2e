// A task of dozens of summaries over the format of each provider: what the model gets is valid there at every step.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { endOfRun } from "../conformance/stage.ts";
import { openFolder, openWireServer } from "../fixtures.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { type Call, formats } from "./formats.ts";

const { createSession, sendMessage } = SessionService.method;
const turns = 150;
/** The share of 30 % of these messages begins a summary: some four turns of a response with its results. */
const historyMessages = 40;

/** How many calls a response has: so often another number that groups end at all places. */
const callCounts = [1, 3, 2, 4, 1, 1, 2];

function callsOf(turn: number): Call[] {
  const count = callCounts[turn % callCounts.length] ?? 1;
  return Array.from({ length: count }, (_, index) => {
    const args = { file_path: "long.txt", offset: turn + index, limit: index + 1 };
    return { id: `call_${turn}_${index}`, name: "read_file", args };
  });
}

test.each(formats)(
  "$name: 40 summaries in one run, and each request is one that the provider takes",
  async (format) => {
    const problems: string[] = [];
    let summaries = 0;
    let turn = 0;
    const server = await openWireServer(({ body }) => {
      const found = format.problemsOf(body);
      problems.push(...found.map((problem) => `request ${server.requests.length}: ${problem}`));
      const text = JSON.stringify(format.conversationOf(body));
      const facts = [...new Set(text.match(/FACT-\d+/g) ?? [])].join(", ");
      if (format.systemOf(body) === "writer") {
        summaries += 1;
        return format.say(`Known: ${facts}.`);
      }
      turn += 1;
      return turn > turns ? format.say(`I know ${facts}`) : format.call(turn, callsOf(turn));
    });
    const service = await startService({
      ...format.settings(server.origin),
      sessionsHistoryMessages: historyMessages,
    });
    const client = new GrpcClient(service.target);
    const workDir = await openFolder();
    await writeFile(
      join(workDir, "long.txt"),
      Array.from({ length: turns + 4 }, (_, line) => `line ${line}`).join("\n"),
    );
    const agent = {
      ...{ name: "reader", systemPrompt: "reader", maxTurns: turns + 1, compaction: { prompt: "writer", percent: 30 } },
      tools: { builtin: ["read_file"] },
    };
    const { sessionId } = await client.call(createSession, { agent, workDir });
    const { runId } = await client.call(sendMessage, { sessionId, message: "Remember FACT-1 and FACT-2." });
    const run = await endOfRun(client, runId);
    expect(problems).toEqual([]);
    expect(run).toMatchObject({ error: "", output: "I know FACT-1, FACT-2" });
    expect(summaries).toBeGreaterThanOrEqual(40);
  },
);
