// The client that the benches call as: checking credentials is part of the work.

import { createHmac, randomBytes } from "node:crypto";

export const benchClient = "bench";
export const benchKey = "key-of-the-benches";
/** The token of the operator. */
export const adminToken = "admin-token-of-the-benches";
export const benchAuthorization = `Bearer ${benchKey}`;
export const bearerHeaders = { authorization: benchAuthorization };

/** Signs a body by the scheme of the Agent Runner document (v1). */
export function signHeaders(body: Uint8Array = new Uint8Array()): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const nonce = randomBytes(16).toString("hex");
  const mac = createHmac("sha256", benchKey).update(`${timestamp}.${nonce}.`).update(body).digest("hex");
  return { "x-client-id": benchClient, "x-timestamp": timestamp, "x-nonce": nonce, "x-signature": `sha256=${mac}` };
}
