// Reads the server-sent events of a response directly from the socket: one hop instead of five.

import type { IncomingMessage } from "node:http";
import { StringDecoder } from "node:string_decoder";
import { createParser } from "eventsource-parser";
import { type Clock, over } from "../../../platform/base/clock.ts";
import { StreamBounds } from "./bounds.ts";
import { ProviderFailure } from "./failures.ts";

/** The provider's name for failure messages, and the clock. */
export interface EventsOptions {
  readonly provider: string;
  readonly clock: Clock;
}

/** The last event of OpenAI-compatible services. */
const lastData = "[DONE]";

/** How long the response may take to end after the last event, so that its socket can serve the next request. */
const endGraceMs = 1_000;

/**
 * Yields the data of the events; those of one read come together. Closes the socket when the caller stops reading before the
 * end of the response.
 * @throws ProviderFailure when a line or an event is too long; an Error when the connection breaks.
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
  // The response may break while no read is pending.
  response.on("error", () => {});
  // A `for await` over the response itself would destroy it and its socket at the end, even when all of it has arrived.
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
