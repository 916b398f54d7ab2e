// Who is calling. Established once, in the server, over the raw request, and carried as a context value; handlers never
// read headers. Without a caller there is no access.

import { type ContextValues, createContextKey } from "@connectrpc/connect";
import { Fault } from "../base/fault.ts";

export interface Caller {
  /** The tenant that every row carries: realm and id. */
  readonly client: string;
}

const callerKey = createContextKey<Caller | undefined>(undefined, { description: "who is calling" });

export function setCaller(values: ContextValues, caller: Caller): void {
  values.set(callerKey, caller);
}

export function requireCaller(values: ContextValues): Caller {
  const caller = values.get(callerKey);
  if (caller === undefined) {
    throw new Fault("INTERNAL", "a call arrived without a caller");
  }
  return caller;
}

/** Any id is believed here, so such ids have a realm of their own: they never equal a client that has proved who it is. */
export function sharedCaller(id: string): Caller {
  return { client: `shared/${id}` };
}
