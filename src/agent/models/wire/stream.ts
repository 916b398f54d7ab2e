// Streams one response of a model whose events we read ourselves. It is the same for every format: a format builds its request and
// reads its events.

import type { IncomingMessage } from "node:http";
import type { Clock } from "../../../platform/base/clock.ts";
import type { ModelFailure, ModelPart, ModelRequest } from "../model.ts";
import { EventStream } from "./events.ts";
import { describeCut, findFailure, hideKey } from "./failures.ts";
import { joinTexts, splitTexts } from "./join.ts";
import type { SkippedFrames } from "./skipped.ts";

/** Reads the events of one response. */
export interface ResponseReader {
  /** True after the event that ends the response; later events are not read. Undefined for formats without such an event. */
  readonly isOver?: boolean;
  /** What the reader has skipped. */
  readonly skipped: SkippedFrames;
  /** Returns the parts of one event, given its data and its name. It is not called again after a failure. */
  read(data: string, event?: string): readonly ModelPart[];
  /**
   * Returns the calls and then exactly one finish or failure, after the last event. `isMarked` tells that the server marked the end
   * by `[DONE]`.
   */
  end(isMarked: boolean): readonly ModelPart[];
}

/** How a format answers one request. */
export interface ResponseStream {
  readonly account: { readonly name: string; readonly apiKey: string; readonly clock: Clock };
  /** Sends the request and returns the response once it has proved to be a stream. */
  readonly post: () => Promise<IncomingMessage>;
  readonly reader: ResponseReader;
}

/** Streams a response. Ends without a finish or failure when the signal aborts. */
export async function* streamResponse(
  { account, post, reader }: ResponseStream,
  { isPiecewise, takePart }: Pick<ModelRequest, "isPiecewise" | "takePart">,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  if (signal.aborted) {
    return;
  }
  const { name, apiKey, clock } = account;
  const join = (parts: readonly ModelPart[]): readonly ModelPart[] =>
    isPiecewise === true ? splitTexts(parts) : joinTexts(splitTexts(parts));
  let spoke = false;
  const offer = (parts: readonly ModelPart[]): readonly ModelPart[] =>
    spoke && !signal.aborted ? giveParts(join(parts), takePart) : parts;
  try {
    const response = await post();
    using events: EventStream<ModelPart> = new EventStream(response, {
      provider: name,
      clock,
      read: (data, event) => reader.read(data, event),
      isLast: () => reader.isOver === true,
      offer,
    });
    for (let parts = await events.next(); parts !== undefined; parts = await events.next()) {
      for (const part of join(parts)) {
        if (signal.aborted) {
          return;
        }
        yield hideKey(apiKey, withSkipped(part, reader));
        if (part.type === "failure") {
          return;
        }
        spoke ||= part.type === "text" || part.type === "reasoning";
      }
    }
    yield* signal.aborted ? [] : reader.end(events.isMarked).map((part) => hideKey(apiKey, withSkipped(part, reader)));
  } catch (error) {
    if (!signal.aborted) {
      yield hideKey(apiKey, describeTrouble(name, error));
    }
  }
}

/** The last part of a response says what was skipped. */
function withSkipped(part: ModelPart, { skipped }: ResponseReader): ModelPart {
  return part.type === "finish" || part.type === "failure" ? { ...part, skipped: skipped.all() } : part;
}

/** Gives parts to the caller without a pull. Returns the parts from the first one on that it has not taken. */
function giveParts(parts: readonly ModelPart[], take: ModelRequest["takePart"]): readonly ModelPart[] {
  const refused = parts.findIndex((part) => take?.(part) !== true);
  return refused === -1 ? [] : parts.slice(refused);
}

/** Describes an error of the connection, which carries a code. Any other error is a defect of ours and is rethrown. */
function describeTrouble(provider: string, error: unknown): ModelFailure {
  const failure = findFailure(error);
  if (failure === undefined && !(error instanceof Error && "code" in error)) {
    throw error;
  }
  return failure ?? describeCut(provider, error);
}
