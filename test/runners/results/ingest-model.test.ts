// The rules of ingest against a simple model: a map of the numbers seen, and whether the run has ended. Runners here repeat
// results, skip numbers, reuse numbers for other results, and continue after their end.
//
// I1  A number counts once, with any verdict on its result; the cut into batches changes nothing.
// I2  Results enter the log in the order of their arrival: no result waits for a missing number.
// I3  The first valid terminal result ends the run; results after it are ignored, and no limit refuses it.

import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ReportedResult } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import type { Ingest, IngestOutcome } from "../../../src/protocols/langbot/runners/results/ingest.ts";
import {
  grant,
  type IngestChanges,
  item,
  logged,
  message,
  openIngest as openAnyIngest,
  piece,
  told,
} from "./reported.ts";

/** Chunks are increments here; `stream-text.test.ts` has the other kinds. */
function openIngest(changes: IngestChanges = {}): Ingest {
  return openAnyIngest({ ...changes, grant: { delivery: { ...grant.delivery, chunkContent: "increment" } } });
}

/** A kind of result, and its outcome when its number is new and the run is active. */
interface Saying {
  readonly report: (sequence: number) => ReportedResult;
  readonly verdict: string;
  /** The type in the log; undefined when the result does not enter it. */
  readonly entry?: string;
  readonly speaks?: boolean;
  readonly ends?: boolean;
}

const sayings: Readonly<Record<string, Saying>> = {
  piece: { report: (n) => piece(n, "a"), verdict: "applied", entry: "messageDelta", speaks: true },
  otherPiece: { report: (n) => piece(n, "b"), verdict: "applied", entry: "messageDelta", speaks: true },
  emptyPiece: { report: (n) => piece(n, ""), verdict: "applied", entry: "messageDelta" },
  message: { report: (n) => message(n, "m"), verdict: "applied", entry: "messageCompleted", speaks: true },
  tool: { report: (n) => item(n, "tool.call.started", { odd: 1 }), verdict: "telemetry", entry: "extension" },
  unknown: {
    report: (n) => item(n, "my.own"),
    verdict: "ignored_unknown | unknown type: kept unchanged",
    entry: "extension",
  },
  state: {
    report: (n) => item(n, "state.updated", { scope: "runner", key: "k", value: n }),
    verdict: "applied",
    entry: "stateUpdated",
  },
  refused: {
    report: (n) => item(n, "state.updated", { scope: "subject", key: "k", value: n }),
    verdict: "refused_policy | state of scope subject is not granted to this run",
  },
  invalid: {
    report: (n) => item(n, "message.delta"),
    verdict: "dropped_invalid | data.chunk is missing: expected an object",
  },
  untyped: {
    report: (n) => item(n, ""),
    verdict: "dropped_invalid | type is missing: write the dotted type, such as message.delta",
  },
  foreign: {
    report: (n) => item(n, "run.completed", {}, { runId: "another" }),
    verdict: 'dropped_invalid | run_id is "another", which is not this run: report each result to its own run',
  },
  brokenEnd: {
    report: (n) => item(n, "run.failed"),
    verdict: "dropped_invalid | data.error is missing: expected text",
  },
  completed: { report: (n) => item(n, "run.completed"), verdict: "applied", ends: true },
  failed: { report: (n) => item(n, "run.failed", { error: "e" }), verdict: "applied", ends: true },
};

interface Said {
  readonly sequence: number;
  readonly saying: string;
}

/** The rules in their simplest form. */
class Model {
  readonly #seen = new Map<number, string>();
  #hasSpoken = false;
  readonly verdicts: string[] = [];
  readonly log: (readonly [number, string])[] = [];
  end: Said | undefined;

  take({ sequence, saying }: Said): void {
    const before = this.#seen.get(sequence);
    if (before !== undefined) {
      this.verdicts.push(before === saying ? "dropped_duplicate" : "dropped_duplicate | conflict");
      return;
    }
    const order = this.#describeOrder(sequence);
    this.#seen.set(sequence, saying);
    const [disposition = "", ...diagnostics] = this.#judge({ sequence, saying }).split(" | ");
    this.verdicts.push([disposition, ...order, ...diagnostics].join(" | "));
  }

  get ackedThrough(): number {
    let through = 0;
    while (this.#seen.has(through + 1)) {
      through += 1;
    }
    return through;
  }

