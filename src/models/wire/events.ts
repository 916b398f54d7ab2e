// The server-sent events of a response, without a stream between the socket and whoever reads: one hop instead of five.

import type { IncomingMessage } from "node:http";
import { StringDecoder } from "node:string_decoder";
import { createParser, type ParseError } from "eventsource-parser";
import { type Clock, over } from "../../base/clock.ts";
import { describeUnreadable, ProviderFailure } from "./failures.ts";
import { continueLine, lineBytesMax } from "./transport.ts";

export interface EventsOptions {
  readonly provider: string;
  readonly clock: Clock;
}

/** What services of OpenAI's kind send when there is no more to come. */
const lastData = "[DONE]";

/** An event may have many lines, none of which is too long. */
const eventCharsMax = 2 * lineBytesMax;

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
  let lineBytes = 0;
  let isOver = false;
  const onEvent = ({ data }: { readonly data: string }): void => {
    isOver ||= data === lastData;
    if (!isOver) {
      events.push(data);
    }
  };
  const decoder = new StringDecoder("utf8");
  let isTooLong = false;
  const onError = ({ type }: ParseError): void => {
    isTooLong ||= type === "max-buffer-size-exceeded";
  };
  const parser = createParser({ onEvent, onError, maxBufferSize: eventCharsMax });
  // It may break while nobody waits for its next chunk.
  response.on("error", () => {});
  // A loop over the response itself would destroy it with its socket on leaving, also when all of it has come.
  const chunks = response.iterator({ destroyOnReturn: false });
  try {
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      lineBytes = continueLine(lineBytes, chunk);
      if (lineBytes > lineBytesMax) {
        throw new ProviderFailure(describeUnreadable(provider, `a line is longer than ${lineBytesMax} bytes`));
      }
      parser.feed(decoder.write(chunk));
      if (isTooLong) {
        throw new ProviderFailure(describeUnreadable(provider, `an event is longer than ${eventCharsMax} characters`));
      }
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
