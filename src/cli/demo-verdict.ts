// Compares what the two readers of the demo received with the promise: 1..n without a gap, each once, the same for both.

import type { ReaderName, Received } from "./demo-reader.ts";

/** Returns what was wrong; empty when the promise was kept. */
export function findFaults(overGrpc: readonly Received[], overSse: readonly Received[]): string[] {
  const isSame = JSON.stringify(overGrpc) === JSON.stringify(overSse);
  return [
    ...findGaps("gRPC", overGrpc),
    ...findGaps("SSE", overSse),
    ...(isSame ? [] : ["the two readers received different results"]),
  ];
}

function findGaps(reader: ReaderName, items: readonly Received[]): string[] {
  const gaps = items.flatMap(({ sequence }, index) =>
    sequence === index + 1 ? [] : [`${reader}: place ${index + 1} has the result ${sequence}`],
  );
  return items.at(-1)?.type === "run.completed" ? gaps : [...gaps, `${reader}: the run did not complete`];
}
