// The waterfall that the console makes of a log.

import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { Timeline } from "../../console/src/run/timeline.ts";

test("of a run with many turns, the newest 20,000 spans are kept and the others are counted", () => {
  const timeline = new Timeline();
  const turns = 50_000;
  for (let turn = 1; turn <= turns; turn += 1) {
    const payload = { case: "turnStarted", value: { turn } } as const;
    timeline.add(create(RunResultSchema, { sequence: BigInt(turn), payload }));
  }
  const { spans, dropped } = timeline;
  // A turn has a span of its own, and one of its model.
  expect(spans.length + dropped).toBe(2 * turns);
  expect(spans.length).toBeGreaterThan(18_000);
  expect(spans.length).toBeLessThanOrEqual(20_000);
  expect(spans.at(-2)?.label).toBe(`turn ${turns}`);
  expect(spans.slice(0, -2).every(({ endMs }) => endMs !== undefined)).toBe(true);
});
