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

/**
 * Returns a relation with a row for each item: `select … from ${parameterRows(items, { id: ["uuid", ({ id }) => id] })} as asked`.
 * One row is a plain `select`: for arrays Postgres would plan the statement anew each time, which costs more than to run it.
 */
export function parameterRows<Item>(
  items: readonly Item[],
  columns: Readonly<Record<string, ParameterColumn<Item>>>,
): RawBuilder<unknown> {
  const entries = Object.entries(columns);
  const [only] = items;
  if (only !== undefined && items.length === 1) {
    const values = entries.map(
      ([name, [type, of]]) => sql`${asParameter(of(only, 0))}::${sql.raw(type)} as ${sql.ref(name)}`,
    );
    return sql`(select ${sql.join(values)})`;
  }
  const names = sql.join(entries.map(([name]) => sql.ref(name)));
  const arrays = sql.join(entries.map(([, column]) => arrayOf(items, column)));
  return sql`(select * from unnest(${arrays}) as given (${names}))`;
}

function asParameter(value: Values[keyof Values]): string | number | Buffer | null {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : (value ?? null);
}

function arrayOf<Item>(items: readonly Item[], [type, of]: ParameterColumn<Item>): RawBuilder<unknown> {
  switch (type) {
    case "uuid":
      return sql`${uuidArray(items.map(of))}::uuid[]`;
    case "text":
      return sql`${textArray(items.map(of))}::text[]`;
    case "bytea":
      return sql`${byteaArray(items.map(of))}::bytea[]`;
    case "int4":
      return sql`${int4Array(items.map(of))}::int4[]`;
    case "int8":
      return sql`${int8Array(items.map(of))}::int8[]`;
    default:
      return type satisfies never;
  }
}
