// Reads the events that started runs: a single one, or pages of a conversation.

import { type Selectable, sql } from "kysely";
import { textArray } from "../../../platform/database/binary-array.ts";
import { type Db, isStorableText } from "../../../platform/database/database.ts";
import type { AgentEventTable } from "./schema.ts";

/** A stored event. */
export type AgentEventRow = Pick<
  Selectable<AgentEventTable>,
  "run_id" | "event_id" | "event_type" | "seq" | "record" | "create_time"
>;

/** Returns the run's own event or one of its conversation, the newest of several with the id. Undefined when it is unknown. */
export async function findEvent(
  db: Db,
  { runId, scope, eventId }: { runId: string; scope: Uint8Array | undefined; eventId: string },
): Promise<AgentEventRow | undefined> {
  if (!isStorableText(eventId)) {
    return undefined;
  }
  const conversation = scope === undefined ? null : Buffer.from(scope);
  const { rows } = await sql<AgentEventRow>`
    select ${columns} from agent_event where run_id = ${runId} and event_id = ${eventId}
    union
    select ${columns} from agent_event where scope = ${conversation}::bytea and event_id = ${eventId}
    order by run_id desc limit 1`.execute(db);
  return rows[0];
}

/** Returns a page, the newest first. It has one row more than `limit` when more events follow. */
export async function readEventPage(
  db: Db,
  args: { scope: Uint8Array; types: readonly string[]; before: number | undefined; limit: number },
): Promise<AgentEventRow[]> {
  const ofTypes =
    args.types.length === 0
      ? sql``
      : sql` and event_type = any(${textArray(args.types.filter(isStorableText))}::text[])`;
  const before = args.before === undefined ? sql`` : sql` and seq < ${args.before}::int8`;
  const { rows } = await sql<AgentEventRow>`
    select ${columns} from agent_event where scope = ${Buffer.from(args.scope)}${ofTypes}${before}
    order by seq desc limit ${args.limit + 1}`.execute(db);
  return rows;
}

const columns = sql.join(
  ["run_id", "event_id", "event_type", "seq", "record", "create_time"].map((name) => sql.ref(name)),
);