  #describeOrder(sequence: number): string[] {
    const highest = Math.max(0, ...this.#seen.keys());
    if (sequence < highest) {
      return ["out_of_order"];
    }
    switch (sequence - highest) {
      case 1:
        return [];
      case 2:
        return [`gap ${highest + 1}`];
      default:
        return [`gap ${highest + 1}-${sequence - 1}`];
    }
  }

  #judge(said: Said): string {
    const saying = sayingOf(said);
    if (this.end !== undefined) {
      return "ignored_after_terminal";
    }
    if (saying.entry !== undefined) {
      this.log.push([said.sequence, saying.entry]);
    }
    this.#hasSpoken ||= saying.speaks === true;
    if (saying.ends === true) {
      this.end = said;
    }
    return said.saying === "completed" && !this.#hasSpoken ? `${saying.verdict} | empty_output` : saying.verdict;
  }
}

const said = fc.record({
  sequence: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 9 }) }, fc.integer({ min: 1, max: 30 })),
  saying: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom("piece", "otherPiece", "message", "state", "tool") },
    fc.constantFrom(...Object.keys(sayings)),
  ),
});

/** A runner that counts correctly, one with odd results in between, and one that does not count at all. */
const counted = fc
  .array(said, { maxLength: 25 })
  .map((all) => all.map((each, index) => ({ ...each, sequence: index + 1 })));
const disordered = fc
  .tuple(counted, fc.array(said, { maxLength: 10 }), fc.array(fc.nat(), { maxLength: 10 }))
  .map(([all, others, places]) => {
    const mixed = [...all];
    others.forEach((other, index) => {
      mixed.splice((places[index] ?? 0) % (mixed.length + 1), 0, other);
    });
    return mixed;
  });
const conversation = fc.oneof(fc.array(said, { maxLength: 25 }), counted, disordered);

/** Batches of results in order; some are sent again completely, at once or later. */
const batches = fc
  .record({
    all: conversation,
    cuts: fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 12 }),
    repeats: fc.array(fc.record({ batch: fc.nat(), after: fc.nat() }), { maxLength: 4 }),
  })
  .map(({ all, cuts, repeats }) => {
    const sent = cut(all, cuts);
    for (const { batch, after } of repeats) {
      const from = batch % sent.length;
      sent.splice(from + 1 + (after % (sent.length - from)), 0, sent[from] ?? []);
    }
    return sent;
  });

test("I1 I2 I3: verdicts, log, end and acknowledged number are those of the model", () => {
  fc.assert(
    fc.property(batches, (sent) => {
      const ingest = openIngest();
      const model = new Model();
      const outcomes = sent.map((batch) => {
        batch.forEach((each) => {
          model.take(each);
        });
        const outcome = takeAll(ingest, batch);
        expect(ingest.ackedThrough).toBe(model.ackedThrough);
        expect(ingest.hasEnded).toBe(model.end !== undefined);
        return outcome;
      });
      expect(outcomes.flatMap(told)).toEqual(model.verdicts);
      expect(outcomes.flatMap(logged)).toEqual(model.log);
      const ends = outcomes.flatMap(({ end }) => (end === undefined ? [] : [[end.kind, Number(end.runnerSequence)]]));
      expect(ends).toEqual(model.end === undefined ? [] : [[model.end.saying, model.end.sequence]]);
    }),
    { numRuns: 500 },
  );
});

test("I1: single results and one batch have the same outcome", () => {
  fc.assert(
    fc.property(conversation, (all) => {
      const one = openIngest();
      const single = all.map((each) => takeAll(one, [each]));
      const whole = takeAll(openIngest(), all);
      expect(single.flatMap(({ verdicts }) => verdicts)).toEqual(whole.verdicts);
      expect(single.flatMap(({ kept }) => kept)).toEqual(whole.kept);
      expect(single.flatMap(({ results }) => results)).toEqual(whole.results);
      expect(single.flatMap(({ effects }) => effects)).toEqual(whole.effects);
      expect(single.find(({ end }) => end !== undefined)?.end).toEqual(whole.end);
    }),
  );
});

