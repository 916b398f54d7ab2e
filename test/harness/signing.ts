// A caller that signs its requests, written from the documents alone and independent of the service's own code.

import { createHash, createHmac, randomBytes } from "node:crypto";

export interface SignedCall {
  readonly secret: string;
  readonly clientId?: string;
  readonly method?: string;
  /** Path and query. */
  readonly path: string;
  /** The body; over gRPC the message. */
  readonly body?: string | Uint8Array;
  readonly timestamp?: number;
  readonly nonce?: string;
}

type SignatureHeaders = Record<string, string>;

/** Signs as the Agent Runner document has it: the signature binds neither method, path nor client. */
export function signV1(call: SignedCall): SignatureHeaders {
  const { timestamp, nonce } = fresh(call);
  return headersOf(call, timestamp, nonce, Buffer.concat([Buffer.from(`${timestamp}.${nonce}.`), bodyOf(call)]));
}

/** Signs method, path, client and body. */
export function signV2(call: SignedCall): SignatureHeaders {
  const { timestamp, nonce } = fresh(call);
  const { method = "GET", path, clientId = "" } = call;
  const digest = createHash("sha256").update(bodyOf(call)).digest("hex");
  return headersOf(call, timestamp, nonce, ["v2", method, path, clientId, timestamp, nonce, digest].join("\n"));
}

function fresh({ timestamp, nonce }: SignedCall): { timestamp: string; nonce: string } {
  return {
    timestamp: String(timestamp ?? Math.floor(Date.now() / 1_000)),
    nonce: nonce ?? randomBytes(16).toString("hex"),
  };
}

function bodyOf({ body = "" }: SignedCall): Buffer {
  return Buffer.from(body as string);
}

function headersOf(call: SignedCall, timestamp: string, nonce: string, text: string | Uint8Array): SignatureHeaders {
  return {
    ...(call.clientId !== undefined && { "x-client-id": call.clientId }),
    "x-timestamp": timestamp,
    "x-nonce": nonce,
    "x-signature": `sha256=${createHmac("sha256", call.secret).update(text).digest("hex")}`,
  };
}
