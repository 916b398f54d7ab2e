// The promise of Runnel in the console: a stream that cannot be lost, and logs of any length.

import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { endOfRun } from "../../conformance/stage.ts";
import { answer } from "../../fakes/provider.ts";
import { openProvider } from "../../fault/cluster.ts";
import { query, testDatabase } from "../../harness/database.ts";
import { findFreePorts } from "../../harness/free-ports.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startProcess } from "../../harness/process.ts";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { badgeOf, openConsole, seeBadge, seeText } from "./console-page.ts";

const rowsMax = 200;
const entriesCount = 20_000;

async function startDemoRun(target: string, message: string, model = "demo"): Promise<string> {
  const client = new GrpcClient(target);
  const agent = { name: "tester", model };
  const { sessionId } = await client.call(SessionService.method.createSession, { agent });
  return (await client.call(SessionService.method.sendMessage, { sessionId, message })).runId;
}

// The service dies while the model writes, and starts again. The page has text that is void now: it strikes that through, and
// gets the whole text once more. The person at the page does nothing.
test("after kill -9 in mid-sentence the page says so, continues by itself, and has the whole text once", async () => {
  const { provider, environment: ofProvider } = await openProvider();
  provider.respond(async (wire) => {
    wire.text("The board between them");
    await wire.hang();
  }, answer("The board between them will not stay."));
  const [port] = await findFreePorts(1);
  const environment = {
    ...ofProvider,
    RUNNEL_CONSOLE_ENABLED: "true",
    RUNNEL_DATABASE_URL: await testDatabase(),
    RUNNEL_SERVER_PORT: String(port),
  };
  const first = await startProcess(environment);
  const runId = await startDemoRun(first.target, "Write it.", "");
  const { page } = await openConsole(first.url, `runs/${runId}`);
  await seeText(page, "The board between them");
  await seeBadge(page, /^live · at \d+$/);
  await first.kill();
  await seeBadge(page, /^reconnecting( in \d+ s)?, nothing is lost$/);
  await page.locator(".service", { hasText: "service unreachable" }).waitFor();

  const second = await startProcess(environment);
  await seeBadge(page, /^ended, complete · at \d+$/);
  await page.locator(".service", { hasText: "service ready" }).waitFor();
  await seeText(page, "Restarted on another replica");
  expect(await page.locator(".row[data-void] del").first().textContent()).toBe("The board between them");
  const { run } = await new GrpcClient(second.target).call(RunService.method.getRun, { runId });
  const texts = await page.locator(".row:not([data-void]) .said .markdown").allInnerTexts();
  expect(texts.map(words)).toEqual([words(run?.output ?? "")]);
  expect(await badgeOf(page)).toBe(`ended, complete · at ${run?.lastSequence}`);
  await page.getByText(/^resumed \d+×$/).waitFor();
});

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

  await page.getByRole("tab", { name: "Transcript" }).click();
  await seeText(page, "tool-0");
  expect(await countRows()).toBeLessThan(rowsMax);
  await page.goto(`${service.url}/console/runs/${runId}?seq=15001`);
  await page.locator(".row[data-chosen]", { hasText: "tool-7500" }).waitFor();
  expect(await countRows()).toBeLessThan(rowsMax);
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

function words(text: string): readonly string[] {
  return text.match(/\S+/g) ?? [];
}
