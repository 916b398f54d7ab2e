// Prints the answers of the commands about runners: one object, or a list.

import { create, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { answerJson } from "./answer-json.ts";
import { readCount } from "./arguments.ts";
import { type Service, withService } from "./connect.ts";
import { outputOf, type Paint } from "./output.ts";
import { type Page, type PageRequest, readPages } from "./pages.ts";
import { showTable } from "./table.ts";
import type { ServiceFlags } from "./target.ts";

const limitDefault = 50;

/** The flags of commands that list. */
export interface ListFlags extends ServiceFlags {
  readonly limit: number;
}

/** Adds the flag `--limit`. */
export function addLimitFlag(command: Command): Command {
  return command.option("--limit <number>", "maximum number to list", readCount, limitDefault);
}

/** How to read and print a list. */
export interface Listing<Desc extends DescMessage> {
  /** The name of the list in JSON. */
  readonly name: string;
  readonly schema: Desc;
  readonly read: (service: Service, request: PageRequest) => Promise<Page<MessageShape<Desc>>>;
  readonly columns: readonly string[];
  readonly row: (item: MessageShape<Desc>) => string[];
}

/** Prints a list up to the limit, with a note when there are more. */
export async function listAll<Desc extends DescMessage>(
  command: Command,
  flags: ListFlags,
  { name, schema, read, columns, row }: Listing<Desc>,
): Promise<void> {
  const { limit } = flags;
  await withService(flags, async (service) => {
    const { items, isCut } = await readPages((request) => read(service, request), limit);
    const output = outputOf(command);
    await output.answer({ [name]: items.map((item) => answerJson(schema, item)) }, (paint) =>
      showTable(columns, items.map(row), paint),
    );
    if (isCut) {
      output.note(`there are more than ${limit}: see them with --limit`, { note: "cut", [name]: limit });
    }
  });
}

/** How to print one object. */
export interface Answer<Desc extends DescMessage> {
  readonly name: string;
  readonly schema: Desc;
  readonly message: MessageShape<Desc> | undefined;
  readonly show: (message: MessageShape<Desc>, paint: Paint) => string;
}

/** Prints one object. */
export async function answerOne<Desc extends DescMessage>(
  command: Command,
  { name, schema, message = create(schema), show }: Answer<Desc>,
): Promise<void> {
  await outputOf(command).answer({ [name]: answerJson(schema, message) }, (paint) => show(message, paint));
}
