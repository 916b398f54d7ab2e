// kill -9 at each step of an exchange, of several processes one after the other. The next process continues: no command runs
// twice, unknown outcomes are reported, and the person gets the same answers as without a failure.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { type ServiceError, status } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { exchangeFailpoints } from "../../../src/protocols/exchange/failpoints.ts";
import { filesBelow } from "../../exchanges/execute/stage.ts";
import { query } from "../../harness/database.ts";
import { until } from "../../harness/wait.ts";
import { Area } from "../../tools/area.ts";
import { hasJail, processesOf } from "../../tools/bash/jailed.ts";
import { type Cluster, openCluster } from "../cluster.ts";
import { isAlive } from "../crash-matrix/crew.ts";
import { expectInvariants } from "../invariants.ts";
import { expectStored, LogReader } from "../log-reader.ts";
import { firstCommands, runPosition, ScriptedUser, task } from "./scripted-user.ts";

const interrupted = "interrupted; the command may have run in part, and is not run again";

/** A few processes one after the other, on a busy machine. */
const chainTimeoutMs = 240_000;
/** A busy machine must not end the lease of a living process. */
const leaseMs = 3_000;

/** The outcome of the command that must not run twice: the last two are reported alike, because they look the same. */
type Fate = "ran" | "not begun" | "ran unseen";

interface Chain {
  /** Where one process after the other dies, in the order of the exchange; the last one lives. */
  readonly deaths: readonly string[];
  readonly fate: Fate;
}

/** Each process counts its own passes: the second outbox is the first one of a process that takes over before it. */
const chains: readonly Chain[] = [
  ...[
    ["exchange.written", "start.committed", "run.loaded", "outbox.rendered"],
    ["outbox.committed", "park.written", "park.committed", "inbox.written", "inbox.committed", "claim.committed"],
    ["run.loaded:2", "command.begun", "terminal.announced"],
    ["announce.published:2", "notify.sending", "notify.sent"],
    ["exchanged.written", "commit.committed:3", "checkpoint.written:2"],
    [`command.ended:${firstCommands}`, "outbox.rendered", "outbox.committed"],
    // More deaths than a run without progress may have: the count starts anew at each outbox.
    [
      "command.settled",
      "park.written",
      "park.committed",
      "exchange.completed",
      "terminal.writing",
      "terminal.committed",
    ],
  ].map((deaths): Chain => ({ deaths, fate: "ran" })),
  // At the end of each command, and then at the beginning of the next one.
  ...Array.from({ length: firstCommands - 1 }, (_, index): Chain => {
    const position = index + 1;
    return { deaths: [`command.ended:${position}`, "command.begun"], fate: fateAfter(position) };
  }),
];

/** All commands but one can tell whether they were already executed. */
function fateAfter(position: number): Fate {
  if (position === runPosition) {
    return "ran unseen";
  }
  return position + 1 === runPosition ? "not begun" : "ran";
}

/** Two cores start few processes at a time. */
const chainsAtOnce = 4;
const batches = Array.from({ length: Math.ceil(chains.length / chainsAtOnce) }, (_, index) => {
  const batch = chains.slice(index * chainsAtOnce, (index + 1) * chainsAtOnce);
  return [batch.map(({ deaths }) => deaths.join(" → ")).join(" · "), batch] as const;
});

test.each(batches)("an exchange continues after deaths at %s", { timeout: chainTimeoutMs }, async (_names, batch) => {
  await Promise.all(batch.map(playChain));
});

test("the chains include every failpoint that only exchanges pass", () => {
  const tried = chains.flatMap(({ deaths }) => deaths.map((place) => place.split(":")[0]));
  expect(exchangeFailpoints.filter((place) => !tried.includes(place))).toEqual([]);
});

test.runIf(hasJail)(
  "a command that is running at a kill dies with its process, and is reported as interrupted",
  async () => {
    const area = new Area();
    onTestFinished(() => area[Symbol.dispose]());
    area.giveToSession();
    const cluster = await openCluster();
    const first = await cluster.start();
    const person = new ScriptedUser(area.root);
    const command = "echo ran >> ran.txt; sleep 600";
    const cut = person
      .send(first.client, `[RUN_COMMAND]\n${command}\n[/RUN_COMMAND]`)
      .catch(({ code }: ServiceError) => code);
    await until("the command to run", () => existsSync(join(area.root, "ran.txt")));
    await first.kill();
    expect(await cut).toBe(status.UNAVAILABLE);
    const second = await cluster.startHere();
    const { results } = await person.send(second.client, `[RUN_COMMAND]\n${command}\n[/RUN_COMMAND]`);
    expect(results).toMatchObject([{ success: false, summary: `Failed to run '${command}': ${interrupted}` }]);
    expect(filesBelow(area.root)).toEqual({ "ran.txt": "ran\n" });
    await until("the command to be gone", () => processesOf(person.exchangeId).length === 0);
    await expectInvariants(cluster.databaseUrl);
  },
);

test("the turn of a text without commands is logged once", async () => {
  const area = new Area();
  onTestFinished(() => area[Symbol.dispose]());
  const cluster = await openCluster();
  const person = new ScriptedUser(area.root);
  const first = await cluster.start({ RUNNEL_FAILPOINT: "command.settled" });
  await expect(person.send(first.client, "only prose")).rejects.toMatchObject({ code: status.UNAVAILABLE });
  const second = await cluster.startHere();
  expect(await person.send(second.client, "only prose")).toMatchObject({ results: [], sequence: 2 });
  const log = await query<{ payload: Buffer }>(cluster.databaseUrl, "select payload from run_result order by sequence");
  const results = log.map(({ payload }) => fromBinary(RunResultSchema, payload));
  expect(results.map(labelOf)).toEqual(["runWaiting", "turnStarted 1", "runWaiting"]);
});

