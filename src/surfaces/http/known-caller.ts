// Tells whether a caller of a route that needs no credentials has valid ones all the same.

import { type AdmissionOptions, admit } from "./admission.ts";
import { noReader } from "./body-weight.ts";
import type { Request } from "./message.ts";

/**
 * Whether a request has the valid bearer token or signature of a client or of the operator. Never rejects. A failed attempt counts
 * as on every route, and a request without credentials queries nothing.
 */
export async function isKnownCaller(request: Request, options: AdmissionOptions): Promise<boolean> {
  const { authorization, "x-signature": signature } = request.headers;
  if (authorization === undefined && signature === undefined) {
    return false;
  }
  const rules = {
    isPublic: false,
    bodyBytesMax: 0,
    reader: noReader,
    takesTicket: false,
    keyHeader: undefined,
    needsAdmin: false,
    isFrequent: true,
  };
  try {
    const { admission } = await admit(request, rules, options);
    // A ticket opens one stream, and the token of a run reaches its run alone.
    return "caller" in admission && (admission.caller.kind === "client" || admission.caller.kind === "admin");
  } catch {
    return false;
  }
}
