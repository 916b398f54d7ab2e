// Reads the public keys of the operator's authorization server (RFC 7517), over the guarded egress.

import { createGuardedFetch } from "../platform/egress/guarded-fetch.ts";
import type { Egress } from "../platform/egress/post.ts";

const bytesMax = 262_144;
const timeoutMs = 10_000;

/** Returns the text of a set of keys. Throws when its address answers without one in time. */
export async function readPublicKeys(url: string, egress: Pick<Egress, "open">): Promise<string> {
  const send = createGuardedFetch({
    ...{ what: "authorization server", url, egress, answerBytesMax: bytesMax, onBroken: () => {} },
    headers: { accept: "application/jwk-set+json, application/json" },
    headTimeoutMs: () => timeoutMs,
  });
  const response = await send(url, { signal: AbortSignal.timeout(timeoutMs) });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`the address of the public keys answered ${response.status}`);
  }
  return text;
}
