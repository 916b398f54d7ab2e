// `runnel demo doors`: one run, read over every protocol at once while its service is killed with -9. Exits 0 only if every reader has
// the same text at the end.

import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { systemClock } from "../platform/base/clock.ts";
import { CommandError } from "./command-error.ts";
import { waitUntilReady } from "./demo-reader.ts";
import { type DemoPlace, playScene, type Reading, readOverKill } from "./demo-stage.ts";
import { type Door, doors, openAnthropic } from "./doors.ts";
import { example } from "./example.ts";
import type { Output } from "./output.ts";
import { showTable } from "./table.ts";

/** How many pieces each reader has when the service is killed. */
const killAfterPieces = 5;
const message = "Tell me about yourself. words=150 pace=15";
const patienceMs = 60_000;

/** Defines `demo doors`. */
export function defineDoors(demo: Command): void {
  demo
    .command("doors")
    .description("see one run read over every protocol at once, through kill -9")
    .addHelpText("after", example("runnel demo doors"))
    .action((_, command: Command) => playScene(command, { keep: undefined, play: runDoors, conclude }));
}

/** What one reader has at the end. */
interface Row {
  readonly door: string;
  readonly piecesBefore: number;
  readonly piecesAfter: number;
  readonly text: string;
}

interface DoorsOutcome {
  readonly runId: string;
  readonly rows: readonly Row[];
}

async function runDoors(place: DemoPlace): Promise<DoorsOutcome> {
  return await readOverKill(place, (url) => openAll(url, place));
}

/** Starts the run over Anthropic's API, which follows only what it has started, and opens every other door on it. */
async function openAll(url: string, { say }: DemoPlace): Promise<Reading<DoorsOutcome>> {
  const session = randomUUID();
  const { door, begun } = openAnthropic({ url, session, message });
  const first = new Reader(door);
  const firstRow = first.follow(url);
  const runId = await Promise.race([begun, firstRow.then(() => begun)]);
  say(`run     ${runId}, begun over ${door.name}\n`);
  const readers = doors.map((open) => new Reader(open({ url, session, runId })));
  const all = [firstRow, ...readers.map((reader) => reader.follow(url))];
  return {
    half: Promise.all([first, ...readers].map(({ half }) => half)).then(() => {
      for (const reader of [first, ...readers]) {
        reader.isAfterKill = true;
      }
    }),
    whole: Promise.all(all).then((rows) => ({ runId, rows })),
  };
}

/** Follows a run through one door. */
class Reader {
  readonly #door: Door;
  readonly #half = Promise.withResolvers<void>();
  readonly half: Promise<void> = this.#half.promise;
  isAfterKill = false;
  #before = 0;
  #after = 0;

  constructor(door: Door) {
    this.#door = door;
  }

  /** Reads to the end, and connects again after each break. Throws when the service stays away. */
  async follow(url: string): Promise<Row> {
    const startedMs = systemClock.monotonicMs();
    for (;;) {
      try {
        const text = await this.#read();
        return { door: this.#door.name, piecesBefore: this.#before, piecesAfter: this.#after, text };
      } catch (error) {
        if (systemClock.monotonicMs() - startedMs > patienceMs) {
          throw error;
        }
        await waitUntilReady(url);
      }
    }
  }

  async #read(): Promise<string> {
    let text: string | undefined;
    for await (text of this.#door.connect()) {
      this.isAfterKill ? this.#after++ : this.#before++;
      if (this.#before >= killAfterPieces) {
        this.#half.resolve();
      }
    }
    if (text === undefined) {
      throw new Error(`${this.#door.name}: the stream was empty`);
    }
    return text;
  }
}

/** Prints the outcome. Throws PROMISE_BROKEN when a text differs. */
async function conclude({ runId, rows }: DoorsOutcome, output: Output): Promise<void> {
  const [{ text = "" } = {}] = rows;
  const isSame = (row: Row): boolean => row.text === text;
  const told = rows.map(({ text: _, ...row }, index) => ({ ...row, sameText: rows[index]?.text === text }));
  await output.answer({ runId, text, doors: told }, (paint) => {
    const head = ["door", "pieces before the kill", "pieces after it", "same text"];
    const cells = rows.map((row) => [row.door, `${row.piecesBefore}`, `${row.piecesAfter}`, isSame(row) ? "✓" : "✗"]);
    const table = showTable(head, cells, paint);
    const verdict = `✓ All ${rows.length} readers end with the same text of ${text.length} characters.`;
    return rows.every(isSame) ? `${table}\n\n${paint(["green", "bold"], verdict)}` : table;
  });
  const others = rows.filter((row) => !isSame(row));
  if (others.length > 0) {
    const names = others.map(({ door }) => door).join(", ");
    throw new CommandError(`the readers did not end with the same text: ${names}`, { reason: "PROMISE_BROKEN" });
  }
}
