// The invariants of a database after any kill, stop or cancel. They are checked with SQL, and payloads are decoded by the
// contract alone, so that a defect of the service cannot hide itself.
//
// I1  Sequences of a run are 1..n, and each payload contains its own sequence.
// I3  A finished run has one terminal result, which is its last one and the one that the run row keeps.
// I4  The state agrees with the terminal's type and code; an active run has no terminal; only a running run has an owner.
// I5  Epochs never fall along the sequence, and none is above the run's.
// I6  A finished run keeps the value of the hash chain over its log, and a checkpoint that of a block of it.
// I7  Each started tool call has one result in a finished run, and never more than one. A turn that begins again may repeat the calls
//     of a provider's own tools, and those before have their results too.
// I8  Each finished run counts once in the sums of usage, or waits once to be counted.

import { fromBinary, getOption, hasOption } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { result as resultOption } from "#gen/runnel/options/v1/options_pb.js";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { query } from "../harness/database.ts";
import { plainChainValue } from "../receipts/plain-chain.ts";

interface Known {
  /** Some runs were ended by a version that kept no chain. */
  readonly someWithoutChain?: boolean;
}

/** Fails with every violation in the database; also when it has no run. */
export async function expectInvariants(databaseUrl: string, known: Known = {}): Promise<void> {
  expect(await findViolations(databaseUrl, known)).toEqual([]);
}

export async function findViolations(databaseUrl: string, known: Known = {}): Promise<string[]> {
  const runs = await query<RunRow>(
    databaseUrl,
    `select id, status, owner, epoch, last_sequence::int as "lastSequence", terminal, log_hash as "logHash",
      chain_sequence::int as "chainSequence", chain
      from run left join checkpoint on run_id = id order by id`,
  );
  if (runs.length === 0) {
    return ["there is no run to check"];
  }
  const found: string[] = [];
  for (let start = 0; start < runs.length; start += runsAtOnce) {
    found.push(...(await checkRuns(databaseUrl, runs.slice(start, start + runsAtOnce), known)));
  }
  const strays = await query<{ id: string }>(
    databaseUrl,
    "select distinct run_id as id from run_result where run_id not in (select id from run) order by 1",
  );
  const miscounted = known.someWithoutChain === true ? [] : await findMiscounted(databaseUrl);
  return [...strays.map(({ id }) => `run ${id}: has results and no row`), ...found, ...miscounted];
}

async function findMiscounted(databaseUrl: string): Promise<string[]> {
  const [row] = await query<{ ended: number; counted: number }>(
    databaseUrl,
    `select (select count(*)::int from run where end_time is not null) as ended, (select count(*)::int from ended_run)
      + (select coalesce(sum(completed + failed + cancelled), 0)::int from usage_sum where seconds = 86400) as counted`,
  );
  return row?.ended === row?.counted ? [] : [`${row?.ended} runs have ended, and ${row?.counted} count`];
}

/** The logs of all runs together may be larger than the memory. */
const runsAtOnce = 1_000;

async function checkRuns(databaseUrl: string, runs: readonly RunRow[], known: Known): Promise<string[]> {
  const rows = await query<ResultRow>(
    databaseUrl,
    `select run_id as "runId", sequence::int, epoch, payload from run_result
      where run_id = any($1) order by run_id, sequence`,
    [runs.map(({ id }) => id)],
  );
  const logs = Map.groupBy(rows, (row) => row.runId);
  return runs.flatMap((run) => checkRun(run, (logs.get(run.id) ?? []).map(decode), known));
}

interface RunRow {
  readonly id: string;
  readonly status: string;
  readonly owner: string | null;
  readonly epoch: number;
  readonly lastSequence: number;
  readonly terminal: Buffer | null;
  readonly logHash: Buffer | null;
  readonly chainSequence: number | null;
  readonly chain: Buffer | null;
}

interface ResultRow {
  readonly runId: string;
  readonly sequence: number;
  readonly epoch: number;
  readonly payload: Buffer;
}

interface Entry extends ResultRow {
  readonly result: RunResult;
}

function decode(row: ResultRow): Entry {
  return { ...row, result: fromBinary(RunResultSchema, row.payload) };
}

function checkRun(run: RunRow, log: readonly Entry[], known: Known): string[] {
  const found = [
    ...checkSequences(log),
    ...checkEnd(run, log),
    ...checkOwner(run),
    ...checkEpochs(run, log),
    ...checkChain(run, log, known),
    ...checkToolCalls(run, log),
  ];
  return found.map((violation) => `run ${run.id}: ${violation}`);
}

function checkSequences(log: readonly Entry[]): string[] {
  return log.flatMap(({ sequence, runId, result }, index) => [
    ...(sequence === index + 1 ? [] : [`I1 sequence ${sequence} stands in place ${index + 1}`]),
    ...(Number(result.sequence) === sequence ? [] : [`I1 the payload of ${sequence} says ${result.sequence}`]),
    ...(result.runId === runId ? [] : [`I1 the payload of ${sequence} names another run`]),
  ]);
}

