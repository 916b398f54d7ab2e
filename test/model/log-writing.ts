// Commands of writers: under a valid lease, under an expired lease, and after another replica has taken the run.

import fc from "fast-check";
import { expect } from "vitest";
import type { LogChain } from "../../src/engine/hash-chain/chain.ts";
import type { ResultInit } from "../../src/engine/log/result.ts";
import { readStoredChain } from "../../src/engine/log/stored-chain.ts";
import { endRun } from "../../src/engine/runs/terminal.ts";
import { takeExpiredReplica } from "../../src/engine/storage/replica.ts";
import { findRun, lockRun, requeueRun, setTurn } from "../../src/engine/storage/run.ts";
import { claimRuns } from "../../src/engine/storage/run-claim.ts";
import { createFindDue } from "../../src/engine/storage/run-due.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { isUniqueViolation } from "../../src/platform/database/errors.ts";
import { until } from "../harness/wait.ts";
import { addReplica, completedWith, endLease, text, turn } from "../runlog/store.ts";
import { command, type LogCommand, pick } from "./log-command.ts";
import { type LogModel, type ModelRun, type Pen, readRows, tellOf, wordOf } from "./log-model.ts";
import type { LogWorld, Site } from "./log-world.ts";

const index = fc.nat({ max: 5 });
const kinds = fc.array(fc.boolean(), { minLength: 1, maxLength: 5 });

/** Runs whose owner can write now. */
function writable({ runs }: LogModel): ModelRun[] {
  return runs.filter(({ isEnded, pen }) => !isEnded && !pen.isDoomed && !pen.site.isBroken);
}

function orphaned({ runs }: LogModel): ModelRun[] {
  return runs.filter(({ isEnded, pen }) => !isEnded && pen.isDoomed);
}

export const writing: readonly fc.Arbitrary<LogCommand>[] = [
  command("append", fc.record({ index, kinds }), {
    isPossible: (model) => model.runs.some(({ isEnded }) => !isEnded),
    run: async (model, _, choice) => {
      const run = pick(
        model.runs.filter(({ isEnded }) => !isEnded),
        choice.index,
      );
      await appendAll(model, run, run.pen, choice.kinds);
    },
  }),
  command("append by who had the run before", fc.record({ index, kinds }), {
    isPossible: (model) => model.runs.some(({ oldPens }) => oldPens.length > 0),
    run: async (model, _, choice) => {
      const run = pick(
        model.runs.filter(({ oldPens }) => oldPens.length > 0),
        choice.index,
      );
      await appendAll(model, run, pick(run.oldPens, choice.index), choice.kinds);
    },
  }),
  command("flush", index, {
    isPossible: (model) => writable(model).length > 0,
    run: async (model, _, choice) => await flush(pick(writable(model), choice)),
  }),
  command("commit", fc.record({ index, count: fc.integer({ min: 1, max: 3 }) }), {
    isPossible: (model) => writable(model).length > 0,
    run: async (model, _, choice) => await commit(model, pick(writable(model), choice.index), choice.count),
  }),
  command("commit under a lease that has ended", index, {
    isPossible: (model) => orphaned(model).some(({ pen }) => !pen.site.isBroken),
    run: async (model, _, choice) => {
      const { pen } = pick(
        orphaned(model).filter((run) => !run.pen.site.isBroken),
        choice,
      );
      await expect(pen.writer.commit([turn(++model.words)], async () => {})).rejects.toThrow();
    },
  }),
  command("end", index, {
    isPossible: (model) => writable(model).length > 0,
    run: async (model, world, choice) => await endByOwner(pick(writable(model), choice), world),
  }),
  command("end by somebody else", fc.record({ index, site: index }), {
    isPossible: () => true,
    run: async (model, world, choice) =>
      await endByOther(pick(model.runs, choice.index), world, pick(world.sites, choice.site)),
  }),
  command("lose the lease", index, {
    isPossible: () => true,
    run: async (model, world, choice) => await loseLease(model, world, pick(world.sites, choice)),
  }),
  command("take over", fc.record({ index, site: index }), {
    isPossible: (model) => orphaned(model).length > 0,
    run: async (model, world, choice) =>
      await takeOver(pick(orphaned(model), choice.index), world, pick(world.sites, choice.site)),
  }),
  command("hand on", fc.record({ index, site: index }), {
    isPossible: (model) => writable(model).length > 0,
    run: async (model, world, choice) =>
      await handOn(pick(writable(model), choice.index), world, pick(world.sites, choice.site)),
  }),
];

/** Results of a doomed pen must not be written. The pen may already know that it is doomed. */
async function appendAll(model: LogModel, run: ModelRun, pen: Pen, isText: readonly boolean[]): Promise<void> {
  for (const each of isText) {
    const result: ResultInit = each ? text(`${++model.words},`) : turn(++model.words);
    if (pen.isDoomed) {
      try {
        await pen.writer.append(result);
      } catch {
        // The pen knows that it has lost its run.
      }
    } else {
      run.pending += wordOf(result);
      await pen.writer.append(result);
    }
  }
}

