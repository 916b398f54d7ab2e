// The server-sent events of a response, without a stream between the socket and whoever reads: one hop instead of five.

import type { IncomingMessage } from "node:http";
import { StringDecoder } from "node:string_decoder";
import { createParser } from "eventsource-parser";
import { type Clock, over } from "../../../platform/base/clock.ts";
import { StreamBounds } from "./bounds.ts";
import { ProviderFailure } from "./failures.ts";

export interface EventsOptions {
  readonly provider: string;
  readonly clock: Clock;
}

/** What services of OpenAI's kind send when there is no more to come. */
const lastData = "[DONE]";

/** After the last event a response has this long to end by itself, so that its socket can serve the next request. */
const endGraceMs = 1_000;

/**
 * The data of the events, those of one read together. Throws when the connection breaks, and a ProviderFailure for a line
 * or an event that is too long. Whoever stops reading closes the socket, unless the response is at its end.
 */
export async function* readEvents(
  response: IncomingMessage,
  { provider, clock }: EventsOptions,
): AsyncGenerator<readonly string[]> {
  let events: string[] = [];
  let isOver = false;
  const onEvent = ({ data }: { readonly data: string }): void => {
    isOver ||= data === lastData;
    if (!isOver) {
      events.push(data);
    }
  };
  const decoder = new StringDecoder("utf8");
  const parser = createParser({ onEvent });
  const bounds = new StreamBounds(provider);
  // It may break while nobody waits for its next chunk.
  response.on("error", () => {});
  // A loop over the response itself would destroy it with its socket on leaving, also when all of it has come.
  const chunks = response.iterator({ destroyOnReturn: false });
  try {
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      const failure = bounds.check(chunk);
      if (failure !== undefined) {
        throw new ProviderFailure(failure);
      }
      parser.feed(decoder.write(chunk));
      if (events.length > 0) {
        yield events;
        events = [];
      }
      if (isOver) {
        return await awaitEnd(response, clock);
      }
    }
  } finally {
    if (!response.complete) {
      response.destroy();
    }
  }
}

async function awaitEnd(response: IncomingMessage, clock: Clock): Promise<void> {
  const ended = new AbortController();
  response.once("close", () => ended.abort(over)).resume();
  await clock.sleep(endGraceMs, ended.signal);
}
