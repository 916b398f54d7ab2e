// The tables as Kysely sees them. Each part adds its own in the `schema.ts` of its storage folder.

import type { ColumnType } from "kysely";

// biome-ignore lint/suspicious/noEmptyInterface: parts merge their tables into it
export interface Schema {}

/** Set when a row is made: by the database when left out. */
export type Time = ColumnType<Date, Date | undefined, Date>;