async function playChain({ deaths, fate }: Chain): Promise<void> {
  const area = new Area();
  onTestFinished(() => area[Symbol.dispose]());
  area.write("old.txt", "of yesterday\n");
  area.giveToSession();
  const cluster = await openCluster({ RUNNEL_RUNS_LEASE_MS: String(leaseMs) });
  const person = new ScriptedUser(area.root);
  for (const dies of deaths) {
    await playDeath(cluster, person, dies);
  }
  const last = await cluster.startHere();
  await person.converse(last.client);
  // The person may repeat everything at any time.
  await person.converse(last.client);
  const reader = new LogReader(person.runId);
  expect(await reader.follow(last.client)).toBe(status.OK);
  await expectStored(cluster.databaseUrl, person.runId, reader.results);
  await expectInvariants(cluster.databaseUrl);
  expectWorkspace(area, fate);
  expectTold(person, fate);
  expectLog(reader.results);
}

async function playDeath(cluster: Cluster, person: ScriptedUser, dies: string): Promise<void> {
  // Some die at once from the state that they find, before any caller can reach them.
  const member = await cluster.start({ RUNNEL_FAILPOINT: dies }).catch((error: Error) => {
    expect(error.message).toContain("the service ended with SIGKILL");
  });
  if (member === undefined) {
    return;
  }
  const cut = await person.converse(member.client).then(
    () => undefined,
    (error: ServiceError) => error,
  );
  if (cut !== undefined) {
    expect(cut).toMatchObject({ code: status.UNAVAILABLE });
  }
  await until(`a process to die at ${dies}`, () => !isAlive(member), 60_000);
}

function expectWorkspace({ root }: Area, fate: Fate): void {
  expect(filesBelow(root)).toEqual({
    "notes.txt": "one\none\ntwo\ntwo\n",
    ...(hasJail && fate !== "not begun" && { "ran.txt": "ran\n" }),
  });
}

function expectedRun(fate: Fate): object {
  const command = "echo ran >> ran.txt";
  const type = "RUN_COMMAND";
  if (fate === "ran" && hasJail) {
    return { type, success: true, summary: `Ran '${command}' (exit code 0)`, output: "" };
  }
  const why = fate === "ran" ? "there is no jail to run commands in" : interrupted;
  return { type, success: false, summary: `Failed to run '${command}': ${why}`, output: "" };
}

function expectedFirst(fate: Fate): { type: string; success: boolean; summary: string; output: string }[] {
  const done = (type: string, summary: string) => ({ type, success: true, summary, output: "" });
  return [
    done("CREATE_FILE", "Created 'notes.txt'"),
    {
      ...done("EDIT_FILE", "Edited 'notes.txt' lines 1-1"),
      output: "note: the edit also added a final newline",
    },
    done("DELETE_FILE", "Deleted 'old.txt'"),
    expectedRun(fate) as ReturnType<typeof done>,
    done("READ_FILE", "Queued 'notes.txt' for next outbox"),
    done("MESSAGE", "half way"),
  ];
}

function expectTold(person: ScriptedUser, fate: Fate): void {
  const results = expectedFirst(fate);
  expect(person.told("answer 1")).toEqual({ results, sequence: 2, isComplete: false });
  expect(person.told("answer 2")).toEqual({
    results: [
      { type: "EDIT_FILE", success: true, summary: "Edited 'notes.txt' lines 3-3", output: "" },
      { type: "DONE", success: true, summary: "all done", output: "" },
    ],
    sequence: 2,
    isComplete: true,
  });
  const outbox = String(person.told("outbox 2"));
  expect(outbox).toContain(`Session: ${person.exchangeId}\nSequence: 2\nTask: ${task}\n`);
  expect(outbox.slice(outbox.indexOf("=== CONTEXT ==="))).toBe(`=== CONTEXT ===
## Workspace Files
  notes.txt (12 bytes)
${hasJail && fate !== "not begun" ? "  ran.txt (4 bytes)\n" : ""}
## Previous Command Results
${results.map(showResult).join("\n")}

## Requested File Contents
--- notes.txt ---
one
one
two
--- end notes.txt ---

=== PROMPT ===
Continue working on the task based on the results above. If the task is complete, send [DONE] with a summary.
`);
}

function showResult({ type, success, summary, output }: ReturnType<typeof expectedFirst>[number]): string {
  return `[${success ? "OK" : "FAILED"}] ${type}: ${summary}${output === "" ? "" : `\n  Output: ${output}`}`;
}

/** The log is exactly that of an exchange without failures. */
function expectLog(results: readonly RunResult[]): void {
  const call = (id: string) => [`toolCallStarted ${id}`, `toolCallCompleted ${id}`];
  expect(results.map(labelOf)).toEqual([
    "runWaiting",
    "turnStarted 1",
    ...["1.1", "1.2", "1.3", "1.4", "1.5"].flatMap(call),
    "messageCompleted",
    "runWaiting",
    "turnStarted 2",
    ...call("2.1"),
    "messageCompleted",
    "runCompleted",
  ]);
}

function labelOf({ payload }: RunResult): string {
  switch (payload.case) {
    case "turnStarted":
      return `turnStarted ${payload.value.turn}`;
    case "toolCallStarted":
    case "toolCallCompleted":
      return `${payload.case} ${payload.value.toolCallId}`;
    default:
      return payload.case ?? "nothing";
  }
}
