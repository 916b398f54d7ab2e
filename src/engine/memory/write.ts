// Writes of memory. One transaction reads the entry, checks its version and the limits, and writes, under a lock of the memory. So of two
// writers that expect the same version one succeeds, and no two of them exceed a limit together.

import type { Transaction } from "../../platform/database/database.ts";
import {
  deleteStateValue,
  findStateValue,
  lockStateOwner,
  readStateTotals,
  type StateEntry,
  setStateValue,
} from "../storage/state-value.ts";
import type { Memory } from "./owner.ts";

/** The maximum bytes of a value: a note, not a document. Documents belong to files. */
export const memoryValueBytesMax = 65_536;
/** The maximum number of entries of a memory. */
export const memoryKeysMax = 1_000;
/** The maximum bytes of all values of a memory. It bounds what a search reads. */
const memoryBytesMax = 2 * 1_048_576;

/** A write of one entry. */
export interface MemoryWrite {
  readonly memory: Memory;
  readonly key: string;
  /** JSON; undefined deletes the entry. */
  readonly value: string | undefined;
  /** The version that the entry must have; 0 means that it must not exist. Undefined writes in any case. */
  readonly ifVersion: number | undefined;
}

/** The outcome of a write. Only `written` and `deleted` have changed something. */
export type MemoryWritten =
  | { readonly kind: "written"; readonly entry: StateEntry }
  | { readonly kind: "deleted" }
  | { readonly kind: "missing" }
  /** The entry has another version than expected; 0 when it does not exist. */
  | { readonly kind: "changed"; readonly version: number }
  /** `why` continues "the memory is full: …". */
  | { readonly kind: "full"; readonly why: string };

/** Writes an entry with a valid key and a valid value. */
export async function writeMemory(
  trx: Transaction,
  { memory, key, value, ifVersion }: MemoryWrite,
): Promise<MemoryWritten> {
  const { owner, client, session } = memory;
  await lockStateOwner(trx, owner);
  const current = await findStateValue(trx, { owner, key });
  const version = current?.version ?? 0;
  if (ifVersion !== undefined && ifVersion !== version) {
    return { kind: "changed", version };
  }
  if (value === undefined) {
    return (await deleteStateValue(trx, { owner, key })) ? { kind: "deleted" } : { kind: "missing" };
  }
  const why = whyFull(await readStateTotals(trx, owner), current?.value, value);
  return why === undefined
    ? { kind: "written", entry: await setStateValue(trx, { owner, key, client, value, session: session ?? null }) }
    : { kind: "full", why };
}

/** A write that does not grow a memory succeeds also in a full one. */
function whyFull(
  { keys, bytes }: { readonly keys: number; readonly bytes: number },
  current: string | undefined,
  value: string,
): string | undefined {
  if (current === undefined && keys >= memoryKeysMax) {
    return `it has ${keys} entries, the maximum: delete some first`;
  }
  const growth = Buffer.byteLength(value) - (current === undefined ? 0 : Buffer.byteLength(current));
  return growth > 0 && bytes + growth > memoryBytesMax
    ? `it would have ${bytes + growth} bytes, maximum ${memoryBytesMax}: delete or shorten entries first`
    : undefined;
}
