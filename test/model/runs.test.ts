// Runs against a model: started, cancelled, parked, woken, timed out, and cut off from their replicas in any order. No run is
// lost, each ends once and for a reason that occurred, and its log has all acknowledged results.

import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeResult } from "../../src/engine/log/result.ts";
import { findRun, isActive } from "../../src/engine/storage/run.ts";
import { readResults } from "../../src/engine/storage/run-result.ts";
import { findViolations } from "../fault/invariants.ts";
import { inTime } from "../harness/examples.ts";
import { until } from "../harness/wait.ts";
import { addSession } from "../runlog/store.ts";
import {
  commands,
  expectReaderToHold,
  give,
  type ModelRun,
  type RunModel,
  restartAll,
  send,
  wake,
} from "./run-commands.ts";
import { openRunWorld, type RunWorld } from "./run-world.ts";

const sessionCount = 3;
/** A run that has lost its replica this often fails, since it is taken for the cause. */
const takeoversMax = 3;
/** After this time no new sequence of commands starts, and a failed one is shrunk no further. */
const enoughMs = 60_000;
/** A single sequence that waits in vain is over by then. */
const busyMs = 180_000;

test("each run ends once and for a reason that occurred, after any failures of its replicas", {
  timeout: busyMs,
}, async () => {
  const world = await openRunWorld();
  await fc.assert(
    fc.asyncProperty(
      fc.commands([...commands], { maxCommands: 25, size: "max" }),
      inTime(enoughMs, async (story) => {
        const sessions = await Promise.all(Array.from({ length: sessionCount }, () => addSession(world.store.db)));
        const model: RunModel = { sessions, runs: [], readers: [], words: 0 };
        try {
          await sendFirst(model, world);
          await fc.asyncModelRun(() => ({ model, real: world }), story);
          await finish(model, world);
        } finally {
          await restartAll(world);
          await Promise.all(model.readers.map(({ reader }) => reader.leave()));
        }
      }),
    ),
    { numRuns: 80 },
  );
});

/** Starts runs, so that each sequence has work from the beginning. */
async function sendFirst(model: RunModel, world: RunWorld): Promise<void> {
  for (const [index, worker] of world.workers.entries()) {
    await send(model, world, worker, model.sessions[index] ?? expect.unreachable(), "steady");
  }
}

/** With all failures repaired every run ends by itself or by the order to complete. */
async function finish(model: RunModel, world: RunWorld): Promise<void> {
  await restartAll(world);
  for (const run of model.runs) {
    await until(`run ${run.id} to end`, () => bringToEnd(model, world, run));
    await expectReason(world, run);
  }
  if (model.runs.length > 0) {
    expect(await findViolations(world.store.url)).toEqual([]);
  }
  for (const { run, reader } of model.readers) {
    await until("a reader to come to the end", () => {
      reader.pull();
      return reader.isOver;
    });
    await expectReaderToHold(reader, world);
    const last = (await findRun(world.store.db, run.id))?.last_sequence ?? expect.unreachable();
    expect(reader.cursor).toBe(Math.max(last, reader.after));
    expect(reader.error).toEqual(
      reader.after > last ? expect.objectContaining({ reason: "OFFSET_BEYOND_END" }) : undefined,
    );
  }
}

/** A run with a cancel request ends by itself. */
async function bringToEnd(model: RunModel, world: RunWorld, run: ModelRun): Promise<boolean> {
  const row = await findRun(world.store.db, run.id);
  expect(row).toBeDefined();
  if (row === undefined || !isActive(row.status)) {
    return true;
  }
  if (row.cancel_request_time === null) {
    await wake(world, run);
    // It can still write after any change of owners.
    await give(model, world, run, "say");
    await give(model, world, run, "commit");
    await give(model, world, run, "complete");
  }
  return false;
}

async function expectReason(world: RunWorld, { id, driver, reasons, acknowledged }: ModelRun): Promise<void> {
  const { db } = world.store;
  const row = await findRun(db, id);
  const crashed = reasons.has("crash") && (driver === "fragile" || (row?.takeovers ?? 0) >= takeoversMax);
  const possible = {
    completed: reasons.has("complete"),
    cancelled: reasons.has("cancel"),
    failed: crashed || reasons.has("fail") || reasons.has("throw") || reasons.has("deadline"),
  };
  expect(possible, `${row?.status} for ${[...reasons].join(", ")}`).toMatchObject({ [row?.status ?? "lost"]: true });
  expect(driver === "fragile" && row?.takeovers !== 0, "what cannot go on elsewhere does not").toBe(false);
  const words = (await readResults(db, { runId: id, after: 0, limit: 1_000 })).flatMap(wordsIn);
  // Each word was ordered after the previous one had been written or given up.
  expect(words).toEqual(words.toSorted((a, b) => a - b));
  expect(new Set(words).size).toBe(words.length);
  expect(words).toEqual(expect.arrayContaining([...acknowledged]));
}

function wordsIn({ payload }: { readonly payload: Uint8Array }): number[] {
  const result = decodeResult(payload).payload;
  switch (result.case) {
    case "turnStarted":
      return [result.value.turn];
    case "messageDelta":
      return (result.value.chunk?.content ?? "").split(",").filter(Boolean).map(Number);
    default:
      return [];
  }
}
