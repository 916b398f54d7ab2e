// gRPC, gRPC-Web and Connect on Node's requests. The only file of the server that knows how to call connect's handlers.

import type { ServerResponse } from "node:http";
import type { ContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { type Clock, systemClock } from "../../platform/base/clock.ts";
import { untilCredentialEnds } from "../../platform/base/credential-end.ts";
import { setAnswerSink } from "../../platform/base/sink.ts";
import { openAnswerSink } from "./answer-sink.ts";
import { CallBody } from "./call-body.ts";
import { Disconnect } from "./disconnect.ts";
import type { Request, Response } from "./message.ts";

/** The context of an RPC, and the part of the body that was already read. */
export interface RpcCall {
  readonly contextValues: ContextValues;
  readonly body?: { readonly bytes: Uint8Array; readonly isWhole: boolean } | undefined;
  readonly clock?: Clock;
}

/** Returns the handlers by the exact path that calls them. */
export function createRpcTable(handlers: readonly UniversalHandler[]): ReadonlyMap<string, UniversalHandler> {
  return new Map(handlers.map((handler) => [handler.requestPath, handler]));
}

/** Answers a call. Rejects when the answer could not be written. */
export async function answerRpc(
  handler: UniversalHandler,
  request: Request,
  response: Response,
  call: RpcCall,
): Promise<void> {
  if (handler.method.methodKind === "unary") {
    await answerUnary(handler, request, response, call);
  } else {
    await answerStream(handler, request, response, call);
  }
}

/** Answers a unary call. The answer is complete before its first byte is written, and no handler waits for the write. */
async function answerUnary(
  handler: UniversalHandler,
  request: Request,
  response: Response,
  { contextValues, body, clock = systemClock }: RpcCall,
): Promise<void> {
  const disconnect = new Disconnect(request, response);
  const received = new CallBody(request);
  const answer = await handler({
    httpVersion: request.httpVersion,
    method: request.method ?? "",
    url: urlOf(request),
    header: headersOf(request),
    body: bodyOf(body, received),
    signal: disconnect.signal,
    contextValues,
  });
  const chunks = await readAll(answer.body);
  if (body?.isWhole !== true) {
    await settle(received, request, response, clock);
  }
  const { status, header, trailer } = withLegibleMessage(answer);
  // Both response types have this overload, but TypeScript finds no common one.
  (response as ServerResponse).writeHead(status, header && Object.fromEntries(header));
  if (trailer !== undefined) {
    response.addTrailers(Object.fromEntries(trailer));
  }
  disconnect.answered();
  const [first, second] = chunks;
  if (first === undefined) {
    response.end();
  } else {
    response.end(second === undefined ? first : Buffer.concat(chunks));
  }
}

async function answerStream(
  handler: UniversalHandler,
  request: Request,
  response: Response,
  { contextValues, body, clock = systemClock }: RpcCall,
): Promise<void> {
  setAnswerSink(contextValues, openAnswerSink(response));
  const plain = universalRequestFromNodeRequest(request, response, undefined, contextValues);
  const call = { ...plain, signal: untilCredentialEnds(contextValues, plain.signal) };
  const received = new CallBody(request);
  if (body?.isWhole === true) {
    await send(await handler({ ...call, body: bodyOf(body, received) }), response);
    return;
  }
  const answer = await begin(await handler({ ...call, body: bodyOf(body, received) }));
  await settle(received, request, response, clock);
  await send(answer, response);
}

async function settle(received: CallBody, request: Request, response: Response, clock: Clock): Promise<void> {
  const isSettled = await received.settle(clock);
  if (!isSettled && !("stream" in request)) {
    response.setHeader("connection", "close");
  }
}

function urlOf(request: Request): string {
  const scheme = "encrypted" in request.socket && request.socket.encrypted === true ? "https" : "http";
  const authority = "authority" in request ? request.authority : request.headers.host;
  return new URL(request.url ?? "", `${scheme}://${authority}`).toString();
}

/** Returns the headers without the pseudo-headers of HTTP/2. */
function headersOf({ headers }: Request): Headers {
  const read = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(":") || value === undefined) {
      continue;
    }
    for (const each of typeof value === "string" ? [value] : value) {
      read.append(name, each);
    }
  }
  return read;
}

async function readAll(body: UniversalServerResponse["body"]): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
  }
  return chunks;
}

/** Returns the body of a request: what was already read, and what follows. */
function bodyOf(read: RpcCall["body"], rest: CallBody): AsyncIterable<Uint8Array> {
  return read === undefined ? rest : continueWith(read, rest);
}

async function* continueWith({ bytes, isWhole }: NonNullable<RpcCall["body"]>, rest: CallBody) {
  yield bytes;
  if (!isWhole) {
    yield* rest;
  }
}

async function send(answer: UniversalServerResponse, response: Response): Promise<void> {
  await universalResponseToNodeResponse(withLegibleMessage(answer), response);
}

/**
 * Returns the same answer once its first chunk is ready or has failed: by then the handler has read the request as far as it
 * wants.
 */
async function begin(answer: UniversalServerResponse): Promise<UniversalServerResponse> {
  const source = answer.body?.[Symbol.asyncIterator]();
  if (source === undefined) {
    return answer;
  }
  let first: Promise<IteratorResult<Uint8Array>> | undefined = source.next();
  await first.catch(() => {});
  const iterator: AsyncIterator<Uint8Array> = {
    next: () => {
      const next = first ?? source.next();
      first = undefined;
      return next;
    },
    ...(source.return && { return: source.return.bind(source) }),
    ...(source.throw && { throw: source.throw.bind(source) }),
  };
  return { ...answer, body: { [Symbol.asyncIterator]: () => iterator } };
}

/**
 * Escapes error texts as gRPC does. Connect escapes punctuation too, and grpc-js would show `%3A` for a colon. The trailer is
 * filled while the body is sent, so it is read only on access.
 */
function withLegibleMessage(answer: UniversalServerResponse): UniversalServerResponse {
  const { trailer } = answer;
  if (trailer === undefined) {
    return answer;
  }
  return {
    ...answer,
    get trailer() {
      const message = trailer.get("grpc-message");
      if (message === null) {
        return trailer;
      }
      const legible = new Headers(trailer);
      legible.set("grpc-message", encodeURI(decodeURIComponent(message)));
      return legible;
    },
  };
}
