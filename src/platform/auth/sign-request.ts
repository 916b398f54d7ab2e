// Signs the requests that the service sends to clients, with the rule and the secrets that clients use themselves (v1 of the
// Agent Runner document). A signature is valid once: every attempt needs a new one. The prefix of its nonce makes it invalid as
// a request to the service.

import { createHmac } from "node:crypto";
import { channel } from "node:diagnostics_channel";
import type { Clock } from "../base/clock.ts";
import { newNonce } from "../base/ids.ts";
import type { KeyRing } from "./key-ring.ts";
import { ownNoncePrefix } from "./signature.ts";

/** Returns the headers that prove to a client that the body comes from this service. */
export type SignRequest = (client: string, body: string) => Readonly<Record<string, string>>;

/** Dependencies of the signer. */
export interface SignRequestOptions {
  readonly keyRing: Pick<KeyRing, "findCallbackSecret">;
  readonly clock: Clock;
}

/** Returns a signer. Without a secret it signs nothing; the caller decides whether an unsigned request may be sent. */
export function createSignRequest({ keyRing, clock }: SignRequestOptions): SignRequest {
  return (client, body) => {
    const timestamp = String(Math.floor(clock.nowMs() / 1_000));
    const nonce = `${ownNoncePrefix}${newNonce()}`;
    const secret = keyRing.findCallbackSecret(client);
    const headers = { "x-timestamp": timestamp, "x-nonce": nonce };
    if (secret === undefined) {
      return headers;
    }
    const mac = createHmac("sha256", secret).update(`${timestamp}.${nonce}.${body}`).digest("hex");
    const signed = { ...headers, "x-signature": `sha256=${mac}` };
    if (signedRequests.hasSubscribers) {
      signedRequests.publish({ client, body, headers: signed });
    }
    return signed;
  };
}

/** Publishes each signed request. Tests collect them, and try each of them as a credential. */
const signedRequests = channel("runnel:request.signed");
