// The demo's two readers: one on the run's log over gRPC, one on the session's events over SSE. Each resumes by its own
// cursor and keeps what it got, so that the two can be compared.

import { createParser } from "eventsource-parser";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { systemClock } from "../platform/base/clock.ts";
import { connectTo } from "./connect.ts";
import { followRun } from "./follow.ts";

const reconnectDelayMs = 200;
const patienceMs = 30_000;

export interface ReaderNews {
  /** Something came: a result or an event. */
  readonly onItem: (reader: "gRPC" | "SSE", what: string) => void;
  readonly onResume: (reader: "gRPC" | "SSE", after: string) => void;
}

export async function readOverGrpc(url: string, runId: string, news: ReaderNews): Promise<RunResult[]> {
  const results: RunResult[] = [];
  const { runs } = connectTo(url);
  const onReconnect = (after: bigint): void => news.onResume("gRPC", String(after));
  for await (const result of followRun(runs, { runId, after: 0n, patienceMs, onReconnect })) {
    results.push(result);
    news.onItem("gRPC", String(result.payload.case));
  }
  return results;
}

export interface SseEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

export async function readOverSse(url: string, sessionId: string, news: ReaderNews): Promise<SseEvent[]> {
  const events: SseEvent[] = [];
  let lastId = "";
  let toldId = "";
  const startedMs = systemClock.monotonicMs();
  while (events.at(-1)?.event !== "done" && systemClock.monotonicMs() - startedMs < patienceMs * 2) {
    if (lastId !== toldId) {
      toldId = lastId;
      news.onResume("SSE", lastId.split(".")[1] ?? "");
    }
    try {
      for await (const event of connectSse(`${url}/v1/sessions/${sessionId}/stream`, lastId)) {
        events.push(event);
        lastId = event.id ?? lastId;
        news.onItem("SSE", event.event);
      }
    } catch {
      // The service is away: the loop tries again.
    }
    if (events.at(-1)?.event !== "done") {
      await systemClock.sleep(reconnectDelayMs);
    }
  }
  return events;
}

async function* connectSse(url: string, lastId: string): AsyncGenerator<SseEvent> {
  const response = await fetch(url, { headers: lastId === "" ? {} : { "last-event-id": lastId } });
  if (!response.ok || response.body === null) {
    throw new Error(`SSE answered ${response.status}`);
  }
  const arrived: SseEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => arrived.push({ id, event: event ?? "message", data }),
  });
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    parser.feed(text);
    yield* arrived.splice(0);
  }
}
