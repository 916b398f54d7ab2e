// The files of sessions/: one for each exchange, in the protocol's own form. So any other program with this protocol can
// continue the exchange (Session Management, Session State).

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fromJson, toJson } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type ExchangeSession, ExchangeSessionSchema } from "#gen/runnel/exchange/v1/exchange_pb.js";
import { hasErrorCode } from "../../platform/base/error-code.ts";
import { CommandError } from "../command-error.ts";
import type { Folders } from "./folders.ts";
import { putFile } from "./whole-file.ts";

/** Writes the file of a session. */
export async function writeSession({ sessions }: Folders, session: ExchangeSession): Promise<void> {
  const text = JSON.stringify(toJson(ExchangeSessionSchema, session, { alwaysEmitImplicit: true }), undefined, 2);
  await putFile(join(sessions, `${session.sessionId}.json`), `${text}\n`);
}

/** Reads a session. Returns undefined without a file. Throws a `CommandError` when it is unreadable. */
export async function readSession({ sessions }: Folders, id: string): Promise<ExchangeSession | undefined> {
  const path = join(sessions, `${id}.json`);
  try {
    const json = JSON.parse(await readFile(path, "utf8"));
    // Other programs with this protocol may keep more in it.
    return { ...fromJson(ExchangeSessionSchema, json, { ignoreUnknownFields: true }), sessionId: id };
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT")) {
      return undefined;
    }
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`cannot read ${path}: ${why}`, { reason: "INVALID_FILE", cause });
  }
}

/** Returns the id of the incomplete session that changed last. Throws a `CommandError` without one, or when one is unreadable. */
export async function findLatestIncomplete(folders: Folders): Promise<string> {
  const names = await readdir(folders.sessions);
  const ids = names.flatMap((name) => /^([0-9a-f]{8})\.json$/.exec(name)?.[1] ?? []);
  const sessions = await Promise.all(ids.map((id) => readSession(folders, id)));
  const [latest] = sessions
    .filter((session) => session?.isComplete === false)
    .sort((one, other) => updatedMs(other) - updatedMs(one));
  if (latest === undefined) {
    throw new CommandError(`no session in ${folders.sessions} is incomplete`, {
      reason: "NO_SESSION",
      fix: "`runnel exchange new <task>` starts one; name a session to look at one that is complete, or say with --dir where it is",
    });
  }
  return latest.sessionId;
}

function updatedMs(session: ExchangeSession | undefined): number {
  return session?.updatedAt === undefined ? 0 : timestampMs(session.updatedAt);
}
