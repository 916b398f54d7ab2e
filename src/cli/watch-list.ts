// `--watch` of lists: reads the list again each second and prints what has changed. A terminal shows the list as it is now; elsewhere
// each item that is new or other than before is printed. The streams of the contract have neither sessions nor all filters of lists.

import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { systemClock } from "../platform/base/clock.ts";
import { answerJson } from "./answer-json.ts";
import { exitCodes } from "./exit-codes.ts";
import { callPatiently } from "./follow.ts";
import { type ListView, printEach, showList } from "./list-view.ts";
import type { Output } from "./output.ts";
import { markOwn } from "./terminal.ts";

/** The flag of lists that can be watched. */
export interface WatchFlag {
  readonly watch?: true;
}

const everyMs = 1_000;

/** Adds the flag `--watch`. */
export function addWatchFlag(command: Command): Command {
  return command.option("--watch", "go on with what changes, until Ctrl-C");
}

/** Watches a list until Ctrl-C, which is its regular end. Throws when the service is away from the start, or for a minute. */
export async function watchList<Desc extends DescMessage>(
  output: Output,
  view: ListView<Desc>,
  read: () => Promise<readonly MessageShape<Desc>[]>,
): Promise<never> {
  process.once("SIGINT", () => process.exit(exitCodes.done));
  const show = chooseView(output, view);
  const { signal } = new AbortController();
  const known = new Map<string, string>();
  for (let items = await read(); ; items = await callPatiently(read, signal)) {
    const now = new Map(items.map((item) => [view.id(item), answerJson(view.schema, item).text]));
    await show(
      items,
      items.filter((item) => known.get(view.id(item)) !== now.get(view.id(item))),
    );
    known.clear();
    for (const [id, text] of now) {
      known.set(id, text);
    }
    await systemClock.sleep(everyMs);
  }
}

type Show<Item> = (items: readonly Item[], changed: readonly Item[]) => Promise<void>;

function chooseView<Desc extends DescMessage>(output: Output, view: ListView<Desc>): Show<MessageShape<Desc>> {
  if (output.asJson || output.format === "id") {
    return (_items, changed) => printEach(output, view, changed);
  }
  return process.stdout.isTTY === true ? redraw(output, view) : addRows(output, view);
}

/** Draws the whole list again when it is another one. */
function redraw<Desc extends DescMessage>(output: Output, view: ListView<Desc>): Show<MessageShape<Desc>> {
  let drawn: string | undefined;
  return async (items) => {
    const table = showList(output, view, items, output.paint);
    if (table !== drawn) {
      drawn = table;
      const plain = showList(output, view, items, (_style, text) => text);
      await output.answer(undefined, () => markOwn(clearScreen) + fitScreen(table, plain));
    }
  };
}

/** Prints the rows of what has changed, below those before. */
function addRows<Desc extends DescMessage>(output: Output, view: ListView<Desc>): Show<MessageShape<Desc>> {
  let isBegun = false;
  return async (_items, changed) => {
    const [head = "", ...rows] = showList(output, view, changed, output.paint).split("\n");
    await output.answer(undefined, () => [...(isBegun ? [] : [head]), ...rows].join("\n"));
    isBegun = true;
  };
}

/** Moves to the corner of the terminal and erases from there. */
const clearScreen = "\u001b[H\u001b[J";

/** Returns the first lines, as many as the terminal has room for. `plain` has the same lines without colours. */
function fitScreen(table: string, plain: string): string {
  // A terminal without a size reports 0.
  const [rows, columns] = [process.stdout.rows || 24, process.stdout.columns || 80];
  let room = rows - 1;
  const lines = plain.split("\n").filter(({ length }) => {
    room -= Math.max(1, Math.ceil(length / columns));
    return room >= 0;
  });
  return table.split("\n").slice(0, lines.length).join("\n");
}