async function flush(run: ModelRun): Promise<void> {
  await run.pen.writer.flush();
  run.certain += run.pending;
  run.pending = "";
}

async function commit(model: LogModel, run: ModelRun, count: number): Promise<void> {
  const results = Array.from({ length: count }, () => turn(++model.words));
  const turnAfter = model.words;
  await run.pen.writer.commit(results, (trx) => setTurn(trx, { id: run.id, turn: turnAfter }));
  run.certain += run.pending + results.map(wordOf).join("");
  run.pending = "";
  run.turn = turnAfter;
}

const completed = completedWith("", 0);

/** When the response to the commit was cut off, the writer gets only RUN_LOST. */
export async function endByOwner(run: ModelRun, world: LogWorld): Promise<void> {
  const { writer, site } = run.pen;
  try {
    const entries = await writer.transact((trx, row) => endRun(trx, { run: row, end: completed, clock: world.clock }));
    site.log.announce(run.id, entries);
  } catch (error) {
    expect(error).toMatchObject({ reason: "RUN_LOST" });
    expect((await findRun(world.store.db, run.id))?.status).toBe("completed");
    run.isUntold = true;
  }
  run.certain += `${run.pending}!`;
  run.pending = "";
  doom(run);
  run.isEnded = true;
}

/** Ends the run as cancel and the reaper do: under the row lock, retried when the owner took the sequence first. */
async function endByOther(run: ModelRun, world: LogWorld, site: Site): Promise<void> {
  const { db } = world.store;
  const entries = await until("the end to be written", async () => {
    try {
      return await db.transaction().execute(async (trx) => {
        const row = await lockRun(trx, run.id);
        return row !== undefined && (await endRun(trx, { run: row, end: completed, clock: systemClock }));
      });
    } catch (error) {
      if (isUniqueViolation(error)) {
        return undefined;
      }
      throw error;
    }
  });
  if (run.isEnded) {
    expect(entries).toEqual([]);
    return;
  }
  site.log.announce(run.id, entries);
  const told = tellOf(await readRows(world, run.id));
  expect(`${run.certain}${run.pending}`.startsWith(told.slice(0, -1))).toBe(true);
  expect(told.startsWith(run.certain)).toBe(true);
  doom(run);
  run.certain = told;
  run.pending = "";
  run.isEnded = true;
}

function doom(run: ModelRun): void {
  run.isUntold ||= run.pending !== "";
  run.pen.isDoomed = true;
}

async function loseLease(model: LogModel, { store }: LogWorld, site: Site): Promise<void> {
  await endLease(store.db, site.replicaId);
  for (const run of model.runs.filter(({ isEnded, pen }) => !isEnded && pen.site === site && !pen.isDoomed)) {
    doom(run);
  }
  site.replicaId = await addReplica(store.db);
}

/** Takes the run over as the reaper does: it takes the lease first, which waits for writes under way. */
export async function takeOver(run: ModelRun, world: LogWorld, site: Site): Promise<void> {
  const { db } = world.store;
  const owner = (await findRun(db, run.id))?.owner ?? "";
  await until("the lease to be taken", async () => {
    const { serverStart } = await createFindDue(db, { marginMs: 0 })();
    await db.transaction().execute((trx) => takeExpiredReplica(trx, serverStart));
    return (await db.selectFrom("replica").select("id").where("id", "=", owner).execute()).length === 0;
  });
  await db.transaction().execute((trx) => requeueRun(trx, { id: run.id, takeover: true }));
  // The old owner does not know that it has lost the run. After a hand-on the old owner knows, and writes no more.
  run.oldPens.push(run.pen);
  await claim(run, world, site);
}

async function handOn(run: ModelRun, world: LogWorld, site: Site): Promise<void> {
  await flush(run);
  try {
    await run.pen.writer.transact((trx) => requeueRun(trx, { id: run.id, takeover: false }));
  } catch (error) {
    expect(error).toMatchObject({ reason: "RUN_LOST" });
    expect((await findRun(world.store.db, run.id))?.status).toBe("queued");
  }
  await claim(run, world, site);
}

async function claim(run: ModelRun, world: LogWorld, site: Site): Promise<void> {
  const { db } = world.store;
  // A claim leaves a run out while a write of its old owner holds the row.
  const claimed = await until("the run to be claimed", async () =>
    (await claimRuns(db, { owner: site.replicaId, limit: 10 })).find(({ id }) => id === run.id),
  );
  const told = tellOf(await readRows(world, run.id));
  expect(told.startsWith(run.certain) && `${run.certain}${run.pending}`.startsWith(told)).toBe(true);
  run.certain = told;
  run.pending = "";
  run.pen.isDoomed = true;
  run.pen = openPen(run.id, claimed.epoch, site, await readStoredChain(db, run.id));
}

export function openPen(runId: string, epoch: number, site: Site, chain: LogChain): Pen {
  const { replicaId, log } = site;
  const writer = log.open({ runId, epoch, replicaId, chain, onLost: () => {} });
  return { writer, site, isDoomed: false };
}
