// The log and its readers against a model: writers write, connections break, leases end, runs move and notifications get lost.
// Every reader gets the log after its position, in order and byte by byte. Acknowledged results stay. Nothing follows a
// terminal result, and no result of an old owner follows one of the new owner.

import fc from "fast-check";
import { expect, test } from "vitest";
import { inTime } from "../harness/examples.ts";
import { addReplica, addRun, newChain } from "../runlog/store.ts";
import type { LogModel, ModelRun } from "./log-model.ts";
import { expectLogsToHold, readRows } from "./log-model.ts";
import { hasReadAll, mendAll, reading, readSome } from "./log-reading.ts";
import { type LogWorld, openLogWorld } from "./log-world.ts";
import { endByOwner, openPen, takeOver, writing } from "./log-writing.ts";

const runCount = 2;
/** After this time no new sequence of commands starts, and a failed one is shrunk no further. */
const enoughMs = 60_000;
/** A single sequence that waits in vain is over by then. */
const busyMs = 180_000;

test("all readers of a log get the same entries after any failures of writers and readers", {
  timeout: busyMs,
}, async () => {
  const world = await openLogWorld();
  await fc.assert(
    fc.asyncProperty(
      fc.commands([...writing, ...reading], { maxCommands: 40, size: "max" }),
      inTime(enoughMs, async (commands) => {
        const model = await openModel(world);
        try {
          await fc.asyncModelRun(() => ({ model, real: world }), commands);
          await finish(model, world);
        } finally {
          // The next sequence must not inherit any broken state.
          mendAll(model, world);
          await Promise.all(model.readers.map(({ reader }) => reader.leave()));
        }
      }),
    ),
    { numRuns: 150 },
  );
});

async function openModel(world: LogWorld): Promise<LogModel> {
  const runs: ModelRun[] = [];
  for (let index = 0; index < runCount; index++) {
    const site = world.sites[index % world.sites.length] ?? expect.unreachable();
    site.replicaId = await addReplica(world.store.db);
    const { id, epoch } = await addRun(world.store.db, { owner: site.replicaId });
    const pen = openPen(id, epoch, site, newChain(id));
    runs.push({ id, pen, oldPens: [], certain: "", pending: "", turn: 0, isEnded: false, isUntold: false });
  }
  return { runs, readers: [], words: 0 };
}

/** With all failures repaired every run ends, and every reader reaches the end of its run. */
async function finish(model: LogModel, world: LogWorld): Promise<void> {
  mendAll(model, world);
  for (const run of model.runs.filter(({ isEnded }) => !isEnded)) {
    if (run.pen.isDoomed) {
      await takeOver(run, world, run.pen.site);
    }
    await endByOwner(run, world);
  }
  for (const each of model.readers) {
    while (!hasReadAll(each)) {
      await readSome(each, world);
    }
    const { length } = await readRows(world, each.run.id);
    expect(each.reader.cursor).toBe(Math.max(length, each.reader.after));
  }
  await expectLogsToHold(model, world);
  for (const { broadcaster } of world.sites) {
    expect(broadcaster.readerCount).toBe(0);
  }
}
