// Exchanges: their state, their inboxes, and the results of their commands. An exchange whose session was deleted is not found
// any more.

import { type RawBuilder, type Selectable, sql } from "kysely";
import type { RunStatus } from "../../../engine/storage/schema.ts";
import { uuidArray } from "../../../platform/database/binary-array.ts";
import { type Db, isStorableText, type Transaction } from "../../../platform/database/database.ts";
import { untilFewer } from "../../../platform/database/until-fewer.ts";
import type { ExchangeTable } from "./schema.ts";

/** The key of an exchange: its client and its id. */
export interface ExchangeName {
  readonly client: string;
  readonly id: string;
}

/** An exchange with columns of its run, without its outbox, which is read separately. */
export interface ExchangeRow extends Omit<Selectable<ExchangeTable>, "outbox"> {
  readonly has_outbox: boolean;
  readonly status: RunStatus;
  readonly deadline: Date;
  readonly end_time: Date | null;
}

/** An exchange to insert. */
export interface NewExchange extends ExchangeName {
  readonly session: string;
  readonly runId: string;
  readonly task: string;
  readonly sequence: number;
  readonly isComplete: boolean;
  readonly readRequests: readonly string[];
  /** Imported results as bytes; undefined for an exchange that begins here. */
  readonly imported: Uint8Array | undefined;
}

/** Inserts an exchange. Returns false when the client has an exchange with this id, or had one whose run has not ended yet. */
export async function insertExchange(trx: Transaction, exchange: NewExchange): Promise<boolean> {
  const { client, id, session, runId, task, sequence, isComplete, readRequests, imported } = exchange;
  // An exchange that was deleted with its session has kept the id until now.
  await sql`
    delete from exchange using run, session
    where exchange.client = ${client} and exchange.id = ${id}
      and run.id = exchange.run_id and run.end_time is not null
      and session.id = exchange.session and session.delete_time is not null`.execute(trx);
  const { numInsertedOrUpdatedRows = 0n } = await trx
    .insertInto("exchange")
    .values({
      session,
      client,
      id,
      run_id: runId,
      task,
      sequence,
      is_complete: isComplete,
      read_requests: [...readRequests],
      imported: imported === undefined ? null : Buffer.from(imported),
    })
    .onConflict((conflict) => conflict.columns(["client", "id"]).doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Locks a client: until the end of the transaction no other transaction starts an exchange of this client. */
export async function lockExchangeStarts(trx: Transaction, client: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext(${`runnel exchanges of ${client}`}))`.execute(trx);
}

/** Counts the client's exchanges that have not ended. */
export async function countOpenExchanges(trx: Transaction, client: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from run
    where client = ${client} and driver = 'text-exchange' and status in ('queued', 'running', 'waiting')`.execute(trx);
  return rows[0]?.count ?? 0;
}

/** Finds an exchange. Returns undefined when it is unknown or its session was deleted. */
export async function findExchange(db: Db | Transaction, name: ExchangeName): Promise<ExchangeRow | undefined> {
  return isStorableText(name.id) ? await readOne(db, nameIs(name)) : undefined;
}

/** Finds an exchange and locks its run, which neither continues nor ends until the end of the transaction. */
export async function lockExchange(trx: Transaction, name: ExchangeName): Promise<ExchangeRow | undefined> {
  if (!isStorableText(name.id)) {
    return undefined;
  }
  // A separate statement: a query that waits for the lock reads the exchange in a snapshot from before the wait.
  await sql`select from exchange join run on run.id = exchange.run_id where ${nameIs(name)} for update of run`.execute(
    trx,
  );
  return await readOne(trx, nameIs(name));
}

/** Finds the exchange of a run, also after its session was deleted: its run may still have to end properly. */
export async function findExchangeOfRun(db: Db, runId: string): Promise<ExchangeRow | undefined> {
  const { rows } = await sql<ExchangeRow>`
    select ${shown} from exchange join run on run.id = exchange.run_id where run_id = ${runId}`.execute(db);
  return rows[0];
}

/** Lists exchanges, newest first. */
export async function listExchanges(
  db: Db,
  args: { client: string; before: string | undefined; limit: number },
): Promise<ExchangeRow[]> {
  const before = args.before === undefined ? sql`` : sql` and exchange.session < ${args.before}`;
  const { rows } = await sql<ExchangeRow>`
    select ${shown} from ${exchanges} where exchange.client collate "C" = ${args.client}${before}
    order by exchange.session desc limit ${sql.lit(args.limit)}`.execute(db);
  return rows;
}

/** An outbox to store. */
export interface Outbox {
  readonly sequence: number;
  readonly text: Uint8Array;
  /** Paths whose contents it holds. */
  readonly readRequests: readonly string[];
}

/** Returns the newest outbox. Returns undefined until the first one is written. */
export async function readOutbox(db: Db, session: string): Promise<Uint8Array | undefined> {
  const row = await db.selectFrom("exchange").select("outbox").where("session", "=", session).executeTakeFirst();
  return row?.outbox ?? undefined;
}

/** Stores the newest outbox. */
export async function saveOutbox(
  trx: Transaction,
  { session, sequence, text, readRequests }: Outbox & { readonly session: string },
): Promise<void> {
  const changes = {
    sequence,
    outbox: Buffer.from(text),
    read_requests: [...readRequests],
    update_time: sql<Date>`now()`,
  };
  await trx.updateTable("exchange").set(changes).where("session", "=", session).execute();
}

/** Marks an exchange as complete. */
export async function completeExchange(trx: Transaction, session: string): Promise<void> {
  const changes = { is_complete: true, update_time: sql<Date>`now()` };
  await trx.updateTable("exchange").set(changes).where("session", "=", session).execute();
}

/** Inserts an inbox. */
export async function insertInbox(
  trx: Transaction,
  { session, sequence, sha256, text }: { session: string; sequence: number; sha256: Uint8Array; text: Uint8Array },
): Promise<void> {
  const values = { session, sequence, sha256: Buffer.from(sha256), text: Buffer.from(text) };
  await trx.insertInto("exchange_inbox").values(values).execute();
}

/** Returns the text of an inbox. Returns undefined when the outbox has no answer. */
export async function readInbox(
  db: Db,
  { session, sequence }: { session: string; sequence: number },
): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom("exchange_inbox")
    .select("text")
    .where("session", "=", session)
    .where("sequence", "=", sequence)
    .executeTakeFirst();
  return row?.text;
}

