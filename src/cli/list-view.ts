// Prints lists: a table for people, or their items for programs.

import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { answerJson } from "./answer-json.ts";
import type { Output, Paint } from "./output.ts";
import { cut } from "./shorten.ts";
import { showTable } from "./table.ts";

/** The items of a list, for programs. */
export interface Items<Desc extends DescMessage> {
  /** The name of the list in JSON. */
  readonly name: string;
  readonly schema: Desc;
  readonly id: (item: MessageShape<Desc>) => string;
}

/** How to print a list. */
export interface ListView<Desc extends DescMessage> extends Items<Desc> {
  readonly columns: readonly string[];
  /** Returns the cells of the columns. `cut` shortens a text, except in a wide table. */
  readonly row: (item: MessageShape<Desc>, cut: Cut) => string[];
  /** The columns that a wide table has in addition. */
  readonly wide?: Readonly<Record<string, (item: MessageShape<Desc>) => string>>;
}

/** Shortens a text. */
export type Cut = (text: string, charsMax: number) => string;

/** Prints the items of a list as a table, or for programs. */
export async function printList<Desc extends DescMessage>(
  output: Output,
  view: ListView<Desc>,
  items: readonly MessageShape<Desc>[],
): Promise<void> {
  await answerItems(output, view, items, (paint) => showList(output, view, items, paint));
}

/** Prints items: one JSON document, a JSON document a line for each, their ids, or as `show` says. */
export async function answerItems<Desc extends DescMessage>(
  output: Output,
  { name, schema, id }: Items<Desc>,
  items: readonly MessageShape<Desc>[],
  show: (paint: Paint) => string,
): Promise<void> {
  if (output.format === "jsonl") {
    await printEach(output, { name, schema, id }, items);
  } else {
    await output.answer({ [name]: items.map((item) => answerJson(schema, item)) }, show, items.map(id));
  }
}

/** Prints a JSON document or an id for each item, one a line. */
export async function printEach<Desc extends DescMessage>(
  output: Output,
  { schema, id }: Items<Desc>,
  items: readonly MessageShape<Desc>[],
): Promise<void> {
  for (const item of items) {
    await output.answer(answerJson(schema, item), () => "", [id(item)]);
  }
}

/** Returns the table of a list, with more columns and whole texts in a wide one. */
export function showList<Desc extends DescMessage>(
  { format }: Output,
  { columns, row, wide = {} }: ListView<Desc>,
  items: readonly MessageShape<Desc>[],
  paint: Paint,
): string {
  const more = Object.entries(format === "wide" ? wide : {});
  const cutText: Cut = format === "wide" ? (text) => text : cut;
  return showTable(
    [...columns, ...more.map(([title]) => title)],
    items.map((item) => [...row(item, cutText), ...more.map(([, cell]) => cell(item))]),
    paint,
  );
}
