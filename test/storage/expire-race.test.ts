// Messages and maintenance race for the same sessions: no session is deleted that a message has just started.

import { sql } from "kysely";
import { expect, test } from "vitest";
import { expireSessions, type SessionPlace } from "../../src/engine/storage/expire.ts";
import { insertRun } from "../../src/engine/storage/run-start.ts";
import { lockSession } from "../../src/engine/storage/session.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import { addSession, connect, input, openStore } from "../runlog/store.ts";

const client = "shared/test";
const sessionCount = 60;

test("a session that took a message is not deleted, whichever came first", async () => {
  const { db, url } = await openStore({ poolSize: 4 });
  const upkeep = connect(url, { poolSize: 2 });
  const sessions: string[] = [];
  for (let count = 0; count < sessionCount; count++) {
    sessions.push(await addSession(db));
  }
  await sql`update session set create_time = now() - interval '1 day'`.execute(db);
  const send = (session: string): Promise<boolean> =>
    db.transaction().execute(async (trx) => {
      if ((await lockSession(trx, { client, name: session })) === undefined) {
        return false;
      }
      const id = newUuid(Date.now());
      await insertRun(trx, { id, client, session, driver: "test", input, timeoutMs: 1_000, owner: undefined });
      return true;
    });
  const expire = async (): Promise<string[]> => {
    const gone: string[] = [];
    let after: SessionPlace | undefined;
    for (let look = 0; look < sessionCount; look++) {
      const args = { ageMs: 1_000, after, limit: 1 };
      const { ids, next } = await upkeep.db.transaction().execute((trx) => expireSessions(trx, args));
      gone.push(...ids);
      after = next;
    }
    return gone;
  };
  // Both start at opposite ends, so that they meet.
  const [gone, started] = await Promise.all([
    expire(),
    Promise.all(sessions.toReversed().map(async (session) => ((await send(session)) ? session : undefined))),
  ]);
  const kept = started.filter((session) => session !== undefined);
  expect([...gone, ...kept].toSorted()).toEqual(sessions.toSorted());
  expect(new Set([...gone, ...kept]).size).toBe(sessionCount);
});
