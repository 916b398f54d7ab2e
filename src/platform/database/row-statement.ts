// Statements whose only parameters are rows. Their text is built once for each form: for one row and for several. To build it costs
// a short statement more than to send it.

import type { CompiledQuery, RawBuilder } from "kysely";
import type { Db, Transaction } from "./database.ts";
import { type ParameterColumns, parameterRows, parameterValues } from "./parameter-rows.ts";

/** The items of each relation. */
type Items = Readonly<Record<string, readonly unknown[]>>;

/** The relations of a statement, by their names. Its text has each of them once, in the order of their columns. */
type Relations<Given extends Items> = { readonly [Name in keyof Given]: RawBuilder<unknown> };

/** What else the text depends on. */
type Choice = Readonly<Record<string, boolean>>;

/**
 * Returns a function that runs a statement for the items of each relation.
 *
 *     const findThings = rowStatement<{ asked: readonly string[] }, Thing>(
 *       { asked: { id: ["uuid", (id) => id] } },
 *       ({ asked }) => sql`select thing.* from ${asked} as asked join thing using (id)`,
 *     );
 *     const things = await findThings(db, { asked: ids });
 */
export function rowStatement<Given extends Items, Row, Chosen extends Choice = Record<never, never>>(
  columns: { readonly [Name in keyof Given]: ParameterColumns<Given[Name][number]> },
  build: (relations: Relations<Given>, choice: Chosen) => RawBuilder<Row>,
): (db: Db | Transaction, given: Given, ...choice: keyof Chosen extends never ? [] : [Chosen]) => Promise<Row[]> {
  const relations = Object.entries(columns) as [keyof Given & string, ParameterColumns<unknown>][];
  const compiled = new Map<string, CompiledQuery<Row>>();
  return async (db, given, ...[choice = {} as Chosen]) => {
    const form = `${relations.map(([name]) => given[name]?.length === 1)} ${Object.values(choice)}`;
    let query = compiled.get(form);
    if (query === undefined) {
      const made = relations.map(([name, of]) => [name, parameterRows(given[name] ?? [], of)]);
      query = build(Object.fromEntries(made) as Relations<Given>, choice).compile(db);
      compiled.set(form, query);
    }
    const parameters = relations.flatMap(([name, of]) => parameterValues(given[name] ?? [], of));
    return (await db.executeQuery<Row>({ ...query, parameters })).rows;
  };
}
