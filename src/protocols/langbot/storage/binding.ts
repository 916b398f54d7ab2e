// Bindings: which runner takes which events of a client. `runners/` defines their bodies.

import { type Selectable, sql } from "kysely";
import { type Db, isStorableText, type Transaction } from "../../../platform/database/database.ts";
import { type RowPage, readPage } from "../../../platform/database/row-page.ts";
import type { BindingTable } from "./schema.ts";

/** A stored binding. */
export type BindingRow = Selectable<BindingTable>;

const bindingColumns = [
  "client",
  "binding_id",
  "scope_kind",
  "scope_id",
  "body",
  "create_time",
  "update_time",
] as const;

interface BindingName {
  readonly client: string;
  readonly bindingId: string;
}

/** The kind and the id of a scope. The id is empty for a kind without ids. */
export interface BindingScopeKey {
  readonly kind: string;
  readonly id: string;
}

/** Creates a binding, or replaces the one with its id. */
export async function putBinding(
  db: Db | Transaction,
  { client, bindingId, scope, body }: BindingName & { scope: BindingScopeKey; body: Uint8Array },
): Promise<BindingRow> {
  const content = { scope_kind: scope.kind, scope_id: scope.id, body: Buffer.from(body) };
  return await db
    .insertInto("binding")
    .values({ client, binding_id: bindingId, ...content })
    .onConflict((conflict) =>
      conflict.columns(["client", "binding_id"]).doUpdateSet({ ...content, update_time: sql<Date>`now()` }),
    )
    .returning(bindingColumns)
    .executeTakeFirstOrThrow();
}

/** Returns a binding; undefined when it is unknown. */
export async function findBinding(db: Db, { client, bindingId }: BindingName): Promise<BindingRow | undefined> {
  if (!isStorableText(bindingId)) {
    return undefined;
  }
  return await db
    .selectFrom("binding")
    .select(bindingColumns)
    .where("client", "=", client)
    .where("binding_id", "=", bindingId)
    .executeTakeFirst();
}

/** Lists bindings by id. Bodies may be large, so a page may be short. */
export async function listBindings(
  db: Db,
  args: { client: string; after: string | undefined; limit: number },
): Promise<RowPage<BindingRow>> {
  const { client, after, limit } = args;
  let query = db
    .selectFrom("binding")
    .select(bindingColumns)
    .where("client", "=", client)
    .orderBy("binding_id")
    .limit(limit + 1);
  if (after !== undefined) {
    query = query.where("binding_id", ">", after);
  }
  return await readPage(db, query, { order: sql`binding_id`, body: "body", limit });
}

/** Lists the bindings of any of these scopes, by id. */
export async function listBindingsOfScopes(
  db: Db | Transaction,
  { client, scopes }: { client: string; scopes: readonly BindingScopeKey[] },
): Promise<BindingRow[]> {
  return await db
    .selectFrom("binding")
    .select(bindingColumns)
    .where("client", "=", client)
    .where(({ or, and, eb }) =>
      or(scopes.map(({ kind, id }) => and([eb("scope_kind", "=", kind), eb("scope_id", "=", id)]))),
    )
    .orderBy("binding_id")
    .execute();
}

/** Deletes a binding. Returns false when it is unknown. */
export async function deleteBinding(db: Db, { client, bindingId }: BindingName): Promise<boolean> {
  if (!isStorableText(bindingId)) {
    return false;
  }
  const { numDeletedRows } = await db
    .deleteFrom("binding")
    .where("client", "=", client)
    .where("binding_id", "=", bindingId)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}
