// Notes that the REST surface and a handler exchange beside the messages, as context values. Other surfaces set no notes.

import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { Fault } from "./fault.ts";

/** Facts about a REST request, and the handler's answer to it. */
export interface RestCallNotes {
  readonly httpMethod: string;
  /** Path and query as received. */
  readonly target: string;
  /** True when the cursor came in the header Last-Event-ID, which a browser sends by itself. */
  readonly isReconnect?: boolean;
  /** The body as received. */
  readonly rawBody?: Uint8Array;
  /** The problem of the body, for a handler that must look something up before it reports it. */
  readonly inputFault?: Fault;
  /** The HTTP status that the handler chose for its success. The method must declare it. */
  successStatus?: number;
  /** The name of the file that the handler answers with, for those who save it. */
  fileName?: string;
}

const notesKey = createContextKey<RestCallNotes | undefined>(undefined, { description: "REST call" });

/** Attaches the notes to a call. */
export function setRestCallNotes(values: ContextValues, notes: RestCallNotes): void {
  values.set(notesKey, notes);
}

/** Returns the notes of a call. Returns undefined on every other surface. */
export function restCallNotes(values: ContextValues): RestCallNotes | undefined {
  return values.get(notesKey);
}