test("a repeated batch changes nothing", () => {
  fc.assert(
    fc.property(conversation, (all) => {
      const ingest = openIngest();
      takeAll(ingest, all);
      const acked = ingest.ackedThrough;
      const again = takeAll(ingest, all);
      expect(again.verdicts.every(({ disposition }) => disposition === "dropped_duplicate")).toBe(true);
      expect([again.results, again.effects, again.end]).toEqual([[], [], undefined]);
      expect(ingest.ackedThrough).toBe(acked);
    }),
  );
});

test("a takeover from the log and the stored verdicts decides the same, except for conflicts", () => {
  fc.assert(
    fc.property(conversation, fc.nat(), (all, place) => {
      const at = place % (all.length + 1);
      const first = openIngest();
      const before = takeAll(first, all.slice(0, at));
      const second = recall(before);
      const [expected, found] = [takeAll(first, all.slice(at)), takeAll(second, all.slice(at))];
      const withoutConflicts = (outcome: IngestOutcome) => told(outcome).map((each) => each.replace(" | conflict", ""));
      expect(withoutConflicts(found)).toEqual(withoutConflicts(expected));
      expect(found.results).toEqual(expected.results);
      expect(found.effects).toEqual(expected.effects);
      expect(found.end).toEqual(expected.end);
      expect(second.ackedThrough).toBe(first.ackedThrough);
    }),
    { numRuns: 500 },
  );
});

test("I3: a run takes at most as many results as its limit, with any numbers, and its terminal result passes", () => {
  const limits = { resultsMax: 5, repeatedVerdictsMax: 4 };
  fc.assert(
    fc.property(batches, (sent) => {
      const ingest = openIngest({ limits });
      const outcomes = sent.map((batch) => takeAll(ingest, batch));
      expect(outcomes.flatMap(({ results }) => results).length).toBeLessThanOrEqual(5);
      expect(outcomes.flatMap(({ kept }) => kept).length).toBeLessThanOrEqual(5 + 4 + 1);
      const numbers = outcomes.flatMap(logged).map(([number]) => number);
      expect(new Set(numbers).size).toBe(numbers.length);
      const next = 1 + Math.max(0, ...sent.flat().map(({ sequence }) => sequence));
      const end = ingest.take([item(next, "run.failed", { error: "e" })]).end;
      expect(outcomes.filter((outcome) => outcome.end !== undefined).length + (end === undefined ? 0 : 1)).toBe(1);
    }),
  );
});

test.each([
  ["with numbers that follow each other", (index: number) => index + 1],
  ["with numbers far away", (index: number) => 1_000 - index],
  ["with one number", () => 1_000],
])("I3: invalid terminal results beyond the limit leave a limited number of verdicts: %s", (_how, at) => {
  const ingest = openIngest({ limits: { resultsMax: 2, repeatedVerdictsMax: 4 } });
  const sent = Array.from({ length: 30 }, (_, index) => ({ sequence: at(index), saying: "brokenEnd" }));
  const { kept, end } = takeAll(ingest, sent);
  expect(kept.length).toBeLessThanOrEqual(2 + 4);
  expect(end).toBeUndefined();
  expect(takeAll(ingest, [{ sequence: 2_000, saying: "failed" }]).end).toBeDefined();
});

function sayingOf({ saying }: Said): Saying {
  const found = sayings[saying];
  if (found === undefined) {
    throw new Error(`no such saying: ${saying}`);
  }
  return found;
}

function takeAll(ingest: Ingest, all: readonly Said[]): IngestOutcome {
  return ingest.take(all.map((each) => sayingOf(each).report(each.sequence)));
}

function cut(all: readonly Said[], sizes: readonly number[]): (readonly Said[])[] {
  const cuts: (readonly Said[])[] = [];
  let at = 0;
  for (const size of sizes) {
    cuts.push(all.slice(at, at + size));
    at += size;
  }
  return [...cuts, all.slice(at)];
}

function recall({ results, kept, end }: IngestOutcome): Ingest {
  const ingest = openIngest();
  for (const result of results) {
    ingest.recallResult(create(RunResultSchema, result), 100);
  }
  for (const verdict of kept) {
    ingest.recallVerdict(verdict);
  }
  if (end !== undefined) {
    const { runnerSequence } = end;
    ingest.recallResult(create(RunResultSchema, { runnerSequence, payload: { case: "runFailed", value: {} } }), 100);
  }
  return ingest;
}
