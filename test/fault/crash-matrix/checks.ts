// The checks after a cell, beyond the invariants of any database: the run is whole, nothing was recorded twice, and all
// readers and callers got the same.
//
// I2   Every result that a reader got is stored, byte by byte, and all readers got the same (I6).
// I7   Each call has one outcome, and the log's result is at the place that its row names.
// I10  The same request gives the same answer, and there is one session and one run.
// I12  The provider's key and the client's are in no log line.
// I13  The session's host got a callback for each transition, in order; a repeated callback directly follows the first.
//
// All times are right: they follow the database's clock, even when the clocks of the processes are wrong.

import { fromBinary } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import type { WireServer } from "../../fakes/wire-server.ts";
import { keyOf } from "../../harness/credentials.ts";
import { query } from "../../harness/database.ts";
import { until } from "../../harness/wait.ts";
import { getRun } from "../cluster.ts";
import { findViolations } from "../invariants.ts";
import { expectStored, readLog, textOf } from "../log-reader.ts";
import type { Sent } from "./caller.ts";
import { type Member, patienceMs } from "./crew.ts";
import { GrpcReading, openReading, type Reading } from "./reading.ts";
import { timeOf } from "./recovery.ts";
import type { Cell } from "./scenarios.ts";

/** Longer than a cell, shorter than the smallest error of a clock. */
const datedMaxMs = 4 * 60_000;

/** The shape of every cell's run: two turns with two calls each, then the answer. */
const turnsWithCalls = 2;
const callsPerTurn = 2;

export interface History {
  readonly cell: Cell;
  readonly databaseUrl: string;
  readonly sent: Sent;
  /** The answers to the same requests at the end. */
  readonly repeated: Sent;
  readonly readings: readonly Reading[];
  readonly members: readonly Member[];
  readonly survivor: Member;
  readonly words: number;
  readonly providerKey: string;
  readonly host: WireServer | undefined;
  /** Requests to the provider, without those that it answered with a wait or a refusal. */
  readonly modelCalls: number;
}

export async function checkHistory(history: History): Promise<void> {
  const { databaseUrl, sent, repeated, survivor } = history;
  expect(repeated, "I10").toEqual(sent);
  expect(await findViolations(databaseUrl)).toEqual([]);
  const results = await readLog(survivor.client, sent.runId);
  await expectStored(databaseUrl, sent.runId, results);
  await checkReadings(history, results);
  await checkRun(history, results);
  await checkTables(databaseUrl, results);
  checkTimes(sent.runId, results);
  checkModelCalls(history);
  checkSecrets(history);
  await checkTold(history);
}

async function checkReadings({ cell, databaseUrl, sent, readings, survivor }: History, results: readonly RunResult[]) {
  const fresh = openReading(cell.surface, sent.runId);
  await fresh.follow(survivor);
  expect(fresh.count, "I6").toBe(results.length);
  for (const reading of readings) {
    expect(reading.print(), "I2, I6").toEqual(fresh.print());
    if (reading instanceof GrpcReading) {
      await expectStored(databaseUrl, sent.runId, reading.reader.results);
    }
  }
}

async function checkRun({ sent, survivor, words }: History, results: readonly RunResult[]): Promise<void> {
  const run = await getRun(survivor.client, sent.runId);
  expect(run).toMatchObject({ state: Run_State.COMPLETED, lastSequence: BigInt(results.length) });
  expect(run.output).toBe(Array.from({ length: words }, (_, index) => `word${index} `).join(""));
  expect(textOf(results)).toBe(run.output);
}

async function checkTables(databaseUrl: string, results: readonly RunResult[]): Promise<void> {
  const counts = await query(
    databaseUrl,
    "select (select count(*)::int from session) as sessions, (select count(*)::int from run) as runs",
  );
  expect(counts, "I10").toEqual([{ sessions: 1, runs: 1 }]);
  const calls = await query<{ turn: number; position: number; known: boolean; at: number | null }>(
    databaseUrl,
    `select turn, position, outcome is not null as known, log_sequence::int as at
      from tool_call order by turn, position`,
  );
  expect(calls, "I7").toHaveLength(turnsWithCalls * callsPerTurn);
  for (const { turn, position, known, at } of calls) {
    expect(known, "I7").toBe(true);
    const toolCallId = `call_${turn - 1}_${position}`;
    expect(results[(at ?? 0) - 1]?.payload, "I7").toMatchObject({ case: "toolCallCompleted", value: { toolCallId } });
  }
  const transcript = await query<{ position: number; message: Buffer }>(
    databaseUrl,
    "select position, message from transcript order by position",
  );
  const turn = ["assistant", ...Array.from({ length: callsPerTurn }, () => "tool")];
  const roles = ["user", ...Array.from({ length: turnsWithCalls }, () => turn).flat(), "assistant"];
  expect(transcript.map(({ message }) => fromBinary(MessageSchema, message).role)).toEqual(roles);
  expect(transcript.map(({ position }) => position)).toEqual(roles.map((_, index) => index));
}

/** Includes the run's id, because it contains the day of the log. */
function checkTimes(runId: string, results: readonly RunResult[]): void {
  const idAtMs = Number.parseInt(runId.replace("-", "").slice(0, 12), 16);
  const nowMs = Date.now();
  const wrong = [idAtMs, ...results.map(timeOf)].filter((atMs) => Math.abs(nowMs - atMs) > datedMaxMs);
  expect(wrong.map((atMs) => `dated ${new Date(atMs).toISOString()}`)).toEqual([]);
}

/** A crash costs at most the model call that it interrupted. */
function checkModelCalls({ members, modelCalls }: History): void {
  const deaths = members.filter(({ dies }) => dies !== undefined).length;
  expect(modelCalls).toBeGreaterThanOrEqual(turnsWithCalls + 1);
  expect(modelCalls).toBeLessThanOrEqual(turnsWithCalls + 1 + deaths);
}

function checkSecrets({ members, providerKey }: History): void {
  for (const member of members) {
    expect(member.log().includes(providerKey), "I12").toBe(false);
    expect(member.log().includes(keyOf()), "I12").toBe(false);
  }
}

async function checkTold({ databaseUrl, host, sent }: History): Promise<void> {
  if (host === undefined) {
    return;
  }
  const pending = () => query(databaseUrl, "select from callback where state = 'pending'");
  await until("I13 every callback to be settled", async () => (await pending()).length === 0, patienceMs);
  const told = host.requests.map(({ body }) => `${body.status} ${body.callback_id} ${body.run_id ?? ""}`);
  const once = told.filter((each, index) => each !== told[index - 1]);
  expect(once, "I13").toEqual([
    expect.stringMatching(/^created /),
    expect.stringMatching(new RegExp(`^running .* ${sent.runId}$`)),
    expect.stringMatching(new RegExp(`^completed .* ${sent.runId}$`)),
  ]);
}
