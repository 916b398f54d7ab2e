// Values that no plan depends on.

import { type RawBuilder, sql } from "kysely";

/**
 * Returns a value as a query, which Postgres reads when the statement runs. A connection plans a statement anew for each value while that
 * seems to cost less than one plan for all values, and the planning of a short statement takes longer than its rows. Where the plan is the
 * same for all values, both cost the same in this form, and so the connection keeps one plan.
 */
export function asQuery(
  value: unknown,
  type: "float8" | "int8[]" | "text" | "timestamptz" | "uuid" | "uuid[]",
): RawBuilder<unknown> {
  return sql`(select ${value}::${sql.raw(type)})`;
}
