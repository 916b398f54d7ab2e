// The folds of both surfaces over arbitrary logs, with calls that wait for a person and turns that begin again at every place.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { textOf } from "../../src/surfaces/in-process/message-text.ts";
import { ResponseFold } from "../../src/surfaces/openai/fold.ts";
import { expectFolds, openFold } from "./verify-folds.ts";

type Payload = NonNullable<MessageInitShape<typeof RunResultSchema>["payload"]>;

/** What a turn does before it is lost, or ends. */
interface Turn {
  readonly thoughts: number;
  readonly words: number;
  /** After how many words the provider runs a tool, once for each. */
  readonly searches: readonly number[];
  readonly calls: number;
  /** How many of the calls wait for a person. */
  readonly waiting: number;
  /** How many of the calls, from the last one on, start a child run. */
  readonly children: number;
  /** Whether a summary comes first, and a handoff last. */
  readonly hasSummary: boolean;
  readonly handsOver: boolean;
  /** After how many results the turn is lost, first; it then begins again. */
  readonly lostAfter: number | undefined;
}

const turn: fc.Arbitrary<Turn> = fc.record({
  thoughts: fc.nat({ max: 2 }),
  words: fc.nat({ max: 3 }),
  searches: fc.array(fc.nat({ max: 3 }), { maxLength: 2 }),
  calls: fc.nat({ max: 2 }),
  waiting: fc.nat({ max: 2 }),
  children: fc.nat({ max: 2 }),
  hasSummary: fc.boolean(),
  handsOver: fc.boolean(),
  lostAfter: fc.option(fc.nat({ max: 12 }), { nil: undefined }),
});

function searchOf(toolCallId: string): Payload[] {
  const call = { toolCallId, toolName: "web_search", runByProvider: true };
  return [
    { case: "toolCallStarted", value: { ...call, parameters: "{}" } },
    { case: "toolCallCompleted", value: { ...call, result: '{"content":[]}' } },
  ];
}

function resultsOf(turn: Turn, number: number): Payload[] {
  const { thoughts, words, searches, calls, waiting, children, hasSummary, handsOver } = turn;
  const said = Array.from({ length: words }, (_, word) => `word${number}.${word} `);
  const searched = (place: number): Payload[] =>
    searches.flatMap((each, index) => (each === place ? searchOf(`search_${number}_${index}`) : []));
  const ids = Array.from({ length: calls }, (_, call) => `call_${number}_${call}`);
  const asked = ids.slice(0, waiting);
  const asking = ids.toReversed().slice(0, children);
  const summary: Payload = { case: "contextCompacted", value: { summary: "so far", messages: 3 } };
  const handoff: Payload = { case: "handoffCompleted", value: { toolCallId: "h", fromAgent: "a", toAgent: "b" } };
  return [
    { case: "turnStarted", value: { turn: number } },
    ...(hasSummary ? [summary] : []),
    ...Array.from({ length: thoughts }, (): Payload => ({ case: "reasoningDelta", value: { content: "hm " } })),
    ...said.flatMap((content, place): Payload[] => [
      ...searched(place),
      { case: "messageDelta", value: { chunk: { role: "assistant", content } } },
    ]),
    ...Array.from({ length: 4 - words }, (_, place) => searched(words + place)).flat(),
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
    ...asking.map(
      (toolCallId): Payload => ({
        case: "childRunStarted",
        value: { toolCallId, toolName: "t", runId: `run of ${toolCallId}` },
      }),
    ),
    ...(asked.length > 0 ? [{ case: "runWaiting", value: { reason: "approval: t" } } as const] : []),
    ...ids.map(
      (toolCallId): Payload => ({
        case: "toolCallCompleted",
        value: { toolCallId, toolName: "t", result: '{"content":"x"}' },
      }),
    ),
    ...(handsOver ? [handoff] : []),
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
    return [...whole, end].map((given, index) => {
      // Each child run is in the log once.
      const payload =
        given.case === "childRunStarted" ? { ...given, value: { ...given.value, runId: `run ${index}` } } : given;
      return create(RunResultSchema, {
        sequence: BigInt(index + 1),
        createTime: { seconds: 1n },
        payload: payload as Payload,
      });
    });
  });

test("both folds of every log are right", async () => {
  await fc.assert(fc.asyncProperty(log, expectFolds));
});

/** The texts of the messages that are not void, joined. */
function textOfLog(results: readonly RunResult[]): string {
  let texts: [bigint, string][] = [];
  for (const { sequence, payload } of results) {
    if (payload.case === "messageCompleted") {
      texts.push([sequence, textOf(payload.value.message)]);
    } else if (payload.case === "turnRestarted") {
      const from = payload.value.fromSequence;
      texts = texts.filter(([at]) => at < from);
    }
  }
  return texts.map(([, text]) => text).join("");
}

test("both folds tell the text of each message once, wherever a provider runs a tool", () => {
  fc.assert(
    fc.property(log, (results) => {
      fc.pre(results.at(-1)?.payload.case === "runCompleted");
      const told = openFold(true);
      told.open();
      const echo = { background: false, tools: [] } as never;
      const response = new ResponseFold({ runId: "r", sessionId: "s", after: 0, agent: undefined, echo });
      response.open();
      for (const result of results) {
        told.take(result);
        response.take(result);
      }
      const [snapshot] = told.join() as unknown as [{ messages: { role: string; content?: string }[] }];
      const spoken = snapshot.messages.filter(({ role }) => role === "assistant");
      expect(spoken.map(({ content = "" }) => content).join("")).toBe(textOfLog(results));
      const { output } = response.response as { output: { type: string; content?: { text: string }[] }[] };
      const parts = output.flatMap(({ content = [] }) => content);
      expect(parts.map(({ text }) => text).join("")).toBe(textOfLog(results));
    }),
  );
});
