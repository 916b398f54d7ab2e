// Metrics of calls for operators: how many, how they end, how long they take, and how many readers follow streams. Calls of
// handlers and feeds count the same way. The interceptor is the outermost, so it sees what the caller gets.

import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { Access } from "#gen/runnel/options/v1/options_pb.js";
import { accessOf } from "../platform/base/access.ts";
import type { Clock } from "../platform/base/clock.ts";
import { restCallNotes } from "../platform/base/rest-call.ts";
import { callCodeName } from "../platform/telemetry/call-code.ts";
import type { Events } from "../platform/telemetry/events.ts";

/** The dependencies of the measurement. */
export interface MeasureDeps {
  readonly clock: Clock;
  readonly events: Events;
}

/** The transport of a call, as a metric label. */
export type Transport = "grpc" | "grpc_web" | "connect" | "sse";

/** Returns the interceptor that counts every call. */
export function createMeasureInterceptor(deps: MeasureDeps): Interceptor {
  return (next) => async (request) => {
    const { method, contextValues, header, signal } = request;
    const isRest = restCallNotes(contextValues) !== undefined;
    const call = new MeasuredCall(deps, method, isRest ? "sse" : transportOf(header.get("content-type") ?? ""));
    try {
      const response = await next(request);
      if (!response.stream) {
        call.end();
        return response;
      }
      // A stream that is never read ends with its signal.
      signal.addEventListener("abort", () => call.end(signal.reason), { once: true });
      return { ...response, message: measureMessages(response.message, call) };
    } catch (error) {
      call.end(error);
      throw error;
    }
  };
}

/**
 * Counts a call that the access check refused (ACCESS_DENIED). Admission has already counted callers with invalid credentials.
 */
export function countRefusal(events: Events, { parent, name }: DescMethod, refusal: ConnectError): void {
  if (reasonOf(refusal) === "ACCESS_DENIED") {
    events.callRefused({ service: parent.typeName, method: name, code: callCodeName(refusal.code) });
  }
}

/** Returns the transport by the protocol name in a handler's context. */
export function transportOfProtocol(protocolName: string): Transport {
  switch (protocolName) {
    case "grpc":
      return "grpc";
    case "grpc-web":
      return "grpc_web";
    case "rest":
      return "sse";
    default:
      return "connect";
  }
}

/** Measures one call from its start to its end. Only the first end counts. */
export class MeasuredCall {
  readonly #deps: MeasureDeps;
  readonly #method: DescMethod;
  readonly #transport: Transport;
  readonly #startedMs: number;
  #isRead = false;
  #isOver = false;

  constructor(deps: MeasureDeps, method: DescMethod, transport: Transport) {
    this.#deps = deps;
    this.#method = method;
    this.#transport = transport;
    this.#startedMs = deps.clock.monotonicMs();
    deps.events.callStarted({ service: method.parent.typeName, method: method.name });
  }

  /** Records that a stream was admitted: from now on it has a reader. Without effect on later calls. */
  read(): void {
    if (!this.#isRead && !this.#isOver && accessOf(this.#method) === Access.READER) {
      this.#isRead = true;
      this.#deps.events.readerJoined({ transport: this.#transport });
    }
  }

  /** Records the end of the call, and the error that it ended with. */
  end(error?: unknown): void {
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    const { clock, events } = this.#deps;
    const failure = error === undefined ? undefined : ConnectError.from(error);
    events.callFinished({
      service: this.#method.parent.typeName,
      method: this.#method.name,
      code: callCodeName(failure?.code),
      durationMs: clock.monotonicMs() - this.#startedMs,
    });
    if (this.#isRead) {
      events.readerLeft({ transport: this.#transport });
      const reason = failure && reasonOf(failure);
      // A reader that left, or whose deadline expired, has an error without a fault reason.
      if (reason !== undefined) {
        events.readerDropped({ reason });
      }
    }
  }

  /** Ends a stream whose reader stopped reading. Without effect on a stream that is over. */
  leave(): void {
    if (!this.#isOver) {
      this.end(new ConnectError("the reader left", Code.Canceled));
    }
  }
}

async function* measureMessages<T>(messages: AsyncIterable<T>, call: MeasuredCall): AsyncGenerator<T> {
  try {
    for await (const message of messages) {
      call.read();
      yield message;
    }
    call.end();
  } catch (error) {
    call.end(error);
    throw error;
  } finally {
    call.leave();
  }
}

function transportOf(contentType: string): Transport {
  if (contentType.startsWith("application/grpc-web")) {
    return "grpc_web";
  }
  return contentType.startsWith("application/grpc") ? "grpc" : "connect";
}

/** Returns the reason of a fault; undefined for other errors. */
function reasonOf(error: ConnectError): string | undefined {
  return error.findDetails(ErrorInfoSchema)[0]?.reason;
}
