// What the REST surface and a handler tell each other beside the messages, as context values: over other surfaces
// nothing of it is there.

import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { Fault } from "./fault.ts";

export interface RestCallNotes {
  readonly httpMethod: string;
  /** Path and query as they were received. */
  readonly target: string;
  /** The cursor came by the header Last-Event-ID, which a browser sends by itself. */
  readonly isReconnect?: boolean;
  /** The body as it was received. */
  readonly rawBody?: Uint8Array;
  /** What was wrong with the body, for a handler that has to look something up before it says so. */
  readonly inputFault?: Fault;
  /** The status that the handler chose for its success; it must be one that the method declares. */
  successStatus?: number;
}

const notesKey = createContextKey<RestCallNotes | undefined>(undefined, { description: "REST call" });

export function setRestCallNotes(values: ContextValues, notes: RestCallNotes): void {
  values.set(notesKey, notes);
}

/** Undefined over every other surface. */
export function restCallNotes(values: ContextValues): RestCallNotes | undefined {
  return values.get(notesKey);
}
