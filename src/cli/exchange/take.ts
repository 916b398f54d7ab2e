// Takes one file of inbox/, from its note to its place in processed/. notes.ts says what holds after a crash at any point.

import type { SubmitInboxResponse } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { failpoint } from "../../platform/base/failpoint.ts";
import { CommandError } from "../command-error.ts";
import { explain } from "../failure.ts";
import { type ExchangeContext, keepFiles, readOutbox } from "./context.ts";
import { exchangeFixes } from "./fixes.ts";
import { type Answer, type Inbox, type InboxFile, listInbox } from "./inbox.ts";
import { Notes, type Taken } from "./notes.ts";
import { callPatiently } from "./patience.ts";
import type { Refusal } from "./reporter.ts";

/** Sends a file as an answer. Returns undefined when nothing was executed now. The caller holds the lock (`inTurn`). */
export async function takeFile(
  context: ExchangeContext,
  id: string,
  { inbox, file }: { inbox: Inbox; file: InboxFile },
): Promise<SubmitInboxResponse | undefined> {
  const { reporter, folders } = context;
  const answer = await readOrLeave(context, inbox, file);
  if (answer === undefined) {
    return undefined;
  }
  const { text, ...taken } = answer;
  const notes = await Notes.read(folders, id);
  const known = notes.find(taken);
  if (known?.isAnswered === true) {
    await moveAway(context, { inbox, file, taken, notes });
    return undefined;
  }
  const sequence = known?.sequence ?? (await readOutbox(context, id))?.sequence;
  if (sequence === undefined) {
    // The exchange has ended. The watcher of its log reports that.
    return undefined;
  }
  await notes.put({ ...taken, sequence, isAnswered: false });
  await reporter.taken(file.name, sequence);
  failpoint("file.noted");
  const response = await submitOrRefuse(context, { id, text, sequence });
  if ("reason" in response) {
    await notes.drop(taken);
    if (response.reason !== endedReason) {
      inbox.leave(file);
      await reporter.refused(file.name, response);
    }
    return undefined;
  }
  failpoint("file.answered");
  await reporter.results(sequence, response.results);
  await notes.put({ ...taken, sequence, isAnswered: true });
  failpoint("file.settled");
  await keepFiles(context, id, "new");
  failpoint("file.kept");
  await moveAway(context, { inbox, file, taken, notes });
  return response;
}

/** Finishes the files that a dead process had begun. The caller holds the lock (`inTurn`). */
export async function takeNoted(context: ExchangeContext, id: string, inbox: Inbox): Promise<void> {
  const notes = await Notes.read(context.folders, id);
  const files = await listInbox(context.folders);
  const isOf = ({ name, size, mtimeNs }: InboxFile, taken: Taken): boolean =>
    name === taken.name && size === taken.size && String(mtimeNs) === taken.mtimeNs;
  await notes.dropUnless((taken) => files.some((file) => isOf(file, taken)));
  for (const file of files) {
    if (notes.has((taken) => isOf(file, taken))) {
      await takeFile(context, id, { inbox, file });
    }
  }
}

async function readOrLeave({ reporter }: ExchangeContext, inbox: Inbox, file: InboxFile): Promise<Answer | undefined> {
  try {
    return await inbox.read(file);
  } catch (error) {
    if (!(error instanceof CommandError)) {
      throw error;
    }
    inbox.leave(file);
    await reporter.refused(file.name, error);
    return undefined;
  }
}

/** The reason of an ended exchange; the watcher of its log reports the end. */
const endedReason = "EXCHANGE_ENDED";

/** The reasons that refuse a text for good. Every other failure ends the command. */
const refusals: ReadonlySet<string> = new Set([
  endedReason,
  "INBOX_STALE",
  "PAYLOAD_TOO_LARGE",
  // The transport's answer to a message that is a few bytes longer than its text.
  "RESOURCE_EXHAUSTED",
  "INVALID_ARGUMENT",
]);

async function submitOrRefuse(
  context: ExchangeContext,
  { id, text, sequence }: { id: string; text: string; sequence: number },
): Promise<SubmitInboxResponse | Refusal> {
  const { service, signal } = context;
  try {
    return await callPatiently(context, () =>
      service.client(ExchangeService).submitInbox({ exchangeId: id, text, sequence }, { signal }),
    );
  } catch (error) {
    const { error: message, reason, fix } = explain(error, [{ fixes: exchangeFixes }]);
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

async function moveAway({ reporter }: ExchangeContext, { inbox, file, taken, notes }: AnsweredFile): Promise<void> {
  try {
    await inbox.move(file);
  } catch (error) {
    inbox.leave(file);
    await reporter.kept(file.name, error instanceof Error ? error.message : String(error));
    return;
  }
  failpoint("file.moved");
  await notes.drop(taken);
}
