// Pieces of text that wait for each other: which wait, what ends the wait, and that none of them is lost or out of order.

import { expect, onTestFinished } from "vitest";
import { Broadcaster } from "../../src/engine/log/broadcaster.ts";
import { ResultLog } from "../../src/engine/log/log.ts";
import { mergeCharsMax } from "../../src/engine/log/merge.ts";
import { flowGapMaxMs } from "../../src/engine/log/run-queue.ts";
import type { RunWriter } from "../../src/engine/log/writer.ts";
import type { RunRow } from "../../src/engine/storage/run.ts";
import { insertResults } from "../../src/engine/storage/run-result.ts";
import { test as base } from "../fixtures.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";
import { addReplica, addRun, LocalWakeup, newChain, openStore, readLog, type Store, text, turn } from "./store.ts";

const waitMs = 15;

interface Stage {
  readonly store: Store;
  readonly clock: ManualClock;
  readonly broadcaster: Broadcaster;
  readonly log: ResultLog;
  /** Opens one more run, whose text flows: its first piece is in the log. */
  open(): Promise<Flowing>;
}

interface Flowing {
  readonly run: RunRow;
  readonly writer: RunWriter;
  /** Returns the log after the first piece. */
  read(): Promise<unknown[]>;
}

const test = base.extend("stage", ({ store }) => openStage(store));

async function openStage(store: Store, pieceWaitMs = waitMs): Promise<Stage> {
  const clock = createManualClock();
  const broadcaster = new Broadcaster();
  const log = new ResultLog({
    connections: store.connections,
    clock,
    broadcaster,
    wakeup: new LocalWakeup(),
    pieceWaitMs,
    onLeaseLost: () => {},
    onError: () => {},
  });
  onTestFinished(() => log.close());
  const owner = await addReplica(store.db);
  const open = async (): Promise<Flowing> => {
    const run = await addRun(store.db, { owner });
    const writer = log.open({
      runId: run.id,
      epoch: run.epoch,
      replicaId: owner,
      chain: newChain(run.id),
      onLost: () => {},
    });
    const read = async (): Promise<unknown[]> => (await readLog(store.db, run.id)).map(([, result]) => result).slice(1);
    await writer.append(text("first "));
    await until("the first piece", async () => (await readLog(store.db, run.id)).length === 1);
    return { run, writer, read };
  };
  return { store, clock, broadcaster, log, open };
}

/** Appends words 5 ms apart. */
function say({ writer }: Flowing, clock: ManualClock, words: readonly string[]): void {
  for (const word of words) {
    clock.advance(5);
    expect(writer.tryAppend(text(word))).toBe(true);
  }
}

test("the first piece of a text is written at once, and later ones share a row when the time is over", async ({
  stage,
}) => {
  const { clock, open } = stage;
  const flowing = await open();
  say(flowing, clock, ["a", "b", "c"]);
  expect(await flowing.read()).toEqual([]);
  clock.advance(5);
  expect(await until("the shared row", async () => (await flowing.read())[0])).toBe("abc");
});

test("a piece that comes after a pause is written at once, so slow text never waits", async ({ stage }) => {
  const { clock, open } = stage;
  const flowing = await open();
  for (const word of ["a", "b", "c"]) {
    clock.advance(flowGapMaxMs + 1);
    await flowing.writer.append(text(word));
    await until(word, async () => (await flowing.read()).at(-1) === word);
  }
  expect(clock.delaysMs).not.toContain(waitMs);
});

test("no piece waits when the time is 0", async ({ store }) => {
  const { clock, open } = await openStage(store, 0);
  const flowing = await open();
  say(flowing, clock, ["a"]);
  await until("the piece", async () => (await flowing.read()).length === 1);
});

