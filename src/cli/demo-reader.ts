// The two readers of the demo: both follow the log of one run, one over gRPC and one over SSE. Each resumes by its own cursor
// and keeps what it received, so that the two can be compared.

import { createParser } from "eventsource-parser";
import { systemClock } from "../platform/base/clock.ts";
import { resultTypes } from "../platform/base/result-types.ts";
import { connectTo } from "./connect.ts";
import { followRun } from "./follow.ts";

const reconnectDelayMs = 200;
const patienceMs = 30_000;

/** One result, as a reader received it. */
export interface Received {
  readonly sequence: number;
  /** The dotted name, such as `message.delta`. */
  readonly type: string;
  /** The text of a `message.delta`; empty for other results. */
  readonly text: string;
}

/** The protocol of a reader. */
export type ReaderName = "gRPC" | "SSE";

/** Reports the progress of the readers. */
export interface ReaderNews {
  readonly onItem: (reader: ReaderName, item: Received) => void;
  readonly onResume: (reader: ReaderName, after: number) => void;
}

/** Follows the run with `TailRun` until its end. */
export async function readOverGrpc(url: string, runId: string, news: ReaderNews): Promise<Received[]> {
  const items: Received[] = [];
  const { runs } = connectTo(url);
  const onReconnect = (after: bigint): void => news.onResume("gRPC", Number(after));
  for await (const { sequence, payload } of followRun(runs, { runId, after: 0n, patienceMs, onReconnect })) {
    const type = resultTypes.find(({ payloadCase }) => payloadCase === payload.case)?.name ?? "unknown";
    const text = payload.case === "messageDelta" ? (payload.value.chunk?.content ?? "") : "";
    const item = { sequence: Number(sequence), type, text };
    items.push(item);
    news.onItem("gRPC", item);
  }
  return items;
}

/** Follows the run with `GET /v1/runs/{run_id}/results:tail` until its end, as an EventSource does. */
export async function readOverSse(url: string, runId: string, news: ReaderNews): Promise<Received[]> {
  const items: Received[] = [];
  const startedMs = systemClock.monotonicMs();
  let hasEnded = false;
  while (!hasEnded && systemClock.monotonicMs() - startedMs < patienceMs * 2) {
    const last = items.at(-1)?.sequence ?? 0;
    if (last > 0) {
      news.onResume("SSE", last);
    }
    try {
      const headers = last === 0 ? {} : { "last-event-id": String(last) };
      for await (const { event, id, data } of readSse(`${url}/v1/runs/${runId}/results:tail`, { headers })) {
        hasEnded ||= event === "end";
        if (id !== undefined) {
          const item = {
            sequence: Number(id),
            type: event ?? "",
            text: JSON.parse(data).message_delta?.chunk?.content ?? "",
          };
          items.push(item);
          news.onItem("SSE", item);
        }
      }
    } catch {
      // The service is away: the loop tries again.
    }
    if (!hasEnded) {
      await waitUntilReady(url);
    }
  }
  return items;
}

/** Waits until a service is ready, or for 30 s. */
export async function waitUntilReady(url: string): Promise<void> {
  const startedMs = systemClock.monotonicMs();
  do {
    await systemClock.sleep(reconnectDelayMs);
  } while (systemClock.monotonicMs() - startedMs < patienceMs && !(await isReady(url)));
}

async function isReady(url: string): Promise<boolean> {
  return await fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

interface SseEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** Yields the events of a stream as they arrive. Throws when the stream breaks, or the service answers with an error. */
export async function* readSse(url: string, init: RequestInit = {}): AsyncGenerator<SseEvent> {
  const response = await fetch(url, init);
  if (!response.ok || response.body === null) {
    throw new Error(`SSE answered ${response.status}`);
  }
  const arrived: SseEvent[] = [];
  const parser = createParser({ onEvent: ({ id, event, data }) => arrived.push({ id, event, data }) });
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    parser.feed(text);
    yield* arrived.splice(0);
  }
}
