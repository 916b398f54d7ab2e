// A task of hundreds of responses: dozens of summaries later, the model still gets what was said first.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { openFolder } from "../fixtures.ts";
import { compaction, filler, openLongTask, reader } from "./long-task.ts";

const { createSession, sendMessage, listMessages } = SessionService.method;
const turns = 160;

test("40 summaries in one run keep the first facts, and each request is one that providers take", async () => {
  const stage = await openLongTask({ reader: reader(turns) });
  const workDir = await openFolder();
  const lines = Array.from({ length: turns + 150 }, (_, line) => `${line} ${filler(250)}`);
  await writeFile(join(workDir, "long.txt"), lines.join("\n"));
  const agent = {
    ...{ name: "reader", systemPrompt: "reader", maxTurns: turns + 1, compaction },
    tools: { builtin: ["read_file", "list_dir"] },
  };
  const { sessionId } = await stage.client.call(createSession, { agent, workDir });
  const say = async (message: string) => {
    const { runId } = await stage.client.call(sendMessage, { sessionId, message });
    return await stage.ended(runId);
  };
  const run = await say(`Remember FACT-1 and FACT-2. ${filler(2_000)}`);
  expect(run).toMatchObject({ error: "", output: "I know FACT-1, FACT-2", turns: turns + 1 });
  const asked = stage.team.requests.map(({ body }) => body.messages as readonly { content?: unknown }[]);
  const summaries = asked.filter(([system]) => system?.content === "writer").length;
  expect(summaries).toBeGreaterThanOrEqual(40);
  const sizes = asked.map((messages) => JSON.stringify(messages).length);
  expect(Math.max(...sizes)).toBeLessThan(400_000);
  const { messages } = await stage.client.call(listMessages, { sessionId, pageSize: 1 });
  expect(JSON.stringify(messages)).toContain("Remember FACT-1 and FACT-2.");
});
