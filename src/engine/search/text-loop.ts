// Writes the texts of runs for search, beside the runs: no statement of a run waits for it or writes more.
//
// X1  A run gets its text soon after its start, and again after its end. One that a pass cannot write is written by the next.
// X2  A pass looks at the runs since the pass before. Every half minute, and before a rest, it looks at all runs after the cursor. The
//     cursor passes a run when it is older than any transaction may last: a run that commits late is seen.
// X3  One replica at a time makes a pass. A pass that stops anywhere loses nothing.
// X4  While no run begins or writes, the loop rests, so that an idle service does no work for search.

import { fromBinary } from "@bufbuild/protobuf";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import type { Clock } from "../../platform/base/clock.ts";
import { lowestUuid } from "../../platform/base/ids.ts";
import { Loop } from "../../platform/base/loop.ts";
import { type Db, storableText } from "../../platform/database/database.ts";
import { withMaintenanceLock } from "../../platform/database/maintenance-lock.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { decodeResult } from "../log/result.ts";
import type { Wakeup } from "../log/wakeup.ts";
import { completedText, messageText } from "../sessions/message-text.ts";
import {
  listEndedRuns,
  listMessagesOfRuns,
  listNewRuns,
  moveTextCursor,
  type UnreadRun,
  writeRunTexts,
} from "../storage/run-text.ts";
import { wordsOfText } from "./words.ts";

const everyMs = 2_000;
/** How long the loop rests at most: a wake-up may be lost. */
const restMs = 60_000;
/** More than a statement may take, and than clocks of replicas differ. */
const settledMs = 60_000;
/** How often a pass looks at all runs after the cursor. With each pass, the looks would cost more than the texts. */
const wholeEveryMs = 30_000;
/** How much a pass looks at again: most runs that commit late are among them. */
const againMs = 5_000;
/** Their inputs are in memory together. */
const runsPerBatch = 50;
/** The maximum number of batches of a pass, so that another replica gets its turn. */
const batchesMax = 1_000;
/** Most runs add few messages; those of a longer one are its newest. */
const messagesMax = 300;
/** The contract says so. A vector of words has at most 1 MiB. */
const textCharsMax = 65_536;

export interface TextLoopDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Pick<Events, "databaseTroubled">;
  readonly wakeup: Pick<Wakeup, "subscribe" | "onGap">;
}

/** Writes texts while runs begin and write. */
export class TextLoop {
  readonly #deps: TextLoopDeps;
  readonly #loop: Loop;
  readonly #unsubscribe: (() => void)[] = [];
  /** When the last pass began that looked at all runs that it had to; undefined before it. */
  #seenToMs: number | undefined;
  /** When a pass last looked at all runs after the cursor, by the monotonic clock. */
  #wholeAtMs = 0;
  /** Whether a run has begun or written since the start of the last pass. */
  #hasNews = true;
  #isResting = false;

