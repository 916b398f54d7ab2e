// kill -9 between the outcome of set_state and its entries in the log: the next process adds the change once, after the result.

import { expect, test } from "vitest";
import { expectFolds } from "../ag-ui/verify-folds.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { runOverKill } from "./run-over-kill.ts";

test.each(["tool.ended", "outcome.committed", "answers.written", "answers.committed"])(
  "a kill at %s",
  async (place) => {
    const call = { id: "c1", name: "set_state", arguments: '{"key": "city", "value": "Rome"}' };
    const { reader } = await runOverKill(place, "set_state", [callTools(call), answer("done"), answer("done")]);
    const cases = reader.results.map(({ payload }) => payload.case);
    expect(cases.slice(0, 5)).toEqual([
      "turnStarted",
      "messageCompleted",
      "toolCallStarted",
      "toolCallCompleted",
      "stateUpdated",
    ]);
    expect(reader.count("stateUpdated")).toBe(1);
    expect(reader.results.at(-1)?.payload.case).toBe("runCompleted");
    await expectFolds(reader.results);
  },
);
