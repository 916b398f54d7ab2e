// kill -9 among the calls of a model that does not read errors: the next process knows what the run has seen.

import { expect, test } from "vitest";
import { answer, callTools, type Script } from "../fakes/provider.ts";
import { resultsThatCount } from "./log-reader.ts";
import { runOverKill } from "./run-over-kill.ts";

const never = answer("never");

test("invalid calls before the kill count", async () => {
  const zap = callTools({ id: "c1", name: "zap", arguments: "{}" });
  const { reader, requests } = await runOverKill("answers.committed", "list_dir", [zap, zap, zap, never]);
  expect(reader.results.at(-1)?.payload).toMatchObject({ case: "runFailed", value: { code: "runner.invalid_calls" } });
  expect(requests).toBe(3);
});

/** Where the process dies, and how many requests the run then takes: a response that was not committed is asked for again. */
const places: readonly (readonly [place: string, requests: number])[] = [
  ["model.calling:1", 2],
  ["model.first-part:1", 3],
  ["model.finished:1", 3],
  ["calls.written", 3],
  ["calls.committed", 2],
  ["tool.starting", 2],
  ["tool.ended", 2],
  ["outcome.written", 2],
  ["outcome.committed", 2],
  ["answers.written", 2],
  ["answers.committed", 2],
  ["model.calling:2", 2],
  ["model.first-part:2", 3],
  ["model.finished:2", 3],
];

test.each(places)(
  "a call that the token limit has cut does not run after a kill at %s, and the second cut ends the run",
  async (place, expected) => {
    const cut: Script = (wire) => {
      wire.toolCalls({ index: 0, id: "c1", name: "list_dir", arguments: "{}" });
      wire.finish("length");
    };
    const { reader, requests } = await runOverKill(place, "list_dir", [cut, cut, cut, never]);
    const outcomes = resultsThatCount(reader.results).flatMap(({ payload }) =>
      payload.case === "toolCallCompleted" ? [payload.value.error] : [],
    );
    expect(outcomes).toEqual([expect.stringContaining("before this call was complete")]);
    expect(reader.results.at(-1)?.payload).toMatchObject({ case: "runCompleted", value: { finishReason: "length" } });
    expect(requests).toBe(expected);
  },
);
