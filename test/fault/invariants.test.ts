// The checker itself: it accepts a sound log, and it finds every planted violation.

import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import type { ResultInit } from "../../src/engine/log/result.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import { query, testDatabase } from "../harness/database.ts";
import { plainChainValue } from "../receipts/plain-chain.ts";
import { findViolations } from "./invariants.ts";

type Payload = NonNullable<ResultInit["payload"]>;

interface PlantedEntry {
  readonly sequence: number;
  readonly epoch: number;
  readonly payload: Payload;
  /** The sequence that the payload claims, where it is false. */
  readonly claims?: number;
}

interface PlantedRun {
  readonly status: string;
  readonly owner: string | null;
  readonly epoch: number;
  readonly lastSequence: number;
  readonly log: readonly PlantedEntry[];
  /** Place in the log of the entry that the run row keeps as the terminal result. */
  readonly kept: number;
  /** The number of entries that the kept hash covers; undefined without a hash. */
  readonly hashed: number | undefined;
  readonly checkpoint?: { readonly sequence: number; readonly covers: number };
}

const replicaId = "019a0000-0000-7000-8000-000000000002";

const turn: Payload = { case: "turnStarted", value: { turn: 1 } };
const call: Payload = { case: "toolCallStarted", value: { toolCallId: "c", toolName: "list_dir", parameters: "{}" } };
const outcome: Payload = { case: "toolCallCompleted", value: { toolCallId: "c", toolName: "list_dir", result: "{}" } };
const completed: Payload = { case: "runCompleted", value: { finishReason: "stop" } };
const cancelled: Payload = { case: "runFailed", value: { code: "cancelled" } };

const sound: PlantedRun = {
  status: "completed",
  owner: null,
  epoch: 2,
  lastSequence: 4,
  kept: 4,
  hashed: 4,
  checkpoint: { sequence: 3, covers: 3 },
  log: [
    { sequence: 1, epoch: 1, payload: turn },
    { sequence: 2, epoch: 1, payload: call },
    { sequence: 3, epoch: 2, payload: outcome },
    { sequence: 4, epoch: 2, payload: completed },
  ],
};

const active = { status: "queued", lastSequence: 0, kept: 0, hashed: undefined };

const violations: readonly (readonly [name: string, run: PlantedRun, violation: string])[] = [
  ["a gap", changed({ log: entries({ 3: { sequence: 5 } }), lastSequence: 5 }), "I1 sequence 5 stands in place 4"],
  [
    "a late start",
    changed({ ...active, log: [{ sequence: 2, epoch: 1, payload: turn }] }),
    "I1 sequence 2 stands in place 1",
  ],
  ["a payload of another place", changed({ log: entries({ 0: { claims: 7 } }) }), "I1 the payload of 1 says 7"],
  ["an end without a terminal", changed({ log: sound.log.slice(0, 3) }), "I3 is completed and has no terminal"],
  ["two terminals", changed({ log: entries({ 2: { payload: completed } }) }), "I3 has a second terminal 4"],
  [
    "a result after the terminal",
    changed({ log: [...sound.log, { sequence: 5, epoch: 2, payload: turn }] }),
    "I3 goes on after its terminal 4",
  ],
  ["a row that ends elsewhere", changed({ lastSequence: 3 }), "I3 its row says that it ended at 3"],
  ["a row with another terminal", changed({ kept: 3 }), "I3 its row keeps another terminal than its log"],
  ["a state that is not the terminal's", changed({ status: "failed" }), "I4 is failed and its terminal says completed"],
  [
    "a cancel that the state calls a failure",
    changed({ status: "failed", log: entries({ 3: { payload: cancelled } }) }),
    "I4 is failed and its terminal says cancelled",
  ],
  ["an active run with a terminal", changed({ status: "queued" }), "I4 is queued and has the terminal 4"],
  [
    "a waiting run with an owner",
    changed({ ...active, status: "waiting", owner: replicaId, log: [] }),
    "I4 is waiting and has an owner",
  ],
  [
    "a running run without an owner",
    changed({ ...active, status: "running", log: [] }),
    "I4 is running and has no owner",
  ],
  [
    "an epoch that falls",
    changed({ log: entries({ 1: { epoch: 2 }, 2: { epoch: 1 } }) }),
    "I5 epoch 1 of 3 comes after epoch 2",
  ],
  ["an epoch above the run's", changed({ epoch: 1 }), "I5 epoch 2 of 3 is above the run's 1"],
  ["an end without a hash", changed({ hashed: undefined }), "I6 is completed and has no hash of its log"],
  ["a hash of a shorter log", changed({ hashed: 3 }), "I6 has the hash of another log"],
  [
    "a hash of a log that goes on",
    changed({ ...active, hashed: 4, log: [] }),
    "I6 is queued and has a hash of its log",
  ],
  [
    "a checkpoint with a chain of other entries",
    changed({ checkpoint: { sequence: 3, covers: 2 } }),
    "I6 its checkpoint keeps another chain of 3 entries than its log",
  ],
  [
    "a call without a result",
    changed({ log: entries({ 2: { payload: turn } }) }),
    "I7 call c of turn 1 was started and has no result",
  ],
  [
    "a call with two results",
    changed({ log: logOf(turn, call, outcome, outcome, completed), lastSequence: 5, kept: 5, hashed: 5 }),
    "I7 call c of turn 1 was started 1 and ended 2 times",
  ],
  [
    "a result without a call",
    changed({ log: entries({ 1: { payload: turn } }) }),
    "I7 call c of turn 1 was started 0 and ended 1 times",
  ],
];

