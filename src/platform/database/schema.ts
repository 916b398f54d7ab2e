// The tables as Kysely sees them. Each part adds its own in the `schema.ts` of its storage folder.

import type { ColumnType } from "kysely";

// biome-ignore lint/suspicious/noEmptyInterface: parts merge their tables into it
export interface Schema {}

/** A time that the database sets on insert when it is omitted. */
export type Time = ColumnType<Date, Date | undefined, Date>;
