// Reads credentials from the headers and the query of a request. Node joins or drops repeated headers; repeated credentials are
// refused as ambiguous.

import { Fault } from "../../platform/base/fault.ts";
import type { Request } from "./message.ts";

/** The credential headers of a request. Undefined means missing or empty. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly clientId: string | undefined;
  readonly signature: string | undefined;
  readonly timestamp: string | undefined;
  readonly nonce: string | undefined;
}

/**
 * Reads the credential headers. An empty header counts as missing. A key in `keyHeader` is read as a bearer token. Throws Fault
 * CREDENTIALS_AMBIGUOUS for a repeated header.
 */
export function readCredentials(request: Request, keyHeader?: string): Credentials {
  const read = (name: string): string | undefined => readSingle(request.rawHeaders, name);
  const key = keyHeader === undefined ? undefined : read(keyHeader);
  return {
    authorization: key === undefined ? read("authorization") : `Bearer ${key}`,
    clientId: read("x-client-id"),
    signature: read("x-signature"),
    timestamp: read("x-timestamp"),
    nonce: read("x-nonce"),
  };
}

/** Returns the client id that the caller claims. Undefined when the header is missing, empty or repeated. */
export function readClientId(request: Request): string | undefined {
  const ids = readAll(request.rawHeaders, "x-client-id");
  return ids.length === 1 ? ids[0] || undefined : undefined;
}

/**
 * Removes the ticket from the request's URL and returns it, so that no log contains it and no route has to know of it. Returns
 * undefined when the query has no ticket. Throws Fault CREDENTIALS_AMBIGUOUS for two tickets.
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
  const values = readAll(rawHeaders, name);
  if (values.length > 1) {
    throw new Fault("CREDENTIALS_AMBIGUOUS", `several credentials: ${name} is given twice`);
  }
  return values[0] || undefined;
}

function readAll(rawHeaders: readonly string[], name: string): readonly string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
