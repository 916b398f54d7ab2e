// One file of inbox/, from its note to its place in processed/. See notes.ts for what holds when this is cut off anywhere.

import type { SubmitInboxResponse } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { failpoint } from "../../platform/base/failpoint.ts";
import { CommandError } from "../command-error.ts";
import { explain } from "../failure.ts";
import { type Desk, keepFiles, readOutbox } from "./desk.ts";
import { type Answer, type Inbox, type InboxFile, listInbox } from "./inbox.ts";
import { Notes, type Taken } from "./notes.ts";
import { callPatiently } from "./patience.ts";
import type { Refusal } from "./tell.ts";

/** Within a turn. Undefined when nothing was executed now. */
export async function takeFile(
  desk: Desk,
  id: string,
  { inbox, file }: { inbox: Inbox; file: InboxFile },
): Promise<SubmitInboxResponse | undefined> {
  const { teller, folders } = desk;
  const answer = await readOrLeave(desk, inbox, file);
  if (answer === undefined) {
    return undefined;
  }
  const { text, ...taken } = answer;
  const notes = await Notes.read(folders, id);
  const known = notes.find(taken);
  if (known?.isAnswered === true) {
    await moveAway(desk, { inbox, file, taken, notes });
    return undefined;
  }
  const sequence = known?.sequence ?? (await readOutbox(desk, id))?.sequence;
  if (sequence === undefined) {
    // It has ended, which is told by who follows it.
    return undefined;
  }
  await notes.put({ ...taken, sequence, isAnswered: false });
  await teller.taken(file.name, sequence);
  failpoint("file.noted");
  const response = await submitOrRefuse(desk, { id, text, sequence });
  if ("reason" in response) {
    await notes.drop(taken);
    if (response.reason !== endedReason) {
      inbox.leave(file);
      await teller.refused(file.name, response);
    }
    return undefined;
  }
  failpoint("file.answered");
  await teller.results(sequence, response.results);
  await notes.put({ ...taken, sequence, isAnswered: true });
  failpoint("file.settled");
  await keepFiles(desk, id, "new");
  failpoint("file.kept");
  await moveAway(desk, { inbox, file, taken, notes });
  return response;
}

/** Ends what was begun with files by a process that died. Within a turn. */
export async function takeNoted(desk: Desk, id: string, inbox: Inbox): Promise<void> {
  const notes = await Notes.read(desk.folders, id);
  const files = await listInbox(desk.folders);
  const isOf = ({ name, size, mtimeNs }: InboxFile, taken: Taken): boolean =>
    name === taken.name && size === taken.size && String(mtimeNs) === taken.mtimeNs;
  await notes.dropUnless((taken) => files.some((file) => isOf(file, taken)));
  for (const file of files) {
    if (notes.has((taken) => isOf(file, taken))) {
      await takeFile(desk, id, { inbox, file });
    }
  }
}

async function readOrLeave({ teller }: Desk, inbox: Inbox, file: InboxFile): Promise<Answer | undefined> {
  try {
    return await inbox.read(file);
  } catch (error) {
    if (!(error instanceof CommandError)) {
      throw error;
    }
    inbox.leave(file);
    await teller.refused(file.name, error);
    return undefined;
  }
}

/** Told by who follows the exchange. */
const endedReason = "EXCHANGE_ENDED";

/** What says that this text is not taken, whenever it is sent. Everything else is a failure of the command. */
const refusals: ReadonlySet<string> = new Set([
  endedReason,
  "INBOX_STALE",
  "PAYLOAD_TOO_LARGE",
  // What the wire says of a message that is a few bytes longer than its text.
  "RESOURCE_EXHAUSTED",
  "INVALID_ARGUMENT",
]);

async function submitOrRefuse(
  desk: Desk,
  { id, text, sequence }: { id: string; text: string; sequence: number },
): Promise<SubmitInboxResponse | Refusal> {
  const { service, signal } = desk;
  try {
    return await callPatiently(desk, () =>
      service.client(ExchangeService).submitInbox({ exchangeId: id, text, sequence }, { signal }),
    );
  } catch (error) {
    const { error: message, reason, fix } = explain(error);
    if (!refusals.has(reason)) {
      throw error;
    }
    return { message, reason, fix };
  }
}

interface AnsweredFile {
  readonly inbox: Inbox;
  readonly file: InboxFile;
  readonly taken: Taken;
  readonly notes: Notes;
}

async function moveAway({ teller }: Desk, { inbox, file, taken, notes }: AnsweredFile): Promise<void> {
  try {
    await inbox.move(file);
  } catch (error) {
    inbox.leave(file);
    await teller.kept(file.name, error instanceof Error ? error.message : String(error));
    return;
  }
  failpoint("file.moved");
  await notes.drop(taken);
}
