// Refuses requests that are no message of their type: invalid bytes, damaged compression, an invalid envelope. Connect calls them
// internal errors, but the caller sent them: they answer INVALID_ARGUMENT. A second message of a call that takes one is refused
// before connect reads it: only the first was weighed.
//
// U1  A stream's request is read behind the interceptors, so one of them converts the error.
// U2  A unary request is read before the interceptors. Its handler is called again then, and the gate, which runs before the
//     request is read, refuses the second call: so each protocol writes the refusal in its own form.

import type { DescMethod } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createContextKey,
  type HandlerContext,
  type Interceptor,
  type StreamRequest,
} from "@connectrpc/connect";
import type { Compression, UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { compressedFlag, FirstEnvelope, isEnvelopedType } from "../platform/base/envelope.ts";
import { Fault } from "../platform/base/fault.ts";
import type { ErrorMapper } from "./faults.ts";

/** How far a unary call has come. */
interface Reading {
  signal: AbortSignal | undefined;
  isRead: boolean;
  refusal: ConnectError | undefined;
}

const readingKey = createContextKey<Reading | undefined>(undefined, { description: "reading of the request" });

/** Notes that the gate has admitted a call. Throws its refusal when its request was unreadable. */
export function passGate({ values, signal }: HandlerContext): void {
  const reading = values.get(readingKey);
  if (reading?.refusal !== undefined) {
    throw reading.refusal;
  }
  if (reading !== undefined) {
    reading.signal = signal;
  }
}

/** Returns the interceptor that notes that a unary request was read, and converts the errors of reading a stream's request. */
export function createReadingInterceptor(): Interceptor {
  return (next) => (request) => {
    if (request.stream) {
      return next({ ...request, message: convertErrors(request) });
    }
    const reading = request.contextValues.get(readingKey);
    if (reading !== undefined) {
      reading.isRead = true;
    }
    return next(request);
  };
}

async function* convertErrors({ message, method }: StreamRequest): StreamRequest["message"] {
  try {
    yield* message;
  } catch (error) {
    throw convert(error, method);
  }
}

/** Returns the same handler, which refuses unreadable requests as the caller's errors. */
export function refuseUnreadable(handler: UniversalHandler, toError: ErrorMapper): UniversalHandler {
  const { method, service, protocolNames, requestPath, allowedMethods, supportedContentType } = handler;
  const handleUnary = async (request: UniversalServerRequest): ReturnType<UniversalHandler> => {
    const { contextValues } = request;
    const reading: Reading = { signal: undefined, isRead: false, refusal: undefined };
    contextValues?.set(readingKey, reading);
    const answer = await handler({ ...request, body: checkEnvelope(request, method) });
    const { signal, isRead } = reading;
    // A caller that left gets no answer.
    if (isRead || signal === undefined || request.signal.aborted) {
      return answer;
    }
    // The message of a GET is in its URL, and its Base64 may be invalid.
    const isInUrl = request.method === "GET" && !(signal.reason instanceof Fault);
    const fault = convert(isInUrl ? ConnectError.from(signal.reason, Code.Internal) : signal.reason, method);
    if (!(fault instanceof Fault)) {
      return answer;
    }
    reading.refusal = toError(fault, method);
    return await handler({ ...request, body: nothing() });
  };
  const handle =
    method.methodKind === "unary"
      ? handleUnary
      : (request: UniversalServerRequest) => handler({ ...request, body: checkEnvelope(request, method) });
  return Object.assign(handle, {
    method,
    service,
    protocolNames,
    requestPath,
    allowedMethods,
    supportedContentType,
  });
}

/** Returns the fault of a request that connect could not read; any other error as it is. */
function convert(error: unknown, { input }: DescMethod): unknown {
  if (!(error instanceof ConnectError) || error.code !== Code.Internal) {
    return error;
  }
  const detail = error.rawMessage.replace(/^parse binary: /, "");
  return new Fault("INVALID_ARGUMENT", `the body is not a valid ${input.typeName} message: ${detail}`);
}

/** Returns the same compression, which calls damaged data a fault of the caller. */
export function refuseDamaged(compression: Compression): Compression {
  const { name, compress } = compression;
  return {
    name,
    compress,
    decompress: async (bytes, readMaxBytes) => {
      try {
        return await compression.decompress(bytes, readMaxBytes);
      } catch (error) {
        throw ConnectError.from(error).code === Code.ResourceExhausted
          ? error
          : new Fault("INVALID_ARGUMENT", `the body is not valid ${name} data: send it whole, or without compression`);
      }
    },
  };
}

/** Returns the body of a request, whose first envelope is checked as it passes. */
function checkEnvelope({ body, header }: UniversalServerRequest, method: DescMethod): UniversalServerRequest["body"] {
  const isEnveloped = isEnvelopedType(header.get("content-type") ?? "");
  if (!isEnveloped || typeof body !== "object" || body === null || !(Symbol.asyncIterator in body)) {
    return body;
  }
  return { [Symbol.asyncIterator]: () => checkChunks(body[Symbol.asyncIterator](), method) };
}

/** Written by hand: a generator would cost each chunk of each call. */
function checkChunks(source: AsyncIterator<Uint8Array>, method: DescMethod): AsyncIterator<Uint8Array> {
  const envelope = new FirstEnvelope();
  const check = (next: IteratorResult<Uint8Array>): IteratorResult<Uint8Array> => {
    if (next.done !== true) {
      envelope.add(next.value);
      assertKnownFlags(envelope);
      assertAlone(envelope, method);
    }
    return next;
  };
  return {
    next: () => source.next().then(check),
    ...(source.return && { return: source.return.bind(source) }),
    ...(source.throw && { throw: source.throw.bind(source) }),
  };
}

/** Throws for flags that connect would ignore. */
function assertKnownFlags({ flags }: FirstEnvelope): void {
  if (flags > compressedFlag) {
    throw new Fault(
      "INVALID_ARGUMENT",
      `the body is not a valid envelope: its first byte is ${flags}, and only 0 and 1 (compressed) are known`,
    );
  }
}

/** Throws the error of connect for a second message, which connect would read first. */
function assertAlone({ isFollowed }: FirstEnvelope, { methodKind }: DescMethod): void {
  if (isFollowed && (methodKind === "unary" || methodKind === "server_streaming")) {
    const kind = methodKind.replace("_", "-");
    throw new ConnectError(`protocol error: received extra input message for ${kind} method`, Code.Unimplemented);
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