test("one timer serves the pieces of all runs, and it rests while none waits", async ({ stage }) => {
  const { clock, open } = stage;
  const all = [await open(), await open(), await open()];
  const timers = (): number => clock.delaysMs.filter((delayMs) => delayMs === waitMs).length;
  expect(timers()).toBe(0);
  for (const flowing of all) {
    flowing.writer.tryAppend(text("a"));
    flowing.writer.tryAppend(text("b"));
  }
  expect(timers()).toBe(1);
  clock.advance(waitMs);
  for (const { read } of all) {
    expect(await until("a row", async () => (await read())[0])).toBe("ab");
  }
  expect(timers()).toBe(1);
});

test.each<[string, (stage: Stage, flowing: Flowing) => unknown, unknown[]]>([
  ["a result of another kind", (_, { writer }) => writer.append(turn(2)), ["a", 2]],
  ["a full row", (_, { writer }) => writer.append(text("x".repeat(mergeCharsMax))), ["a", "x".repeat(mergeCharsMax)]],
  ["a flush", (_, { writer }) => writer.flush(), ["a"]],
  ["a transaction", (_, { writer }) => writer.transact(async () => {}), ["a"]],
  ["a reader that begins", ({ broadcaster }, { run }) => broadcaster.subscribe(run.id), ["a"]],
])("%s ends the wait", async (_, release, written) => {
  const stage = await openStage(await openStore());
  const flowing = await stage.open();
  say(flowing, stage.clock, ["a"]);
  await release(stage, flowing);
  await until("the rows", async () => (await flowing.read()).length === written.length);
  expect(await flowing.read()).toEqual(written);
});

test("a commit writes the text that waits before its own results, in the same transaction", async ({ stage }) => {
  const { clock, open } = stage;
  const flowing = await open();
  say(flowing, clock, ["a", "b"]);
  let told: readonly number[] = [];
  await flowing.writer.commit([turn(2), turn(3)], async (_, { sequences, chain }) => {
    told = sequences;
    expect(chain.count).toBe(4);
    expect(await flowing.read()).toEqual([]);
  });
  expect(told).toEqual([3, 4]);
  expect(await flowing.read()).toEqual(["ab", 2, 3]);
  await flowing.writer.append(turn(4));
  await flowing.writer.flush();
  expect(await flowing.read()).toEqual(["ab", 2, 3, 4]);
});

test("text is kept when the commit that carries it fails", async ({ stage }) => {
  const { clock, open } = stage;
  const flowing = await open();
  say(flowing, clock, ["a", "b"]);
  const failing = flowing.writer.commit([turn(2)], async () => {
    throw new TypeError("a defect");
  });
  await expect(failing).rejects.toThrow("a defect");
  await flowing.writer.flush();
  expect(await flowing.read()).toEqual(["ab"]);
});

test("the last statement writes the text that waits, and leaves it for the next way when it writes nothing", async ({
  stage,
}) => {
  const { store, clock, open } = stage;
  const [taken, refused] = [await open(), await open()];
  const last = async (flowing: Flowing, isTaken: boolean): Promise<readonly unknown[] | undefined> => {
    say(flowing, clock, ["a", "b"]);
    return await flowing.writer.tryLast([turn(2)], async (rows) => {
      if (isTaken) {
        await store.db.transaction().execute((trx) => insertResults(trx, rows));
      }
      return isTaken;
    });
  };
  expect(await last(taken, true)).toHaveLength(2);
  expect(await taken.read()).toEqual(["ab", 2]);
  expect(await last(refused, false)).toBeUndefined();
  await refused.writer.transact(async () => {});
  expect(await refused.read()).toEqual(["ab"]);
});

test("a lost run writes nothing of what waited", async ({ stage }) => {
  const { clock, log, open } = stage;
  const [lost, other] = [await open(), await open()];
  say(lost, clock, ["a"]);
  lost.writer.abandon();
  say(other, clock, ["b"]);
  clock.advance(waitMs);
  await until("the other run", async () => (await other.read()).length === 1);
  expect(await lost.read()).toEqual([]);
  await log.close();
  expect(lost.writer.tryAppend(text("c"))).toBe(false);
});