  constructor(deps: TextLoopDeps) {
    this.#deps = deps;
    this.#loop = new Loop({
      clock: deps.clock,
      everyMs,
      pass: () => this.#pass(),
      onError: (error) => deps.events.databaseTroubled({ part: "texts", error }),
    });
  }

  open(): void {
    for (const topic of ["session", "result"] as const) {
      this.#unsubscribe.push(this.#deps.wakeup.subscribe(topic, () => this.#hear()));
    }
    this.#unsubscribe.push(this.#deps.wakeup.onGap(() => this.#hear()));
    this.#loop.open();
  }

  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) {
      unsubscribe();
    }
    await this.#loop.close();
  }

  #hear(): void {
    this.#hasNews = true;
    if (this.#isResting) {
      this.#isResting = false;
      this.#loop.wake();
    }
  }

  async #pass(): Promise<number> {
    const hadNews = this.#hasNews;
    this.#hasNews = false;
    this.#isResting = false;
    await withMaintenanceLock(this.#deps.db, (db) => this.#write(db, hadNews), "texts");
    // The last news may be of a transaction that was not visible to this pass.
    this.#isResting = !hadNews && !this.#hasNews;
    return this.#isResting ? restMs : everyMs;
  }

  /** Writes the texts of runs that have ended since, and those of new runs. */
  async #write(db: Db, hadNews: boolean): Promise<void> {
    const { clock } = this.#deps;
    const nowMs = clock.nowMs();
    const seenToMs = clock.monotonicMs() - this.#wholeAtMs < wholeEveryMs && hadNews ? this.#seenToMs : undefined;
    await writeEnded(db, this.#loop.closing);
    const after = seenToMs === undefined ? undefined : lowestUuid(seenToMs - againMs);
    const { last, isComplete } = await writeNew(db, after, this.#loop.closing);
    this.#seenToMs = isComplete ? nowMs : undefined;
    if (seenToMs !== undefined) {
      return;
    }
    this.#wholeAtMs = clock.monotonicMs();
    if (last !== undefined) {
      const settled = lowestUuid(nowMs - settledMs);
      await moveTextCursor(db, last < settled ? last : settled);
    }
  }
}

async function writeEnded(db: Db, stop: AbortSignal): Promise<void> {
  for (let batch = 0, isFull = true; isFull && batch < batchesMax && !stop.aborted; batch++) {
    const ended = await listEndedRuns(db, runsPerBatch);
    const written = await write(db, ended);
    isFull = ended.length === runsPerBatch && written > 0;
  }
}

/** Looks at the runs after this one and the cursor. */
async function writeNew(
  db: Db,
  after: string | undefined,
  stop: AbortSignal,
): Promise<{ readonly last: string | undefined; readonly isComplete: boolean }> {
  let last: string | undefined;
  let isFull = true;
  for (let batch = 0; isFull && batch < batchesMax && !stop.aborted; batch++) {
    const found = await listNewRuns(db, { after: last ?? after, limit: runsPerBatch });
    await write(db, found.unread);
    last = found.last ?? last;
    isFull = found.isFull;
  }
  return { last, isComplete: !isFull };
}

/** Writes the texts, those first that no transaction holds. Returns how many. */
async function write(db: Db, runs: readonly UnreadRun[]): Promise<number> {
  if (runs.length === 0) {
    return 0;
  }
  const messages = await listMessagesOfRuns(db, runs, messagesMax);
  const texts = runs.map((run) => {
    const text = textOf(run, messages.get(run.id) ?? []);
    return { id: run.id, text, words: wordsOfText(text), isFinal: run.has_ended };
  });
  const written = new Set(texts.length > 1 ? await writeRunTexts(db, texts) : []);
  for (const text of texts.filter(({ id }) => !written.has(id))) {
    for (const id of await writeRunTexts(db, [text])) {
      written.add(id);
    }
  }
  return written.size;
}

/** Returns what a run was asked, said and failed with, a part a paragraph. */
function textOf({ input, terminal, failure }: UnreadRun, stored: readonly Uint8Array[]): string {
  const said = (stored.length === 0 ? [input] : stored).map((message) => orEmpty(() => messageOf(message)));
  const output = terminal === null ? "" : orEmpty(() => outputOf(terminal));
  const parts = [...said, said.includes(output) ? "" : output, failure ?? ""];
  const text = parts.filter((part) => part !== "").join("\n\n");
  return storableText(text.slice(0, textCharsMax));
}

function messageOf(bytes: Uint8Array): string {
  return messageText(fromBinary(MessageSchema, bytes));
}

function outputOf(terminal: Uint8Array): string {
  const { payload } = decodeResult(terminal);
  return payload.case === "runCompleted"
    ? completedText(payload.value)
    : payload.case === "runFailed"
      ? payload.value.output
      : "";
}

/** Bytes that cannot be read keep no other run from its text. */
function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
