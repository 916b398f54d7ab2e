// Calls a method of the router in process, like a Connect client over a socket: Protobuf bytes in, Protobuf bytes out, failures
// as ConnectError. So interceptors, access checks, validation and deadlines are the same as on every other surface. The only
// file that knows the shape of UniversalHandler, which connect may change.

import type { IncomingHttpHeaders } from "node:http";
import { Code, ConnectError, type ContextValues } from "@connectrpc/connect";
import { encodeEnvelope, type UniversalHandler, type UniversalServerResponse } from "@connectrpc/connect/protocol";
import { endStreamFlag, endStreamFromJson, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { Fault } from "../../platform/base/fault.ts";

/** The HTTP context of a call. */
export interface CallOptions {
  readonly httpVersion: string;
  readonly headers: IncomingHttpHeaders;
  readonly signal: AbortSignal;
  readonly contextValues?: ContextValues | undefined;
}

/** The answer of a unary call: headers and Protobuf bytes. */
export interface UnaryAnswer {
  readonly headers: Record<string, string>;
  readonly message: Uint8Array;
}

/** The answer of a streaming call. */
export interface StreamAnswer {
  readonly headers: Record<string, string>;
  /** The messages as Protobuf bytes. Throws the ConnectError that the stream ended with. */
  readonly messages: AsyncGenerator<Uint8Array, void>;
}

/** Calls a unary method. Throws the ConnectError of the call. */
export async function callUnary(
  handler: UniversalHandler,
  message: Uint8Array,
  options: CallOptions,
): Promise<UnaryAnswer> {
  const response = await send(handler, "application/proto", message, options);
  const body = await readAll(response.body);
  if (response.status !== 200) {
    throw errorFromJsonBytes(body, undefined, new ConnectError("internal error", Code.Internal));
  }
  return { headers: copyResponseHeaders(response.header), message: body };
}

/** Calls a server-streaming method. Throws Fault INTERNAL when the handler breaks the protocol. */
export async function callStream(
  handler: UniversalHandler,
  message: Uint8Array,
  options: CallOptions,
): Promise<StreamAnswer> {
  const response = await send(handler, "application/connect+proto", encodeEnvelope(0, message), options);
  if (response.status !== 200 || response.body === undefined) {
    throw protocolError(`status ${response.status} of a stream`);
  }
  return { headers: copyResponseHeaders(response.header), messages: readMessages(response.body) };
}

// Headers about the REST message or its connection, not about the call. Every other header may matter to a handler.
const droppedRequestHeaders =
  /^(?::.*|content-.*|connect-(?!timeout-ms$).*|(?:transfer|accept)-encoding|connection|keep-alive|te|trailer|upgrade|expect|http2-settings|proxy-connection)$/;
const droppedResponseHeaders = /^(?:content-.*|connect-.*|trailer-.*|transfer-encoding|connection|keep-alive)$/;

/** A UniversalHandler requires an absolute URL; nothing listens at this origin. */
const inProcessOrigin = "http://localhost";

const envelopePrefixBytes = 5;

async function send(
  handler: UniversalHandler,
  contentType: string,
  body: Uint8Array,
  { httpVersion, headers, signal, contextValues }: CallOptions,
): Promise<UniversalServerResponse> {
  const header = copyRequestHeaders(headers);
  header.set("content-type", contentType);
  header.set("connect-protocol-version", "1");
  return await handler({
    httpVersion,
    method: "POST",
    url: `${inProcessOrigin}${handler.requestPath}`,
    header,
    body: once(body),
    signal,
    ...(contextValues === undefined ? {} : { contextValues }),
  });
}

/** Returns the headers without those about the REST message or its connection. */
export function copyRequestHeaders(headers: IncomingHttpHeaders): Headers {
  const copy = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || droppedRequestHeaders.test(name)) {
      continue;
    }
    for (const each of Array.isArray(value) ? value : [value]) {
      copy.append(name, each);
    }
  }
  return copy;
}

function copyResponseHeaders(header: Headers | undefined): Record<string, string> {
  return Object.fromEntries([...(header ?? [])].filter(([name]) => !droppedResponseHeaders.test(name)));
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function readAll(body: AsyncIterable<Uint8Array> | undefined): Promise<Uint8Array> {
  return Buffer.concat(body === undefined ? [] : await Array.fromAsync(body));
}

async function* readMessages(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let buffered: Uint8Array = new Uint8Array(0);
  for await (const chunk of body) {
    buffered = buffered.byteLength === 0 ? chunk : Buffer.concat([buffered, chunk]);
    for (let size = envelopeSize(buffered); size <= buffered.byteLength; size = envelopeSize(buffered)) {
      const flags = buffered[0] ?? 0;
      const data = buffered.subarray(envelopePrefixBytes, size);
      buffered = buffered.subarray(size);
      if ((flags & endStreamFlag) !== 0) {
        const { error } = endStreamFromJson(data);
        if (error !== undefined) {
          throw error;
        }
        return;
      }
      if (flags !== 0) {
        throw protocolError(`an envelope has flags ${flags}`);
      }
      yield data;
    }
  }
  throw protocolError("the stream ended without its end message");
}

/** Returns the size of the first envelope with its prefix; Infinity while the prefix is incomplete. */
function envelopeSize(bytes: Uint8Array): number {
  if (bytes.byteLength < envelopePrefixBytes) {
    return Number.POSITIVE_INFINITY;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return envelopePrefixBytes + view.getUint32(1);
}

/** Returns the fault of a handler that broke the protocol. The text is for the log; the caller sees an internal error. */
function protocolError(problem: string): Fault {
  return new Fault("INTERNAL", "internal error", { cause: new Error(`in-process call: ${problem}`) });
}
