// Nonces of signed requests. Each is used at most once across all concurrent requests and replicas.

import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { gathered } from "../../database/gather.ts";
import { rowStatement } from "../../database/row-statement.ts";

/** The nonce of a request, in the scope of the credential that signed it. */
export interface Nonce {
  readonly scope: string;
  readonly nonce: string;
}

/**
 * Returns true for the first use. The use is durable when it returns, before the request has any effect. Concurrent requests
 * share one statement and one commit.
 */
export const useNonce = gathered(async (db, nonces: readonly Nonce[]): Promise<boolean[]> => {
  const fresh = new Set((await insertNonces(db, { used: nonces })).map(keyOf));
  // A nonce that several of these requests use goes to the first of them: `delete` is true once.
  return nonces.map((nonce) => fresh.delete(keyOf(nonce)));
});

const insertNonces = rowStatement<{ used: readonly Nonce[] }, Nonce>(
  { used: { scope: ["text", ({ scope }) => scope], nonce: ["text", ({ nonce }) => nonce] } },
  // Sorted, so that two replicas that insert the same nonces never wait for each other in a circle.
  ({ used }) => sql`
    insert into nonce (scope, nonce)
    select distinct scope, nonce from ${used} as used
    order by scope, nonce
    on conflict do nothing
    returning scope, nonce`,
);

/** A nonce contains no blank. */
function keyOf({ scope, nonce }: Nonce): string {
  return `${nonce} ${scope}`;
}

/** Deletes nonces older than `ageMs`, by the database's clock. */
export async function deleteNoncesOlderThan(db: Db, ageMs: number): Promise<void> {
  await db
    .deleteFrom("nonce")
    .where("create_time", "<", sql<Date>`now() - ${ageMs} * interval '1 millisecond'`)
    .execute();
}
