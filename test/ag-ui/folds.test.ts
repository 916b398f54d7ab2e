// The folds of both surfaces over arbitrary logs, with turns that begin again at every place: AG-UI's own verifier accepts every
// stream, and OpenAI's items are opened and closed exactly once.

import { type BaseEvent, verifyEvents } from "@ag-ui/client";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { from, lastValueFrom, toArray } from "rxjs";
import { expect, test } from "vitest";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { AgUiFold } from "../../src/surfaces/ag-ui/fold.ts";
import { type ResponseEvent, ResponseFold } from "../../src/surfaces/openai/fold.ts";

type Payload = NonNullable<MessageInitShape<typeof RunResultSchema>["payload"]>;

/** What a turn does before it is lost, or ends. */
interface Turn {
  readonly thoughts: number;
  readonly words: number;
  readonly calls: number;
  /** After how many results the turn is lost, first; it then begins again. */
  readonly lostAfter: number | undefined;
}

const turn: fc.Arbitrary<Turn> = fc.record({
  thoughts: fc.nat({ max: 2 }),
  words: fc.nat({ max: 3 }),
  calls: fc.nat({ max: 2 }),
  lostAfter: fc.option(fc.nat({ max: 8 }), { nil: undefined }),
});

function resultsOf({ thoughts, words, calls }: Turn, number: number): Payload[] {
  const said = Array.from({ length: words }, (_, word) => `word${word} `);
  const ids = Array.from({ length: calls }, (_, call) => `call_${number}_${call}`);
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

async function expectVerified(results: readonly RunResult[], isV1: boolean): Promise<void> {
  const fold = new AgUiFold({
    threadId: "t",
    runId: "r",
    parentRunId: undefined,
    ownRunId: "01900000-0000-7000-8000-000000000000",
    sessionId: "s",
    isV1,
    model: "m",
    state: {},
  });
  const events = [...fold.open(), ...results.flatMap((result) => fold.take(result))];
  const verified = from(events as BaseEvent[]).pipe(verifyEvents(false), toArray());
  expect(await lastValueFrom(verified)).toHaveLength(events.length);
}

test("AG-UI's verifier accepts the stream of every log, for clients of both versions", async () => {
  await fc.assert(
    fc.asyncProperty(log, fc.boolean(), async (results, isV1) => {
      await expectVerified(results, isV1);
    }),
  );
});

test("a response's items are opened before their events, and closed exactly once", () => {
  fc.assert(
    fc.property(log, (results) => {
      const fold = new ResponseFold({
        runId: "01900000-0000-7000-8000-000000000000",
        sessionId: "s",
        agent: undefined,
        echo: { background: false } as never,
      });
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
    }),
  );
});
