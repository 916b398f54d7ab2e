// Prints the answers of the commands that call a service: one object, or a list.

import { create, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { answerJson } from "./answer-json.ts";
import { readCount } from "./arguments.ts";
import { type Service, withService } from "./connect.ts";
import { type ListView, printList } from "./list-view.ts";
import { outputOf, type Paint, printsIds } from "./output.ts";
import { type Page, type PageRequest, readPages } from "./pages.ts";
import type { ServiceFlags } from "./target.ts";
import { type WatchFlag, watchList } from "./watch-list.ts";

const limitDefault = 50;

/** The flags of commands that list. */
export interface ListFlags extends ServiceFlags, WatchFlag {
  readonly limit: number;
}

/** Adds the flag `--limit`. */
export function addLimitFlag(command: Command): Command {
  return printsIds(command).option("--limit <number>", "maximum number to list", readCount, limitDefault);
}

/** How to read and print a list. */
export interface Listing<Desc extends DescMessage> extends ListView<Desc> {
  readonly read: (service: Service, request: PageRequest) => Promise<Page<MessageShape<Desc>>>;
}

/** Prints a list up to the limit, with a note when there are more. */
export async function listAll<Desc extends DescMessage>(
  command: Command,
  flags: ListFlags,
  listing: Listing<Desc>,
): Promise<void> {
  const { limit } = flags;
  await withService(flags, async (service) => {
    const output = outputOf(command);
    const read = () => readPages((request) => listing.read(service, request), limit);
    if (flags.watch === true) {
      await watchList(output, listing, async () => (await read()).items);
    }
    const { items, isCut } = await read();
    await printList(output, listing, items);
    if (isCut) {
      output.note(`there are more than ${limit}: see them with --limit`, { note: "cut", [listing.name]: limit });
    }
  });
}

/** How to print one object. */
export interface Answer<Desc extends DescMessage> {
  readonly schema: Desc;
  readonly message: MessageShape<Desc> | undefined;
  readonly id: (message: MessageShape<Desc>) => string;
  readonly show: (message: MessageShape<Desc>, paint: Paint) => string;
}

/** Prints one object. */
export async function answerOne<Desc extends DescMessage>(
  command: Command,
  { schema, message = create(schema), id, show }: Answer<Desc>,
): Promise<void> {
  await outputOf(command).answer(answerJson(schema, message), (paint) => show(message, paint), [id(message)]);
}
