// Leaves out results that a later result of the same batch makes void. A stream that cannot take text back need not give it first.

import type { RunResult } from "#gen/runnel/v1/result_pb.js";

/** Returns the results of a batch that count at its end, in their order. The results that void others stay. */
export function withoutVoid(results: readonly RunResult[]): readonly RunResult[] {
  let voidFrom: bigint | undefined;
  const counting = results.toReversed().filter(({ payload, sequence }) => {
    if (payload.case === "turnRestarted") {
      const { fromSequence } = payload.value;
      voidFrom = voidFrom === undefined || fromSequence < voidFrom ? fromSequence : voidFrom;
      return true;
    }
    return voidFrom === undefined || sequence < voidFrom;
  });
  return counting.toReversed();
}
