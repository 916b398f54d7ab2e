// The promise of Runnel in the console: a stream that cannot be lost, and logs of any length.

import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { endOfRun } from "../../conformance/stage.ts";
import { query } from "../../harness/database.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { openConsole, seeBadge, seeText } from "./console-page.ts";

const rowsMax = 200;
const entriesCount = 20_000;

async function startDemoRun(target: string, message: string, model = "demo"): Promise<string> {
  const client = new GrpcClient(target);
  const agent = { name: "tester", model };
  const { sessionId } = await client.call(SessionService.method.createSession, { agent });
  return (await client.call(SessionService.method.sendMessage, { sessionId, message })).runId;
}

test("20,000 entries take few rows of the document, and its end is one key away", async () => {
  const service = await startService({ consoleEnabled: true, rateLimitRps: 0 });
  const runId = await startDemoRun(service.target, "words=1 pace=0");
  const client = new GrpcClient(service.target);
  await endOfRun(client, runId);
  await fillLog(service.databaseUrl, runId);
  const { page } = await openConsole(service.url, `runs/${runId}?tab=entries`);
  await seeBadge(page, "ended, complete · at 20,000");
  await seeText(page, "20,000 entries");
  const countRows = (): Promise<number> => page.locator("[data-index]").count();
  expect(await countRows()).toBeLessThan(rowsMax);
  await page.locator(".entries-rows").evaluate((list) => list.scrollTo(0, list.scrollHeight));
  await seeText(page, "#20000");
  expect(await countRows()).toBeLessThan(rowsMax);
  // The page no longer has the first entries, and reads them again.
  await page.locator(".entries-rows").evaluate((list) => list.scrollTo(0, 0));
  await page.locator(".entry", { hasText: "tool-0" }).first().waitFor();
  await page.getByLabel("Search entries").fill("tool-77");
  await seeText(page, /^222 entries$/);
  await page.locator(".entry", { hasText: "tool-77" }).first().click();
  await page.locator(".entry-detail", { hasText: "tool-77" }).waitFor();
  await page.getByLabel("Search entries").fill("");
  await seeText(page, "20,000 entries");

  await page.getByRole("tab", { name: "Transcript" }).click();
  await seeText(page, "tool-0");
  expect(await countRows()).toBeLessThan(rowsMax);
  await page.goto(`${service.url}/console/runs/${runId}?seq=15001`);
  await page.locator(".row[data-chosen]", { hasText: "tool-7500" }).waitFor();
  expect(await countRows()).toBeLessThan(rowsMax);
});

test("the last entry of a long text, which comes cut, is shown whole", async () => {
  const service = await startService({ consoleEnabled: true, rateLimitRps: 0 });
  const runId = await startDemoRun(service.target, "words=4000 pace=0");
  const { output, lastSequence } = await endOfRun(new GrpcClient(service.target), runId);
  expect(output.length).toBeGreaterThan(20_000);
  const { page } = await openConsole(service.url, `runs/${runId}`);
  await seeText(page, "Completed");
  const words = async (selector: string): Promise<number> =>
    (await page.locator(selector).allTextContents())
      .join(" ")
      .split(/[\s\\"]+/)
      .filter((word) => word.length > 1).length;
  const shown = await words('[data-kind="message"] .markdown');
  await page.goto(`${service.url}/console/runs/${runId}?tab=entries&seq=${lastSequence}`);
  await page.locator(".entry-detail pre").waitFor();
  expect(await words(".entry-detail pre")).toBeGreaterThan(shown);
});

test("the transcript follows the end until a person scrolls up, and again when asked", async () => {
  const service = await startService({ consoleEnabled: true, rateLimitRps: 0 });
  const runId = await startDemoRun(service.target, "words=3000 pace=10");
  const { page } = await openConsole(service.url, `runs/${runId}`, { viewport: { width: 700, height: 400 } });
  const distance = (): Promise<number> =>
    page.locator(".transcript-rows").evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight);
  const height = (): Promise<number> => page.locator(".transcript-rows").evaluate((list) => list.scrollHeight);
  await until("more text than the pane shows", async () => (await height()) > 700);
  await until("the end", async () => (await distance()) < 40);
  await page.locator(".transcript-rows").hover();
  const follow = page.getByRole("button", { name: "Follow the end" });
  // A turn of the wheel may meet the moment in which the list follows new text. A person turns on.
  await until("the button", async () => {
    await page.mouse.wheel(0, -400);
    return await follow.isVisible();
  });
  const scrolled = (): Promise<number> => page.locator(".transcript-rows").evaluate((list) => list.scrollTop);
  let top = -1;
  await until("the scroll of the wheel to end", async () => {
    const last = top;
    top = await scrolled();
    return top === last;
  });
  const before = await height();
  await until("more text", async () => (await height()) > before + 40);
  expect(await scrolled()).toBe(top);
  await follow.click();
  await until("the end", async () => (await distance()) < 40);
});

/** Makes the log of an ended run as long as that of a day's work: pairs of tool calls before its end. */
async function fillLog(databaseUrl: string, runId: string): Promise<void> {
  const [row] = await query<{ epoch: number; last: string }>(
    databaseUrl,
    `select epoch, sequence as last from run_result where run_id = '${runId}' order by sequence desc limit 1`,
  );
  const startMs = Date.now();
  const results = Array.from({ length: entriesCount }, (_, index) => {
    const call = { toolCallId: `call-${index >> 1}`, toolName: `tool-${index >> 1}` };
    const isLast = index === entriesCount - 1;
    const payload = isLast
      ? ({ case: "runCompleted", value: { finishReason: "stop" } } as const)
      : index % 2 === 0
        ? ({ case: "toolCallStarted", value: { ...call, parameters: "{}" } } as const)
        : ({ case: "toolCallCompleted", value: { ...call, result: '{"content":"done"}' } } as const);
    const createTime = timestampFromMs(startMs + index);
    const result = create(RunResultSchema, { runId, sequence: BigInt(index + 1), createTime, payload });
    return `('${runId}', ${index + 1}, ${row?.epoch ?? 0}, '\\x${Buffer.from(toBinary(RunResultSchema, result)).toString("hex")}')`;
  });
  await query(databaseUrl, `delete from run_result where run_id = '${runId}'`);
  await query(databaseUrl, `insert into run_result (run_id, sequence, epoch, payload) values ${results.join(",")}`);
  await query(databaseUrl, `update run set last_sequence = ${entriesCount} where id = '${runId}'`);
}
