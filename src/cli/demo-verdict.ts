// What the demo's two readers got, held against the promise: nothing lost, nothing twice, the same text.

import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import type { SseEvent } from "./demo-reader.ts";

/** What was wrong; empty when the promise was kept. */
export function findFaults(results: readonly RunResult[], events: readonly SseEvent[]): string[] {
  const faults: string[] = [];
  results.forEach((result, index) => {
    if (result.sequence !== BigInt(index + 1)) {
      faults.push(`gRPC: place ${index + 1} holds ${result.sequence}`);
    }
  });
  const ids = events.map((event) => event.id).filter((id) => id !== undefined);
  if (new Set(ids).size !== ids.length) {
    faults.push("SSE: an event came twice");
  }
  if (results.at(-1)?.payload.case !== "runCompleted") {
    faults.push("gRPC: the run did not complete");
  }
  if (events.at(-1)?.event !== "done") {
    faults.push("SSE: there was no done");
  }
  if (spoken(results) !== heard(events)) {
    faults.push("the two readers got different text");
  }
  return faults;
}

function spoken(results: readonly RunResult[]): string {
  return results
    .map(({ payload }) => (payload.case === "messageDelta" ? (payload.value.chunk?.content ?? "") : ""))
    .join("");
}

function heard(events: readonly SseEvent[]): string {
  return events.map(({ event, data }) => (event === "text" ? JSON.parse(data).content : "")).join("");
}
