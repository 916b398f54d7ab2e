// The folds of both surfaces over arbitrary logs, with calls that wait for a person and turns that begin again at every place.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "vitest";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { expectFolds } from "./verify-folds.ts";

type Payload = NonNullable<MessageInitShape<typeof RunResultSchema>["payload"]>;

/** What a turn does before it is lost, or ends. */
interface Turn {
  readonly thoughts: number;
  readonly words: number;
  readonly calls: number;
  /** How many of the calls wait for a person. */
  readonly waiting: number;
  /** After how many results the turn is lost, first; it then begins again. */
  readonly lostAfter: number | undefined;
}

const turn: fc.Arbitrary<Turn> = fc.record({
  thoughts: fc.nat({ max: 2 }),
  words: fc.nat({ max: 3 }),
  calls: fc.nat({ max: 2 }),
  waiting: fc.nat({ max: 2 }),
  lostAfter: fc.option(fc.nat({ max: 12 }), { nil: undefined }),
});

function resultsOf({ thoughts, words, calls, waiting }: Turn, number: number): Payload[] {
  const said = Array.from({ length: words }, (_, word) => `word${word} `);
  const ids = Array.from({ length: calls }, (_, call) => `call_${number}_${call}`);
  const asked = ids.slice(0, waiting);
  return [
    { case: "turnStarted", value: { turn: number } },
    ...Array.from({ length: thoughts }, (): Payload => ({ case: "reasoningDelta", value: { content: "hm " } })),
    ...said.map((content): Payload => ({ case: "messageDelta", value: { chunk: { role: "assistant", content } } })),
    {
      case: "messageCompleted",
      value: { message: { role: "assistant", content: { case: "text", value: said.join("") } } },
    },
    ...ids.map(
      (toolCallId): Payload => ({ case: "toolCallStarted", value: { toolCallId, toolName: "t", parameters: "{}" } }),
    ),
    ...asked.map(
      (toolCallId): Payload => ({ case: "approvalRequested", value: { toolCallId, approvalId: `for ${toolCallId}` } }),
    ),
    ...(asked.length > 0 ? [{ case: "runWaiting", value: { reason: "approval: t" } } as const] : []),
    ...ids.map(
      (toolCallId): Payload => ({
        case: "toolCallCompleted",
        value: { toolCallId, toolName: "t", result: '{"content":"x"}' },
      }),
    ),
  ];
}

const ends: readonly Payload[] = [
  { case: "runCompleted", value: { finishReason: "stop", output: "" } },
  {
    case: "runCompleted",
    value: { finishReason: "tool-calls", pendingToolCalls: [{ id: "own", name: "f", arguments: "{}" }] },
  },
  { case: "runFailed", value: { code: "cancelled", error: "context canceled" } },
  { case: "runFailed", value: { code: "runner.error", error: "broken" } },
];

const log = fc
  .record({ turns: fc.array(turn, { maxLength: 4 }), cut: fc.nat({ max: 12 }), end: fc.constantFrom(...ends) })
  .map(({ turns, cut, end }) => {
    const payloads: Payload[] = [];
    for (const [index, each] of turns.entries()) {
      const results = resultsOf(each, index + 1);
      if (each.lostAfter !== undefined) {
        const fromSequence = BigInt(payloads.length + 1);
        payloads.push(...results.slice(0, each.lostAfter));
        payloads.push({ case: "turnRestarted", value: { turn: index + 1, fromSequence } });
      }
      payloads.push(...results);
    }
    // A failure may come at any place, a completion only after whole turns.
    const whole = end.case === "runFailed" ? payloads.slice(0, Math.max(0, payloads.length - cut)) : payloads;
    return [...whole, end].map((payload, index) =>
      create(RunResultSchema, { sequence: BigInt(index + 1), createTime: { seconds: 1n }, payload }),
    );
  });

test("both folds of every log are right", async () => {
  await fc.assert(fc.asyncProperty(log, expectFolds));
});
