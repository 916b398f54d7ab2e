// Follows the log of a run over SSE, by `fetch`: unlike an EventSource it sends the ticket in a header and sees why a call fails.
//
// F1  An entry is handed out once, and only after all entries before it.
// F2  A stream that breaks, ends early, skips an entry or falls silent is opened again after the last entry.
// F3  A refused ticket is replaced, and the stream continues after the last entry.

import { createParser } from "eventsource-parser";
import { type Entry, isTerminal } from "./entry.ts";
import { ChatError, isTransient, isTransientStatus, readRetryAfterMs } from "./error.ts";
import { Backoff, repeat } from "./repeat.ts";

export interface Follow {
  /** URL of the service. */
  readonly endpoint: string;
  readonly runId: string;
  /** Sequence of the last entry that the caller has. */
  readonly after: number;
  /** A new ticket; undefined asks for one. */
  readonly ticket: string | undefined;
  readonly askForTicket: () => Promise<string>;
  readonly signal: AbortSignal;
  /** Hears whether the stream is open. */
  readonly onConnection: (isOpen: boolean) => void;
}

/** The service sends something every 15 s: a stream that is silent for longer than three of these is dead. */
const silenceMaxMs = 45_000;
/** So many tickets in a row that the service refused at once are a fault of the site: tickets of another service, for instance. */
const refusalsMax = 2;

/** Yields the entries after `after`, the last of which ends the run. Throws what does not pass, and the reason of the signal. */
export async function* followRun(follow: Follow): AsyncGenerator<Entry, void> {
  const { signal, onConnection, askForTicket } = follow;
  const backoff = new Backoff();
  let { ticket, after } = follow;
  let refusals = 0;
  for (;;) {
    const attempt = new AbortController();
    let failure: unknown;
    try {
      ticket ??= await repeat(askForTicket, signal, () => onConnection(false));
      const onOpen = () => {
        refusals = 0;
        onConnection(true);
      };
      for await (const entry of openStream({ ...follow, after, ticket }, attempt, onOpen)) {
        if (entry.sequence <= after) {
          continue;
        }
        if (entry.sequence > after + 1) {
          throw new ChatError(`entry ${after + 1} is missing`, { isTransient: true });
        }
        after = entry.sequence;
        backoff.reset();
        yield entry;
        if (isTerminal(entry)) {
          return;
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof TicketRefused && refusals < refusalsMax) {
        refusals += 1;
        ticket = undefined;
        if (refusals === 1) {
          // It has expired, as tickets do.
          continue;
        }
      } else if (!isTransient(error)) {
        throw error;
      }
      failure = error;
    } finally {
      attempt.abort();
    }
    onConnection(false);
    await backoff.wait(failure, signal);
    signal.throwIfAborted();
  }
}

class TicketRefused extends ChatError {}

/** Yields the entries of one stream, which the end of the loop has to abort. */
async function* openStream(
  { endpoint, runId, after, ticket, signal }: Follow,
  attempt: AbortController,
  onOpen: () => void,
): AsyncGenerator<Entry, void> {
  const silence = new Silence(attempt);
  try {
    const base = endpoint.endsWith("/") ? endpoint.slice(0, -1) : endpoint;
    const url = `${base}/v1/runs/${encodeURIComponent(runId)}/results:tail?after=${after}`;
    const response = await fetch(url, {
      headers: { accept: "text/event-stream", authorization: `Bearer ${ticket}` },
      cache: "no-store",
      credentials: "omit",
      signal: AbortSignal.any([signal, attempt.signal]),
    });
    if (response.status === 401) {
      throw new TicketRefused("the service refused the ticket");
    }
    if (!response.ok || response.body === null) {
      throw new ChatError(`the service answered with the status ${response.status}`, {
        isTransient: isTransientStatus(response.status),
        retryAfterMs: readRetryAfterMs(response),
      });
    }
    onOpen();
    yield* readEntries(response.body, silence);
  } finally {
    silence.end();
  }
}

async function* readEntries(body: ReadableStream<Uint8Array>, silence: Silence): AsyncGenerator<Entry, void> {
  const entries: Entry[] = [];
  const parser = createParser({
    // The events without an id are about the stream: `end`, and `error` when the service stops.
    onEvent: ({ id, data }) => id !== undefined && entries.push(JSON.parse(data)),
  });
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return;
    }
    silence.begin();
    parser.feed(value);
    yield* entries.splice(0);
  }
}

/** Aborts an attempt in which nothing arrives for too long, heartbeats included. */
class Silence {
  readonly #attempt: AbortController;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(attempt: AbortController) {
    this.#attempt = attempt;
    this.begin();
  }

  begin(): void {
    this.end();
    this.#timer = setTimeout(() => this.#attempt.abort(), silenceMaxMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