/** An inbox without its text. */
export interface InboxRow {
  readonly sequence: number;
  readonly sha256: Uint8Array;
}

/** Finds the inbox of a sequence, or the newest one when the sequence is undefined. */
export async function findInbox(
  db: Db | Transaction,
  { session, sequence }: { session: string; sequence: number | undefined },
): Promise<InboxRow | undefined> {
  let query = db.selectFrom("exchange_inbox").select(["sequence", "sha256"]).where("session", "=", session);
  query = sequence === undefined ? query.orderBy("sequence", "desc").limit(1) : query.where("sequence", "=", sequence);
  return await query.executeTakeFirst();
}

/** Stores that a command begins. */
export async function beginCommand(
  trx: Transaction,
  command: { session: string; sequence: number; position: number; trace: string },
): Promise<void> {
  await trx.insertInto("exchange_command").values(command).execute();
}

/** Stores the result of a command. */
export async function endCommand(
  trx: Transaction,
  command: { session: string; sequence: number; position: number; result: Uint8Array },
): Promise<void> {
  const { session, sequence, position, result } = command;
  await trx
    .updateTable("exchange_command")
    .set({ result: Buffer.from(result) })
    .where("session", "=", session)
    .where("sequence", "=", sequence)
    .where("position", "=", position)
    .execute();
}

/** A begun command; its result is null until it ends. */
export interface CommandRow {
  readonly trace: string;
  readonly result: Uint8Array | null;
}

/** Lists the begun commands of an inbox in their order. */
export async function listCommands(
  db: Db,
  { session, sequence }: { session: string; sequence: number },
): Promise<CommandRow[]> {
  return await db
    .selectFrom("exchange_command")
    .select(["trace", "result"])
    .where("session", "=", session)
    .where("sequence", "=", sequence)
    .orderBy("position")
    .execute();
}

/** Deletes exchanges with their inboxes and commands, at most `rowsMax` rows in one statement. */
export async function deleteExchanges(
  db: Db,
  { sessions, rowsMax }: { sessions: readonly string[]; rowsMax: number },
): Promise<void> {
  const ids = uuidArray(sessions);
  await untilFewer(rowsMax, () =>
    sql`
      delete from exchange_command where (session, sequence, position) in (
        select session, sequence, position from exchange_command where session = any(${ids}::uuid[])
        limit ${sql.lit(rowsMax)})`.execute(db),
  );
  await untilFewer(rowsMax, () =>
    sql`
      delete from exchange_inbox where (session, sequence) in (
        select session, sequence from exchange_inbox where session = any(${ids}::uuid[]) limit ${sql.lit(rowsMax)})`.execute(
      db,
    ),
  );
  await sql`delete from exchange where session = any(${ids}::uuid[])`.execute(db);
}

const shown = sql`exchange.session, exchange.client, exchange.id, run_id, task, sequence, outbox is not null as has_outbox,
  read_requests, is_complete, imported, exchange.create_time, exchange.update_time, run.status, run.deadline, run.end_time`;

const exchanges = sql`exchange join run on run.id = exchange.run_id
  join session on session.id = exchange.session and session.delete_time is null`;

function nameIs({ client, id }: ExchangeName): RawBuilder<unknown> {
  return sql`exchange.client = ${client} and exchange.id = ${id}`;
}

async function readOne(db: Db | Transaction, condition: RawBuilder<unknown>): Promise<ExchangeRow | undefined> {
  const { rows } = await sql<ExchangeRow>`select ${shown} from ${exchanges} where ${condition}`.execute(db);
  return rows[0];
}
