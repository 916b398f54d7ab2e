// Streams with many readers, as feeds: each result is encoded into the bytes of a response message once. Access, validation and
// errors are the same as in the handlers.

import { create, type DescMessage, type Message, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { ConnectError, type HandlerContext } from "@connectrpc/connect";
import { RunService, TailRunResponseSchema } from "#gen/runnel/v1/run_service_pb.js";
import type { LogEntry } from "../engine/log/result.ts";
import { assertAccess, isAdmitted } from "../platform/auth/caller.ts";
import type { Feed, FeedItem } from "../platform/base/feed.ts";
import { shared } from "../platform/base/shared.ts";
import { mapSink, type Sink } from "../platform/base/sink.ts";
import type { ServiceDeps } from "./deps.ts";
import { createErrorMapper } from "./faults.ts";
import { type MeasureDeps, MeasuredCall, transportOfProtocol } from "./measure.ts";
import { followRun } from "./run-service.ts";
import { assertValid } from "./validation.ts";

/** Returns the feed of `TailRun`. */
export function createRunFeed(deps: ServiceDeps): Feed {
  return createFeed(deps, {
    method: RunService.method.tailRun,
    isMergeable: true,
    follow: (request, context, sink) => followRun(deps, request, context, sink),
    toItem: (entry: LogEntry) => new EntryItem(entry),
  });
}

/** A TailRunResponse with one entry of a log. */
class EntryItem implements FeedItem {
  readonly #entry: LogEntry;
  #bytes: Uint8Array | undefined;

  constructor(entry: LogEntry) {
    this.#entry = entry;
  }

  /** The stored bytes, which stay as they are, in a response. */
  get bytes(): Uint8Array {
    this.#bytes ??= new BinaryWriter().tag(resultsField, WireType.LengthDelimited).bytes(this.#entry.bytes).finish();
    return this.#bytes;
  }

  get message(): Message {
    return create(TailRunResponseSchema, { results: [this.#entry.result] });
  }
}

const resultsField = TailRunResponseSchema.field.results.number;

/** An item of a stream whose source yields response messages. */
export class MessageItem<Desc extends DescMessage> implements FeedItem {
  readonly message: MessageShape<Desc>;
  readonly #desc: Desc;
  #bytes: Uint8Array | undefined;

  constructor(desc: Desc, message: MessageShape<Desc>) {
    this.#desc = desc;
    this.message = message;
  }

  get bytes(): Uint8Array {
    this.#bytes ??= toBinary(this.#desc, this.message);
    return this.#bytes;
  }
}

interface Source<Method extends Feed["method"], T extends object> extends Pick<Feed, "isMergeable"> {
  readonly method: Method;
  readonly follow: (
    request: MessageShape<Method["input"]>,
    context: HandlerContext,
    sink: Sink<readonly T[]> | undefined,
  ) => AsyncGenerator<readonly T[], void>;
  readonly toItem: (each: T) => FeedItem;
}

/** Returns a feed for a server-streaming method. `follow` is the source of its handler too. */
export function createFeed<Method extends Feed["method"], T extends object>(
  deps: MeasureDeps,
  source: Source<Method, T>,
): Feed {
  const { method, isMergeable, follow } = source;
  const toError = createErrorMapper(deps.events, []);
  const toItem = shared(source.toItem);
  const toItems = shared((batch: readonly T[]) => batch.map(toItem));
  return {
    method,
    isMergeable,
    admits: (values) => isAdmitted(values, method),
    open: async function* (request, context, sink) {
      const items = sink && mapSink(sink, toItems);
      const call = new MeasuredCall(deps, method, transportOfProtocol(context.protocolName));
      try {
        assertAccess(context.values, method);
        assertValid(method.input, request);
        for await (const batch of follow(request as MessageShape<Method["input"]>, context, items)) {
          call.read();
          yield toItems(batch);
        }
        call.end();
      } catch (error) {
        const { signal } = context;
        const failure = signal.aborted ? ConnectError.from(signal.reason) : toError(error, method);
        call.end(failure);
        throw failure;
      } finally {
        call.leave();
      }
    },
  };
}
