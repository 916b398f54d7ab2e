// The examples of docs/resuming.md do what the page says: its programs end with exactly the text of the run, whichever part
// breaks.

import { Code } from "@connectrpc/connect";
import { expect, test, vi } from "vitest";
import { coreReasons, type ReasonName } from "../../src/platform/base/reasons.ts";
import { modelFlags } from "../conformance/stage.ts";
import { answer, hangAfter } from "../fakes/provider.ts";
import { getRun, openCluster, openProvider, startRun } from "../fault/cluster.ts";
import { printCode, readCodesTable } from "../fault/codes-table.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { createMovedClock } from "../harness/moved-clock.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { type ReaderCall, startShownReaders } from "./page-programs.ts";
import { startTicketServer } from "./ticket-server.ts";

/** Three services and a program that loads the contract start, on a machine with other work. */
const programStartMaxMs = 40_000;
vi.setConfig({ testTimeout: 120_000 });

// The replica that owns the run is killed in mid-sentence, another one takes over, and the killed one comes back on its port.
// Readers of either replica have text that is void: readers of the killed one from before the break, the others within one
// stream.
test("the page's programs end with exactly the output of a run that was taken over in mid-sentence", async () => {
  const { provider, environment } = await openProvider();
  provider.respond(hangAfter("half of an answer"), answer("a whole answer"));
  const cluster = await openCluster(environment);
  const [owner, other] = [await cluster.start(), await cluster.start()];
  const { sessionId, runId } = await startRun(owner.client, "go");
  const tickets = await startTicketServer(other.client, sessionId);
  const { authorization = "" } = credentialsOf();
  const calls = [owner, other].flatMap(({ url, target }): ReaderCall[] => [
    { follow: "run", target, authorization, runId },
    { follow: "session", streamUrl: `${url}/v1/sessions/${sessionId}/stream`, ticketUrl: tickets.url },
  ]);
  const readers = await startShownReaders(calls);
  const shown = (): string[] => readers.map((reader) => reader.text());
  await until("text at every reader", () => shown().every((text) => text === "half of an answer"), programStartMaxMs);
  await owner.kill();
  await cluster.start({ RUNNEL_SERVER_PORT: new URL(owner.url).port });
  const ends = await Promise.all(readers.map(({ ended }) => ended));

  const { output, takeovers } = await getRun(other.client, runId);
  expect({ output, takeovers }).toEqual({ output: "a whole answer", takeovers: 1 });
  expect(shown()).toEqual(readers.map(() => output));
  expect(ends).toMatchObject([{ runCompleted: {} }, { output }, { runCompleted: {} }, { output }]);
});

test("the reasons that the page says not to retry are those of the service", async () => {
  const { final } = await readCodesTable();
  expect(final.flatMap(({ reasons: named }) => named).length).toBeGreaterThan(5);
  for (const { codes, reasons: named } of final) {
    for (const reason of named) {
      expect(codes, reason).toContain(printCode(Code[coreReasons[reason as ReasonName]?.code]));
    }
  }
});

// A page follows a run that takes longer than its ticket is valid. The open stream continues. When it ends after an hour, the
// page's EventSource reconnects with the old ticket, is refused, and gives up. The page then opens a new one at its position.
test("a page whose ticket has expired gets another one and misses nothing", async () => {
  const { provider } = await openProvider();
  const [isOld, isBack] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  provider.respond(async (wire) => {
    wire.text("one ");
    await isOld.promise;
    wire.text("two ");
    await isBack.promise;
    wire.text("three");
    wire.done("stop");
  });
  const clock = createMovedClock();
  const service = await startService({ ...modelFlags(provider), defaultTimeoutSecs: 7_200 }, { clock });
  const client = new GrpcClient(service.target);
  const { sessionId } = await startRun(client, "go");
  const tickets = await startTicketServer(client, sessionId);
  const streamUrl = `${service.url}/v1/sessions/${sessionId}/stream`;
  const [page = expect.fail()] = await startShownReaders([{ follow: "session", streamUrl, ticketUrl: tickets.url }]);
  await until("the page to read", () => page.text() === "one ", programStartMaxMs);

  await query(service.databaseUrl, "update stream_ticket set create_time = create_time - interval '15 minutes'", []);
  const refused = await fetch(`${streamUrl}?ticket=${tickets.newest}`);
  expect([refused.status, await refused.json()]).toEqual([
    401,
    { error: "invalid ticket: unknown or expired, ask for a new one" },
  ]);
  isOld.resolve();
  await until("the open stream to go on", () => page.text() === "one two ");
  expect(tickets.made).toBe(1);
  clock.advance(3_600_000);
  await until("the page to have another ticket", () => tickets.made === 2);
  isBack.resolve();
  expect(await page.ended).toMatchObject({ status: "completed", output: "one two three" });
  expect([page.text(), tickets.made]).toEqual(["one two three", 2]);
});
