// What the commands of exchanges work with, and the one thing that all of them do: to make the folders say what the service says.

import { join } from "node:path";
import type { CommandResult } from "#gen/runnel/exchange/v1/exchange_pb.js";
import type { GetOutboxResponse } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { CommandError } from "../command-error.ts";
import { reasonOf, type Service } from "../connect.ts";
import type { Output } from "../output.ts";
import type { Folders } from "./folders.ts";
import { callPatiently } from "./patience.ts";
import { writeSession } from "./session-file.ts";
import type { Teller } from "./tell.ts";
import { putNewFile } from "./whole-file.ts";

export interface Desk {
  readonly service: Service;
  readonly folders: Folders;
  readonly output: Output;
  readonly teller: Teller;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  /** Told once each time that the service goes away. */
  readonly onAway: (why: string) => void;
}

/** Writes the session's file, and the newest outbox unless it is there; tells of one that is new, or of any. Within a turn. */
export async function keepFiles(desk: Desk, id: string, tells: "new" | "any"): Promise<void> {
  const { service, folders, teller, signal } = desk;
  const { session } = await callPatiently(desk, () =>
    service.client(ExchangeService).exportExchange({ exchangeId: id }, { signal }),
  );
  const outbox = await readOutbox(desk, id);
  if (session !== undefined) {
    await writeSession(folders, session);
  }
  if (outbox !== undefined) {
    const path = join(folders.outbox, nameOfOutbox(outbox));
    const isNew = await putNewFile(path, outbox.text);
    if ((isNew || tells === "any") && !outbox.isComplete) {
      await teller.outbox(id, outbox.sequence, path);
    }
  }
}

/** Waits while it is being written. Undefined when the exchange ended before it had one. */
export async function readOutbox(desk: Desk, id: string): Promise<GetOutboxResponse | undefined> {
  const { service, signal } = desk;
  try {
    return await callPatiently(desk, () => service.client(ExchangeService).getOutbox({ exchangeId: id }, { signal }));
  } catch (error) {
    if (reasonOf(error) === "EXCHANGE_ENDED") {
      return undefined;
    }
    throw error;
  }
}

/** What the last `[DONE]` said; undefined when there was none. */
export function summaryOf(results: readonly CommandResult[]): string | undefined {
  return results.findLast(({ type }) => type === "DONE")?.summary;
}

/** A service may be anybody's: it names no other place. */
function nameOfOutbox({ fileName }: GetOutboxResponse): string {
  if (/^[0-9a-f]{8}_seq\d{4,10}\.txt$/.test(fileName)) {
    return fileName;
  }
  throw new CommandError(`the service names an outbox ${JSON.stringify(fileName)}`, { reason: "SERVICE_ODD" });
}
