// Counts the values of a body before anything is built from it, and says how many calls a body counts as. Both bound the work that
// one request can cause: a parser needs more time for a value than for a hundred bytes.

import type { DescMethod } from "@bufbuild/protobuf";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { envelopePrefixBytes, FirstEnvelope, isEnvelopedType } from "../../platform/base/envelope.ts";
import { Fault } from "../../platform/base/fault.ts";
import { scanJson } from "../../platform/base/json/scan.ts";
import { JsonTextError, jsonValuesMax } from "../../platform/base/json/text.ts";
import { MessageBytesError, scanMessage } from "../../platform/base/message-values.ts";
import { byTurns } from "../../platform/base/steps.ts";
import { messageBytesMax } from "../../platform/config/limits.ts";
import type { Request } from "./message.ts";

/** Who reads a body, and how. */
export type BodyReader =
  /** Nothing reads it. */
  | { readonly kind: "none" }
  /** A reader of JSON that has limits of its own for its values. With `takesPlainText` it takes a plain text as one value. */
  | { readonly kind: "text"; readonly takesPlainText: boolean }
  /** A reader of JSON without such limits. */
  | { readonly kind: "json" }
  /** A handler of connect, which parses a message in the encoding of the content type. */
  | { readonly kind: "message"; readonly method: DescMethod }
  /** A reader that takes the request itself, such as the handler of a stream of messages. */
  | { readonly kind: "request" };

/** For calls that read no body. */
export const noReader: BodyReader = { kind: "none" };
/** For surfaces that parse JSON by themselves. */
export const jsonReader: BodyReader = { kind: "json" };

const compressions = [compressionGzip, compressionBrotli];

/** A body counts as one more call for this many bytes: reading them takes as long as a small call. */
const bytesPerCall = 262_144;
/** And as one more call for this many values. */
const valuesPerCall = 4_096;
/** A body up to this size has fewer values: the smallest has a byte, and a comma or a tag before the next. */
const lightBytesMax = 2 * valuesPerCall;

/**
 * Whether a body is read and weighed before its reader is called. A small message of connect needs neither, unless it may be
 * compressed.
 */
export function isReadAhead({ headers }: Request, reader: BodyReader): boolean {
  switch (reader.kind) {
    case "none":
    case "request":
      return false;
    case "text":
    case "json":
      return true;
    case "message":
      return !(Number(headers["content-length"]) <= lightBytesMax) || encodingOf(headers) !== undefined;
    default:
      return reader satisfies never;
  }
}

/**
 * Whether these are enough to weigh a call of connect: of a small message and of one that claims to be too large its size,
 * otherwise the whole message. What follows is for connect, which answers an invalid message at once, also when the request never
 * ends.
 */
export function isEnoughToWeigh({ isCompressed, messageBytes, bytes }: FirstEnvelope): boolean {
  const isLight = messageBytes <= lightBytesMax && !isCompressed;
  return isLight || messageBytes > messageBytesMax || bytes >= envelopePrefixBytes + messageBytes;
}

/** Returns the compression that connect would undo: each protocol names it in a header of its own. */
function encodingOf(headers: Request["headers"]): string | undefined {
  const contentType = headers["content-type"] ?? "";
  const header = !isEnvelopedType(contentType)
    ? "content-encoding"
    : /^application\/grpc/i.test(contentType)
      ? "grpc-encoding"
      : "connect-content-encoding";
  const encoding = headers[header];
  return encoding === undefined || encoding === "identity" ? undefined : String(encoding);
}

/** Returns the number of calls that the bytes of a body count as, beside the one that each request is. */
export function callsOfBytes({ byteLength }: Buffer): number {
  return Math.floor(byteLength / bytesPerCall);
}

/**
 * Returns the number of calls that the content of a body counts as: its values, and the bytes that compression saved. Throws
 * Fault INVALID_ARGUMENT when its values are more or deeper than its reader may meet.
 */
export async function callsOfContent(body: Buffer, reader: BodyReader, { headers }: Request): Promise<number> {
  const contentType = headers["content-type"] ?? "";
  const encoding = encodingOf(headers);
  const isCounted = reader.kind === "message" || reader.kind === "json" || reader.kind === "text";
  if (!isCounted || (reader.kind !== "message" && encoding !== undefined)) {
    // Readers of text refuse a compressed body by its header.
    return 0;
  }
  const text = reader.kind === "message" ? await openMessage(body, contentType, encoding) : body;
  if (text === undefined || (text.byteLength <= lightBytesMax && reader.kind !== "json")) {
    return 0;
  }
  const values = await byTurns(countValues(text, reader, contentType));
  return Math.floor(values / valuesPerCall) + (encoding === undefined ? 0 : callsOfBytes(text));
}

function* countValues(text: Buffer, reader: BodyReader, contentType: string): Generator<void, number> {
  try {
    if (reader.kind === "message" && !/json\b/i.test(contentType)) {
      return yield* scanMessage(reader.method.input, text);
    }
    const isOneText = reader.kind === "text" && reader.takesPlainText && isPlainText(contentType);
    return isOneText ? 0 : yield* scanJson(text);
  } catch (error) {
    if (reader.kind === "text" && error instanceof JsonTextError) {
      return jsonValuesMax;
    }
    if (error instanceof JsonTextError || error instanceof MessageBytesError) {
      throw new Fault("INVALID_ARGUMENT", `invalid request body: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

function isPlainText(contentType: string): boolean {
  return /^text\/plain\b/i.test(contentType);
}

/**
 * Returns the message of a body without its envelope and compression. Undefined for a message that connect refuses because of
 * its size or its compression.
 */
async function openMessage(
  body: Buffer,
  contentType: string,
  encoding: string | undefined,
): Promise<Buffer | undefined> {
  if (!isEnvelopedType(contentType)) {
    return body.byteLength > messageBytesMax ? undefined : await open(body, encoding);
  }
  const envelope = new FirstEnvelope();
  envelope.add(body);
  if (envelope.messageBytes > messageBytesMax) {
    return undefined;
  }
  const message = body.subarray(envelopePrefixBytes, envelopePrefixBytes + envelope.messageBytes);
  return await open(message, envelope.isCompressed ? encoding : undefined);
}

async function open(bytes: Buffer, encoding: string | undefined): Promise<Buffer | undefined> {
  if (encoding === undefined) {
    return bytes;
  }
  const compression = compressions.find(({ name }) => name === encoding);
  try {
    const opened = await compression?.decompress(bytes, messageBytesMax);
    return opened && Buffer.from(opened.buffer, opened.byteOffset, opened.byteLength);
  } catch {
    return undefined;
  }
}
