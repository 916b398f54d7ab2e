// Checks the folds of a log: AG-UI's own verifier accepts the events, and OpenAI's items are opened and closed exactly once.

import { type BaseEvent, verifyEvents } from "@ag-ui/client";
import { from, lastValueFrom, toArray } from "rxjs";
import { expect } from "vitest";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { AgUiFold } from "../../src/surfaces/ag-ui/fold.ts";
import { type ResponseEvent, ResponseFold } from "../../src/surfaces/openai/fold.ts";

const ownRunId = "01900000-0000-7000-8000-000000000000";

/** Places at which a client joins, of each log. */
const joinsMax = 6;

/** Checks both folds of the log of a run that has ended. */
export async function expectFolds(results: readonly RunResult[]): Promise<void> {
  for (const isV1 of [true, false]) {
    await expectVerified(results, isV1);
    // A client that joins after any of these gets as valid a stream.
    for (let after = 1; after < results.length; after += Math.ceil(results.length / joinsMax)) {
      await expectVerified(results, isV1, after);
    }
  }
  expectItems(results);
}

/** Opens the fold of a client of either version, with the client's state. */
export function openFold(isV1: boolean, state: object = {}): AgUiFold {
  return new AgUiFold({
    threadId: "t",
    runId: "r",
    parentRunId: undefined,
    ownRunId,
    sessionId: "s",
    isV1,
    model: "m",
    state,
  });
}

async function expectVerified(results: readonly RunResult[], isV1: boolean, after = 0): Promise<void> {
  const fold = openFold(isV1);
  for (const result of results.slice(0, after)) {
    fold.take(result);
  }
  if (fold.isOver) {
    // A client that joins gets the end itself.
    return;
  }
  const opening = after === 0 ? fold.open() : [...fold.open(), ...fold.join()];
  const events = [...opening, ...results.slice(after).flatMap((result) => fold.take(result))];
  const verified = from(events as BaseEvent[]).pipe(verifyEvents(false), toArray());
  expect(await lastValueFrom(verified)).toHaveLength(events.length);
}

function expectItems(results: readonly RunResult[]): void {
  const echo = { background: false, tools: [] } as never;
  const fold = new ResponseFold({ runId: ownRunId, sessionId: "s", after: 0, agent: undefined, echo });
  const events = [...fold.open(), ...results.flatMap((result) => fold.take(result))];
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  const terminal = /^response\.(completed|incomplete|failed)$/;
  expect(events.filter(({ type }) => terminal.test(type))).toEqual([events.at(-1)]);
  const open = new Set<string>();
  const seen = new Set<string>();
  for (const event of events as (ResponseEvent & { item?: { id: string }; item_id?: string })[]) {
    const id = event.item?.id ?? event.item_id;
    if (event.type === "response.output_item.added") {
      expect(seen).not.toContain(id);
      seen.add(id ?? "");
      open.add(id ?? "");
    } else if (id !== undefined) {
      expect(open).toContain(id);
    }
    if (event.type === "response.output_item.done") {
      open.delete(id ?? "");
    }
  }
  expect(open).toEqual(new Set());
}
