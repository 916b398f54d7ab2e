// Signs what the service sends to its callers, by the rule and with the secrets that they sign with themselves (v1 of the
// Agent Runner document). A signature is good once: every attempt needs its own.

import { createHmac } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { newNonce } from "../base/ids.ts";
import type { KeyRing } from "./key-ring.ts";

/** Headers that prove to a client that the body comes from this service. */
export type SignRequest = (client: string, body: string) => Readonly<Record<string, string>>;

export interface SignRequestOptions {
  readonly keyRing: Pick<KeyRing, "findCallbackSecret">;
  readonly clock: Clock;
}

/** Without a secret nothing is signed; whether such a request may be sent at all is not decided here. */
export function createSignRequest({ keyRing, clock }: SignRequestOptions): SignRequest {
  return (client, body) => {
    const timestamp = String(Math.floor(clock.nowMs() / 1_000));
    const nonce = newNonce();
    const secret = keyRing.findCallbackSecret(client);
    const headers = { "x-timestamp": timestamp, "x-nonce": nonce };
    if (secret === undefined) {
      return headers;
    }
    const mac = createHmac("sha256", secret).update(`${timestamp}.${nonce}.${body}`).digest("hex");
    return { ...headers, "x-signature": `sha256=${mac}` };
  };
}
