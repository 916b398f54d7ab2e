// Concurrent texts: the same one many times, different ones, and an exchange that ends in the meantime. Each text is executed
// once or not at all, and every caller gets the same answer.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ServiceError } from "@grpc/grpc-js";
import { test as base, expect } from "vitest";
import { Exchange_State } from "#gen/runnel/exchange/v1/exchange_pb.js";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { holdBefore } from "../fault/gate.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { readLog } from "../fault/log-reader.ts";
import { query } from "../harness/database.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { hasJail } from "../tools/bash/jailed.ts";
import { type ExchangeStage, getOutbox, openStage, refusalOf, startExchange, submit, summariesOf } from "./stage.ts";

const test = base.extend("lines", () => openLines());

/** Adds one line each time that it is executed. */
const addLine = `[EDIT_FILE path="lines.txt" start_line="1" end_line="1"]
line
line
[/EDIT_FILE]
`;
const done = "[DONE]\nenough\n[/DONE]\n";

function linesOf({ area }: ExchangeStage): number {
  return readFileSync(join(area.root, "lines.txt"), "utf8").split("\n").length - 1;
}

async function openLines(flags = {}): Promise<ExchangeStage> {
  const stage = await openStage(flags);
  stage.area.write("lines.txt", "line\n");
  return stage;
}

/** Another replica on the same database. */
async function openTwin({ service }: ExchangeStage): Promise<GrpcClient> {
  return new GrpcClient((await startService({ databaseUrl: service.databaseUrl })).target);
}

async function stateOf({ client }: ExchangeStage, exchangeId: string): Promise<Exchange_State | undefined> {
  return (await client.call(ExchangeService.method.getExchange, { exchangeId })).exchange?.state;
}

test("a text that is sent twenty times at once, to two replicas, is executed once and gets one answer", async () => {
  const stage = await openLines();
  const twin = await openTwin(stage);
  const exchange = await startExchange(stage);
  await getOutbox(stage.client, exchange);
  const clients = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? stage.client : twin));
  const answers = await Promise.all(clients.map((client) => submit(client, exchange, addLine)));
  expect(linesOf(stage)).toBe(2);
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]).toMatchObject({ results: [{ success: true }], sequence: 2, isComplete: false });
  // With its sequence number, the same text is another answer.
  expect(await submit(twin, exchange, addLine, 2)).toMatchObject({ results: [{ success: true }], sequence: 3 });
  expect(linesOf(stage)).toBe(3);
  expect(await submit(twin, exchange, addLine, 1)).toEqual(answers[0]);
  expect(linesOf(stage)).toBe(3);
});

test("one of several texts for an outbox is executed, and the others are stale", async ({ lines: stage }) => {
  const twin = await openTwin(stage);
  const exchange = await startExchange(stage);
  await getOutbox(stage.client, exchange);
  const calls = Array.from({ length: 8 }, (_, index) =>
    submit(index % 2 === 0 ? stage.client : twin, exchange, `${addLine}${index}`, 1).then(
      (answer) => answer.results[0]?.summary,
      (error: ServiceError) => reasonOf(error),
    ),
  );
  const told = await Promise.all(calls);
  expect(told.toSorted()).toEqual(["Edited 'lines.txt' lines 1-1", ...Array.from({ length: 7 }, () => "INBOX_STALE")]);
  expect(linesOf(stage)).toBe(2);
});

test("the call waits for the first outbox, and a text that is sent before is executed after it", async () => {
  const stage = await openLines();
  const gate = await holdBefore(stage.service.databaseUrl, "update of outbox on exchange");
  const exchange = await startExchange(stage);
  await gate.reached();
  expect(await stateOf(stage, exchange.exchangeId)).toBe(Exchange_State.WORKING);
  const outboxes = [getOutbox(stage.client, exchange), getOutbox(stage.client, exchange)];
  const answer = submit(stage.client, exchange, addLine);
  await gate.open();
  for (const { text } of await Promise.all(outboxes)) {
    expect(text).toContain(`Session: ${exchange.exchangeId}\n`);
  }
  expect(summariesOf(await answer)).toEqual(["Edited 'lines.txt' lines 1-1"]);
  expect(linesOf(stage)).toBe(2);
});

