// Emits one event for every request to a model, whether it completes, fails or is abandoned, and one for what was skipped of it.

import type { Clock } from "../../platform/base/clock.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import type { Model, ModelPart, ModelRequest, ModelUsage, Skipped } from "./model.ts";

/** The clock and the target of the events. */
export interface EventOptions {
  readonly clock: Clock;
  readonly events: Events;
}

/** Returns the same model, which emits an event at the end of each request. */
export function withEvents(model: Model, options: EventOptions): Model {
  return { ...model, stream: (request, signal) => streamWithEvents(model, options, request, signal) };
}

async function* streamWithEvents(
  model: Model,
  { clock, events }: EventOptions,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const startMs = clock.monotonicMs();
  let firstPartMs: number | undefined;
  let [code, cause]: [code: string, cause: string | undefined] = ["left", undefined];
  let usage: ModelUsage | undefined;
  let skipped: Skipped | undefined;
  try {
    for await (const part of model.stream(request, signal)) {
      firstPartMs ??= clock.monotonicMs() - startMs;
      if (part.type === "usage" || part.type === "finish") {
        usage = part.usage ?? usage;
      }
      if (part.type === "finish") {
        [code, skipped] = ["ok", part.skipped];
      } else if (part.type === "failure") {
        [code, cause, skipped] = [part.code, part.cause, part.skipped];
      }
      yield part;
    }
  } finally {
    events.modelResponded({
      provider: model.provider,
      model: model.name,
      code,
      cause,
      durationMs: clock.monotonicMs() - startMs,
      firstPartMs,
      promptTokens: usage?.promptTokens,
      completionTokens: usage?.completionTokens,
    });
    if (skipped !== undefined) {
      events.modelFramesSkipped({ provider: model.provider, model: model.name, ...skipped });
    }
  }
}
