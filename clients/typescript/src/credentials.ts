// Credentials of calls: an API key or a ticket as a bearer token, or a signature of version 2 over each attempt.

import { type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { encodeText, hmacSha256, sha256, toHex } from "./crypto.ts";

/** The credentials of the caller. An empty object sends none; `runnel dev` admits every caller of its machine. */
export type Credentials =
  | { readonly apiKey?: string | undefined }
  /** Opens one stream: that of its run or session. */
  | { readonly ticket: string }
  | { readonly clientId: string; readonly secret: string };

/** Adds the credentials to each attempt. */
export function createAuthorizer(credentials: Credentials): Interceptor {
  if ("secret" in credentials) {
    return createSigner(credentials.clientId, credentials.secret);
  }
  const token = "ticket" in credentials ? credentials.ticket : credentials.apiKey;
  return (next) => async (request) => {
    if (token) {
      request.header.set("authorization", `Bearer ${token}`);
    }
    return await next(request);
  };
}

/** Signs each attempt anew, since a nonce works once. The signature covers the one message of a request. */
function createSigner(clientId: string, secret: string): Interceptor {
  return (next) => async (request) => {
    const messages = request.stream ? await Array.fromAsync(request.message) : [request.message];
    const [message] = messages;
    const bytes = message === undefined ? new Uint8Array() : encode(request.method.input, message);
    const { pathname, search } = new URL(request.url);
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const nonce = crypto.randomUUID();
    const digest = toHex(await sha256(bytes));
    const text = ["v2", request.requestMethod, `${pathname}${search}`, clientId, timestamp, nonce, digest].join("\n");
    request.header.set("x-client-id", clientId);
    request.header.set("x-timestamp", timestamp);
    request.header.set("x-nonce", nonce);
    request.header.set("x-signature", `sha256=${toHex(await hmacSha256(secret, encodeText(text)))}`);
    return await next(request.stream ? { ...request, message: each(messages) } : request);
  };
}

function encode<Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>): Uint8Array<ArrayBuffer> {
  return toBinary(desc, message);
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T, void> {
  yield* items;
}
