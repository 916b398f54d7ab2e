// A reader of SSE that behaves as in browsers, on fetch.

import { createParser } from "eventsource-parser";
import { credentialsOf } from "./credentials.ts";

export interface SseEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/**
 * Calls as the tests' own client, or without credentials. Yields events until the server ends the stream; leaving the loop ends
 * the connection.
 */
export async function* readSse(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  credentials: Readonly<Record<string, string>> | null = credentialsOf(),
): AsyncGenerator<SseEvent> {
  const leaving = new AbortController();
  const response = await fetch(url, { headers: { ...credentials, ...headers }, signal: leaving.signal });
  if (response.status === 204) {
    return;
  }
  if (!response.ok || response.body === null) {
    throw new Error(`${response.status}: ${await response.text()}`);
  }
  try {
    yield* readEvents(response.body);
  } finally {
    leaving.abort();
  }
}

/** Yields the events of a body as they arrive. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<SseEvent> {
  const arrived: SseEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => arrived.push({ id, event: event ?? "message", data }),
  });
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    parser.feed(text);
    yield* arrived.splice(0);
  }
}
