// Rows of parameters in a statement, for statements that `gathered` calls share.

import { type RawBuilder, sql } from "kysely";
import { byteaArray, int4Array, int8Array, textArray, uuidArray } from "./binary-array.ts";

interface Values {
  readonly uuid: string | undefined;
  readonly text: string | undefined;
  readonly bytea: Uint8Array | undefined;
  readonly int4: number;
  readonly int8: number;
}

/** A column: its type, and its value for an item. */
export type ParameterColumn<Item> = {
  readonly [Type in keyof Values]: readonly [type: Type, of: (item: Item, index: number) => Values[Type]];
}[keyof Values];

/** The columns of a relation, by their names. */
export type ParameterColumns<Item> = Readonly<Record<string, ParameterColumn<Item>>>;

/**
 * Returns a relation with a row for each item: `select … from ${parameterRows(items, { id: ["uuid", ({ id }) => id] })} as asked`.
 * One row is a plain `select`: for arrays Postgres would plan the statement anew each time, which costs more than to run it.
 */
export function parameterRows<Item>(items: readonly Item[], columns: ParameterColumns<Item>): RawBuilder<unknown> {
  const values = parameterValues(items, columns);
  const types = Object.entries(columns).map(([name, [type]], place) => ({
    name: sql.ref(name),
    type,
    value: values[place],
  }));
  if (items.length === 1) {
    return sql`(select ${sql.join(types.map(({ name, type, value }) => sql`${value}::${sql.raw(type)} as ${name}`))})`;
  }
  const names = sql.join(types.map(({ name }) => name));
  const arrays = sql.join(types.map(({ type, value }) => sql`${value}::${sql.raw(type)}[]`));
  return sql`(select * from unnest(${arrays}) as given (${names}))`;
}

/** Returns the parameters of the relation, in their order. */
export function parameterValues<Item>(items: readonly Item[], columns: ParameterColumns<Item>): unknown[] {
  const [only] = items;
  return only !== undefined && items.length === 1
    ? Object.values(columns).map(([, of]) => asParameter(of(only, 0)))
    : Object.values(columns).map((column) => arrayOf(items, column));
}

function asParameter(value: Values[keyof Values]): string | number | Buffer | null {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : (value ?? null);
}

function arrayOf<Item>(items: readonly Item[], [type, of]: ParameterColumn<Item>): Buffer {
  switch (type) {
    case "uuid":
      return uuidArray(items.map(of));
    case "text":
      return textArray(items.map(of));
    case "bytea":
      return byteaArray(items.map(of));
    case "int4":
      return int4Array(items.map(of));
    case "int8":
      return int8Array(items.map(of));
    default:
      return type satisfies never;
  }
}