const finalStates = ["completed", "failed", "cancelled"];

function checkEnd(run: RunRow, log: readonly Entry[]): string[] {
  const terminals = log.filter(({ result }) => isTerminal(result));
  if (!finalStates.includes(run.status)) {
    return terminals.map(({ sequence }) => `I4 is ${run.status} and has the terminal ${sequence}`);
  }
  const last = log.at(-1);
  const [terminal, ...more] = terminals;
  if (terminal === undefined) {
    return [`I3 is ${run.status} and has no terminal`];
  }
  const state = stateOf(terminal.result);
  return [
    ...more.map(({ sequence }) => `I3 has a second terminal ${sequence}`),
    ...(terminal === last ? [] : [`I3 goes on after its terminal ${terminal.sequence}`]),
    ...(run.lastSequence === terminal.sequence ? [] : [`I3 its row says that it ended at ${run.lastSequence}`]),
    ...(run.terminal?.equals(terminal.payload) === true ? [] : ["I3 its row keeps another terminal than its log"]),
    ...(run.status === state ? [] : [`I4 is ${run.status} and its terminal says ${state}`]),
  ];
}

function checkOwner({ status, owner }: RunRow): string[] {
  if (status === "running") {
    return owner === null ? ["I4 is running and has no owner"] : [];
  }
  return owner === null ? [] : [`I4 is ${status} and has an owner`];
}

function checkEpochs(run: RunRow, log: readonly Entry[]): string[] {
  return log.flatMap(({ sequence, epoch }, index) => {
    const before = log[index - 1]?.epoch ?? 0;
    if (epoch < before) {
      return [`I5 epoch ${epoch} of ${sequence} comes after epoch ${before}`];
    }
    return epoch > run.epoch ? [`I5 epoch ${epoch} of ${sequence} is above the run's ${run.epoch}`] : [];
  });
}

function checkChain(run: RunRow, log: readonly Entry[], { someWithoutChain = false }: Known): string[] {
  const { id, status, logHash, chainSequence, chain } = run;
  const valueAfter = (count: number): Buffer =>
    plainChainValue(
      id,
      log.slice(0, count).map(({ payload }) => payload),
    );
  // A purge replaces the bytes that were chained.
  const isPurged = log.some(({ result }) => result.purgedSha256 !== "");
  const found: string[] = [];
  if (!isPurged && chainSequence !== null && chain?.equals(valueAfter(chainSequence)) !== true) {
    found.push(`I6 its checkpoint keeps another chain of ${chainSequence} entries than its log`);
  }
  if (!finalStates.includes(status)) {
    return logHash === null ? found : [...found, `I6 is ${status} and has a hash of its log`];
  }
  if (logHash === null) {
    return someWithoutChain ? found : [...found, `I6 is ${status} and has no hash of its log`];
  }
  return isPurged || logHash.equals(valueAfter(log.length)) ? found : [...found, "I6 has the hash of another log"];
}

/** Ids of calls need to be unique only within a turn: some providers count them from 0 in each response. */
function checkToolCalls(run: RunRow, log: readonly Entry[]): string[] {
  const calls = countCalls(log);
  const finished = finalStates.includes(run.status);
  return [...calls].flatMap(([call, { started, completed }]) => {
    if (completed > started || started > 1) {
      return [`I7 ${call} was started ${started} and ended ${completed} times`];
    }
    return finished && completed < started ? [`I7 ${call} was started and has no result`] : [];
  });
}

function countCalls(log: readonly Entry[]): Map<string, { started: number; completed: number }> {
  const calls = new Map<string, { started: number; completed: number; sequence: bigint }>();
  let turn = 0;
  for (const { payload, sequence } of log.map(({ result }) => result)) {
    if (payload.case === "turnStarted" || payload.case === "turnRestarted") {
      turn = payload.value.turn;
    }
    if (payload.case === "turnRestarted") {
      for (const [name, count] of [...calls].filter(([, each]) => each.sequence >= payload.value.fromSequence)) {
        calls.delete(name);
        calls.set(`${name}, void at ${sequence}`, count);
      }
    }
    if (payload.case !== "toolCallStarted" && payload.case !== "toolCallCompleted") {
      continue;
    }
    const name = `call ${payload.value.toolCallId} of turn ${turn}`;
    const count = calls.get(name) ?? { started: 0, completed: 0, sequence };
    count[payload.case === "toolCallStarted" ? "started" : "completed"] += 1;
    calls.set(name, count);
  }
  return calls;
}

const terminalCases = new Set(
  RunResultSchema.fields
    .filter((field) => hasOption(field, resultOption) && getOption(field, resultOption).terminal)
    .map((field) => field.localName),
);

export function isTerminal({ payload }: RunResult): boolean {
  return payload.case !== undefined && terminalCases.has(payload.case);
}

function stateOf({ payload }: RunResult): string {
  if (payload.case !== "runFailed") {
    return payload.case === "runCompleted" ? "completed" : "unknown";
  }
  return payload.value.code === "cancelled" ? "cancelled" : "failed";
}
