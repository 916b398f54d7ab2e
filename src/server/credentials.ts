// What of a request's headers and query matters for who sent it. Node joins or drops headers that come twice; for
// credentials that is no reading at all, so they are refused.

import { Fault } from "../base/fault.ts";
import type { Request } from "./rpc.ts";

export interface Credentials {
  readonly authorization: string | undefined;
  readonly clientId: string | undefined;
  readonly signature: string | undefined;
  readonly timestamp: string | undefined;
  readonly nonce: string | undefined;
}

/** Throws CREDENTIALS_AMBIGUOUS for a header that comes twice. An empty header counts as none. */
export function readCredentials(request: Request): Credentials {
  const read = (name: string): string | undefined => readSingle(request.rawHeaders, name);
  return {
    authorization: read("authorization"),
    clientId: read("x-client-id"),
    signature: read("x-signature"),
    timestamp: read("x-timestamp"),
    nonce: read("x-nonce"),
  };
}

/**
 * Takes the ticket out of the request's URL, so that it appears in no log and no route has to know of it. Undefined when
 * there is none.
 */
export function takeTicket(request: Request): string | undefined {
  const [path = "", query] = splitOnce(request.url ?? "", "?");
  if (query === undefined) {
    return undefined;
  }
  const parts = query.split("&");
  const tickets = parts.filter((part) => part.startsWith(ticketParameter));
  if (tickets.length === 0) {
    return undefined;
  }
  const rest = parts.filter((part) => !part.startsWith(ticketParameter)).join("&");
  request.url = rest === "" ? path : `${path}?${rest}`;
  if (tickets.length > 1) {
    throw new Fault("CREDENTIALS_AMBIGUOUS", "several credentials: ticket is given twice");
  }
  return tickets[0]?.slice(ticketParameter.length) ?? "";
}

const ticketParameter = "ticket=";

function readSingle(rawHeaders: readonly string[], name: string): string | undefined {
  let found: string | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== name) {
      continue;
    }
    if (found !== undefined) {
      throw new Fault("CREDENTIALS_AMBIGUOUS", `several credentials: ${name} is given twice`);
    }
    found = rawHeaders[at + 1] ?? "";
  }
  return found === "" ? undefined : found;
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