test("every violation is found in the run that has it", async () => {
  const databaseUrl = await openForPlanting();
  const expected: string[] = [];
  for (const [name, run, violation] of violations) {
    const id = await plant(databaseUrl, run);
    expected.push(`${name}: run ${id}: ${violation}`);
  }
  const found = await findViolations(databaseUrl);
  const missed = expected.filter((line) => !found.some((each) => each === line.slice(line.indexOf(": ") + 2)));
  expect(missed).toEqual([]);
});

test("sound runs have no violation", async () => {
  const databaseUrl = await openForPlanting();
  await plant(databaseUrl, sound);
  const half = sound.log.slice(0, 2);
  await plant(databaseUrl, { ...sound, ...active, status: "running", owner: replicaId, log: half });
  // Some providers count the ids of their calls from the start in each response.
  const log = logOf(turn, call, outcome, { case: "turnStarted", value: { turn: 2 } }, call, outcome, completed);
  await plant(databaseUrl, { ...sound, log, lastSequence: 7, kept: 7, hashed: 7 });
  expect(await findViolations(databaseUrl)).toEqual([]);
});

test("results without a run are found", async () => {
  const databaseUrl = await openForPlanting();
  await plant(databaseUrl, sound);
  await query(databaseUrl, "insert into run_result values ($1, 1, 1, '')", [replicaId]);
  expect(await findViolations(databaseUrl)).toEqual([`run ${replicaId}: has results and no row`]);
});

test("a database without runs is a violation", async () => {
  expect(await findViolations(await testDatabase())).toEqual(["there is no run to check"]);
});

function changed(change: Partial<PlantedRun>): PlantedRun {
  return { ...sound, ...change };
}

/** The sound log with some entries changed, by their place. */
function entries(changes: Readonly<Record<number, Partial<PlantedEntry>>>): PlantedEntry[] {
  return sound.log.map((entry, index) => ({ ...entry, ...changes[index] }));
}

function logOf(...payloads: readonly Payload[]): PlantedEntry[] {
  return payloads.map((payload, index) => ({ sequence: index + 1, epoch: 1, payload }));
}

/** A database that accepts runs which its constraints would refuse. */
async function openForPlanting(): Promise<string> {
  const databaseUrl = await testDatabase();
  await query(databaseUrl, "alter table run drop constraint run_check, drop constraint run_session_fkey");
  return databaseUrl;
}

/** Returns the id of the planted run. */
async function plant(databaseUrl: string, run: PlantedRun): Promise<string> {
  const runId = newUuid(0);
  const payloads = run.log.map((entry) => bytesOf(runId, entry));
  // Each is the only run of its session, which is not checked.
  await query(
    databaseUrl,
    `insert into run
      (id, client, session, driver, input, status, owner, epoch, deadline, last_sequence, terminal, log_hash)
      values ($1, 'c', $1, 'd', '', $2, $3, $4, now(), $5, $6, $7)`,
    [
      ...[runId, run.status, run.owner, run.epoch, run.lastSequence, payloads[run.kept - 1] ?? null],
      run.hashed === undefined ? null : plainChainValue(runId, payloads.slice(0, run.hashed)),
    ],
  );
  if (run.checkpoint !== undefined) {
    const { sequence, covers } = run.checkpoint;
    await query(
      databaseUrl,
      `insert into checkpoint (run_id, turn, sequence, state, chain_sequence, chain) values ($1, 1, $2, '', $2, $3)`,
      [runId, sequence, plainChainValue(runId, payloads.slice(0, covers))],
    );
  }
  for (const [index, { sequence, epoch }] of run.log.entries()) {
    const values = [runId, sequence, epoch, payloads[index]];
    await query(databaseUrl, "insert into run_result values ($1, $2, $3, $4)", values);
  }
  return runId;
}

function bytesOf(runId: string, { sequence, claims = sequence, payload }: PlantedEntry): Buffer {
  const result = create(RunResultSchema, { runId, sequence: BigInt(claims), payload });
  return Buffer.from(toBinary(RunResultSchema, result));
}