test("a cancel, a deletion and the last text end an exchange at most once, in any order", async () => {
  const stage = await openLines({ databasePoolSize: 8 });
  const { cancelRun } = RunService.method;
  const { deleteSession } = SessionService.method;
  const races = Array.from({ length: 24 }, async (_, index) => {
    const exchange = await startExchange(stage);
    await getOutbox(stage.client, exchange);
    const rival =
      index % 2 === 0
        ? stage.client.call(cancelRun, { runId: exchange.runId })
        : stage.client.call(deleteSession, { sessionId: exchange.exchangeId });
    const reason = await submit(stage.client, exchange, `${"[MESSAGE]\nhi\n[/MESSAGE]\n".repeat(index)}${done}`).then(
      ({ results }) => {
        expect(results).toHaveLength(index + 1);
        return undefined;
      },
      (error: ServiceError) => reasonOf(error),
    );
    expect([undefined, "EXCHANGE_ENDED", "EXCHANGE_NOT_FOUND"]).toContain(reason);
    await rival;
    const log = await readLog(stage.client, exchange.runId);
    expect(log.at(-1)?.payload.case).toMatch(/^run(Completed|Failed)$/);
  });
  await Promise.all(races);
  await expectInvariants(stage.service.databaseUrl);
});

const waitForGo = "[RUN_COMMAND]\ntouch begun; until [ -e go ]; do sleep 0.05; done\n[/RUN_COMMAND]\n";

/** An exchange with a running command, and the call that waits for it. */
async function beginCommand(stage: ExchangeStage) {
  const exchange = await startExchange(stage);
  await getOutbox(stage.client, exchange);
  const answer = submit(stage.client, exchange, `${waitForGo}${addLine}`, 1);
  answer.catch(() => {});
  await until("the command to have begun", () => existsSync(join(stage.area.root, "begun")));
  return { exchange, answer };
}

test.runIf(hasJail)(
  "a cancel reports the running command as interrupted and the following ones as not executed",
  async ({ lines: stage }) => {
    const { exchange, answer } = await beginCommand(stage);
    await stage.client.call(RunService.method.cancelRun, { runId: exchange.runId });
    const told = await answer;
    expect(told).toMatchObject({ sequence: 1, isComplete: false });
    expect(told.results).toMatchObject([
      { type: "RUN_COMMAND", success: false, summary: expect.stringContaining("interrupted") },
      { type: "EDIT_FILE", success: false, summary: "not executed: the exchange has ended (cancelled)" },
    ]);
    expect(await submit(stage.client, exchange, `${waitForGo}${addLine}`, 1)).toEqual(told);
    expect(linesOf(stage)).toBe(1);
    expect(await refusalOf(submit(stage.client, exchange, "another", 1))).toBe("EXCHANGE_ENDED");
    await expectInvariants(stage.service.databaseUrl);
  },
);

test.runIf(hasJail)(
  "an exchange that times out during a command fails, and reports the commands that were not executed",
  async ({ lines: stage }) => {
    const exchange = await startExchange(stage);
    await getOutbox(stage.client, exchange);
    await query(stage.service.databaseUrl, "update run set deadline = now() + interval '3 seconds'");
    const told = await submit(stage.client, exchange, `${waitForGo}${addLine}`, 1);
    expect(told.results).toMatchObject([
      { type: "RUN_COMMAND", success: false },
      { type: "EDIT_FILE", success: false, summary: "not executed: the exchange has ended (failed)" },
    ]);
    expect(await stateOf(stage, exchange.exchangeId)).toBe(Exchange_State.FAILED);
    expect(linesOf(stage)).toBe(1);
    await expectInvariants(stage.service.databaseUrl);
  },
);

test("an exchange that times out while it waits fails without a call", async ({ lines: stage }) => {
  const exchange = await startExchange(stage);
  await getOutbox(stage.client, exchange);
  await query(stage.service.databaseUrl, "update run set deadline = now(), wake_at = now()");
  await until("it to fail", async () => (await stateOf(stage, exchange.exchangeId)) === Exchange_State.FAILED);
  expect(await refusalOf(submit(stage.client, exchange, addLine))).toBe("EXCHANGE_ENDED");
  const log = await readLog(stage.client, exchange.runId);
  expect(log.map(({ payload }) => payload.case)).toEqual(["runWaiting", "runFailed"]);
  expect(linesOf(stage)).toBe(1);
});

test.runIf(hasJail)("a replica that stops lets a command finish, and another replica answers its caller", async () => {
  const stage = await openLines();
  const twin = await openTwin(stage);
  const { exchange, answer } = await beginCommand(stage);
  const closing = stage.service.close();
  expect(await refusalOf(answer)).toBe("RESUME");
  stage.area.write("go", "");
  const told = await submit(twin, exchange, `${waitForGo}${addLine}`, 1);
  expect(told.results).toMatchObject([
    { type: "RUN_COMMAND", success: true },
    { type: "EDIT_FILE", success: true },
  ]);
  expect(linesOf(stage)).toBe(2);
  await closing;
  await expectInvariants(stage.service.databaseUrl);
});
