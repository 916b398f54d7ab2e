// The inputs of all exchange commands, and their common task: to bring the folders in line with the service.

import { join } from "node:path";
import type { CommandResult } from "#gen/runnel/exchange/v1/exchange_pb.js";
import type { GetOutboxResponse } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { CommandError } from "../command-error.ts";
import { reasonOf, type Service } from "../connect.ts";
import type { Output } from "../output.ts";
import type { Folders } from "./folders.ts";
import { callPatiently } from "./patience.ts";
import type { Reporter } from "./reporter.ts";
import { writeSession } from "./session-file.ts";
import { putNewFile } from "./whole-file.ts";

/** The inputs of an exchange command. */
export interface ExchangeContext {
  readonly service: Service;
  readonly folders: Folders;
  readonly output: Output;
  readonly reporter: Reporter;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  /** Called once each time that the service goes away. */
  readonly onAway: (why: string) => void;
}

/**
 * Writes the session's file, and the newest outbox if its file is missing. Reports the outbox if it is new, or always with
 * "any". The caller holds the lock (`inTurn`).
 */
export async function keepFiles(context: ExchangeContext, id: string, reports: "new" | "any"): Promise<void> {
  const { service, folders, reporter, signal } = context;
  const { session } = await callPatiently(context, () =>
    service.client(ExchangeService).exportExchange({ exchangeId: id }, { signal }),
  );
  const outbox = await readOutbox(context, id);
  if (session !== undefined) {
    await writeSession(folders, session);
  }
  if (outbox !== undefined) {
    const path = join(folders.outbox, nameOfOutbox(outbox));
    const isNew = await putNewFile(path, outbox.text);
    if ((isNew || reports === "any") && !outbox.isComplete) {
      await reporter.outbox(id, outbox.sequence, path);
    }
  }
}

/**
 * Reads the newest outbox, and waits while the service writes it. Returns undefined when the exchange ended before it had one.
 */
export async function readOutbox(context: ExchangeContext, id: string): Promise<GetOutboxResponse | undefined> {
  const { service, signal } = context;
  try {
    return await callPatiently(context, () =>
      service.client(ExchangeService).getOutbox({ exchangeId: id }, { signal }),
    );
  } catch (error) {
    if (reasonOf(error) === "EXCHANGE_ENDED") {
      return undefined;
    }
    throw error;
  }
}

/** Returns the summary of the last `[DONE]`, or undefined without one. */
export function summaryOf(results: readonly CommandResult[]): string | undefined {
  return results.findLast(({ type }) => type === "DONE")?.summary;
}

/** Returns the file name of an outbox. It refuses other forms, because a foreign service could name another path. */
function nameOfOutbox({ fileName }: GetOutboxResponse): string {
  if (/^[0-9a-f]{8}_seq\d{4,10}\.txt$/.test(fileName)) {
    return fileName;
  }
  throw new CommandError(`the service names an outbox ${JSON.stringify(fileName)}`, { reason: "SERVICE_ODD" });
}
