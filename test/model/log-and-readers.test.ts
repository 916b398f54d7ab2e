// The log and its readers against a model: whatever is written, by whoever it is, whichever wire is cut, lease ends, run
// goes elsewhere or news get lost, every reader has the log from its place on, in order and byte by byte; what was
// acknowledged stays; nothing follows a terminal, and nothing of an old owner follows a word of the new one.

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
/** After this no more stories are told, and one that failed is told as short as it is by then. */
const enoughMs = 60_000;
/** One story that waits in vain is over by then. */
const busyMs = 180_000;

test("whatever happens to who writes and who reads, a log reads the same to everybody", {
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
          // What one story leaves behind is not to be the next one's.
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

/** When all is well again every run comes to its end, and every reader to the end of its run. */
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
  for (const { hub } of world.sites) {
    expect(hub.watcherCount).toBe(0);
  }
}
