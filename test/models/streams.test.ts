// The bytes of a response, cut anywhere, and the events of its items in any order that keeps each item's own: the parts are those of
// the response, in every format. A format whose events name their item allows any order; elsewhere items follow each other.

import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { setImmediate as nextRound } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MessagesReader } from "../../src/agent/models/anthropic/reader.ts";
import { ContentReader } from "../../src/agent/models/gemini/reader.ts";
import type { ModelPart, ModelToolCall, ModelUsage } from "../../src/agent/models/model.ts";
import { ChatReader } from "../../src/agent/models/openai-compatible/reader.ts";
import { ResponsesReader } from "../../src/agent/models/openai-responses/reader.ts";
import { type ResponseReader, streamResponse } from "../../src/agent/models/wire/stream.ts";
import { printJson, RawJson } from "../../src/platform/base/json/exact.ts";
import { createManualClock } from "../harness/manual-clock.ts";

/** An item of a response. Pieces are what its deltas say. */
type Item =
  | { readonly kind: "text" | "reasoning"; readonly pieces: readonly string[] }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly pieces: readonly string[] }
  /** A call of the provider's own tool. */
  | { readonly kind: "own"; readonly id: string; readonly pieces: readonly string[]; readonly result: string };

type ItemOf<Kind extends Item["kind"]> = Extract<Item, { readonly kind: Kind }>;

/** One event of an item. Events of one `key` have the same index. */
interface Step {
  readonly key: object;
  readonly frame: (index: number) => object;
  /** The part that it gives, apart from calls of our tools. */
  readonly gives?: ModelPart;
}

const origin = { provider: "p", model: "m" };

interface Format {
  readonly name: string;
  readonly reader: () => ResponseReader;
  readonly kinds: readonly Item["kind"][];
  readonly stepsOf: (item: Item) => readonly Step[];
  /** What an index says: the place of the item in the response, or of its first event among those of other items. */
  readonly order: "place" | "beginning" | "fixed";
  readonly head: readonly object[];
  readonly tail: (hasCalls: boolean) => readonly object[];
  readonly mark?: string;
  /** Puts several events into one frame, where the format can. */
  readonly join?: (frames: readonly object[]) => object;
  readonly hasIds?: boolean;
  /** Whether the state has each item by itself. */
  readonly keepsItems?: boolean;
}

const usage = { promptTokens: 11, completionTokens: 7, totalTokens: 18 };

const chatOf = (kind: "index" | "id"): Format => {
  const delta = (each: object, reason: string | null = null): object => ({
    choices: [{ index: 0, delta: each, finish_reason: reason }],
  });
  return {
    name: `Chat Completions, calls by ${kind}`,
    reader: () => new ChatReader(origin),
    kinds: ["text", "reasoning", "call"],
    order: kind === "index" ? "place" : "beginning",
    head: [delta({ role: "assistant", content: "" })],
    tail: (hasCalls) => [
      delta({}, hasCalls ? "tool_calls" : "stop"),
      { choices: [], usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } },
    ],
    mark: "[DONE]",
    stepsOf: (item) => {
      if (item.kind === "call") {
        return ["", ...item.pieces].map((text, at) => ({
          key: item,
          frame: (index) => {
            const place = kind === "index" ? { index } : {};
            const id = at === 0 || kind === "id" ? { id: item.id } : {};
            const named = { ...(at === 0 && { name: item.name }), arguments: text };
            return delta({ tool_calls: [{ ...place, ...id, type: "function", function: named }] });
          },
        }));
      }
      return sayings(item, (text) => delta(item.kind === "text" ? { content: text } : { reasoning_content: text }));
    },
  };
};

const responses: Format = {
  name: "Responses",
  reader: () => new ResponsesReader(origin, new Set(["f", "g"]), []),
  kinds: ["text", "reasoning", "call", "own"],
  order: "place",
  keepsItems: true,
  head: [{ type: "response.created", response: {} }],
  tail: () => [
    {
      type: "response.completed",
      response: { output: [], usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 } },
    },
  ],
  stepsOf: (item) => {
    const begun = { type: "response.output_item.added" };
    const done = { type: "response.output_item.done" };
    const around = (first: object, deltas: readonly Step[], last: object, gives?: ModelPart): readonly Step[] => [
      { key: item, frame: (index) => ({ ...begun, output_index: index, item: first }) },
      ...deltas,
      { key: item, frame: (index) => ({ ...done, output_index: index, item: last }), ...(gives && { gives }) },
    ];
    const text = item.pieces.join("");
    switch (item.kind) {
      case "text": {
        const message = { id: "m", type: "message", role: "assistant" };
        const type = "response.output_text.delta";
        return around(
          { ...message, content: [] },
          sayings(item, (delta, index) => ({ type, output_index: index, delta })),
          { ...message, content: [{ type: "output_text", text, annotations: [] }] },
        );
      }
      case "reasoning": {
        const type = "response.reasoning_summary_text.delta";
        const thought = { id: "r", type: "reasoning" };
        return around(
          { ...thought, summary: [] },
          sayings(item, (delta, index) => ({ type, output_index: index, delta })),
          { ...thought, summary: [{ type: "summary_text", text }] },
        );
      }
      case "call": {
        const type = "response.function_call_arguments.delta";
        const call = { id: `fc_${item.id}`, type: "function_call", call_id: item.id, name: item.name };
        return around(
          { ...call, arguments: "" },
          item.pieces.map((delta) => ({ key: item, frame: (index) => ({ type, output_index: index, delta }) })),
          { ...call, arguments: text },
        );
      }
      case "own": {
        const search = { id: item.id, type: "web_search_call" };
        const whole = {
          ...search,
          status: "completed",
          action: new RawJson(objectOf(text)),
          found: new RawJson(item.result),
        };
        return around({ ...search, status: "in_progress" }, [], whole, {
          type: "provider-call",
          call: { id: item.id, name: "web_search", argumentsJson: objectOf(text) },
          outcome: { json: printJson(whole) },
        });
      }
      default:
        return item satisfies never;
    }
  },
};

const messages: Format = {
  name: "Messages",
  reader: () => new MessagesReader(origin, []),
  kinds: ["text", "reasoning", "call", "own"],
  order: "beginning",
  keepsItems: true,
  head: [{ type: "message_start", message: { id: "m", content: [], usage: { input_tokens: 11, output_tokens: 1 } } }],
  tail: (hasCalls) => [
    {
      type: "message_delta",
      delta: { stop_reason: hasCalls ? "tool_use" : "end_turn" },
      usage: { output_tokens: 7 },
    },
    { type: "message_stop" },
  ],
  stepsOf: (item) => {
    const start = (key: object, block: object, gives?: ModelPart): Step => ({
      key,
      frame: (index) => ({ type: "content_block_start", index, content_block: block }),
      ...(gives && { gives }),
    });
    const deltaOf = (index: number, delta: object): object => ({ type: "content_block_delta", index, delta });
    const stop = (key: object): Step => ({ key, frame: (index) => ({ type: "content_block_stop", index }) });
    const inputs = item.pieces.map(
      (text): Step => ({
        key: item,
        frame: (index) => deltaOf(index, { type: "input_json_delta", partial_json: text }),
      }),
    );
    switch (item.kind) {
      case "text": {
        const said = sayings(item, (text, index) => deltaOf(index, { type: "text_delta", text }));
        return [start(item, { type: "text", text: "" }), ...said, stop(item)];
      }
      case "reasoning": {
        const said = sayings(item, (thinking, index) => deltaOf(index, { type: "thinking_delta", thinking }));
        const signed = {
          key: item,
          frame: (index: number) => deltaOf(index, { type: "signature_delta", signature: "c2ln" }),
        };
        return [start(item, { type: "thinking", thinking: "", signature: "" }), ...said, signed, stop(item)];
      }
      case "call":
        return [start(item, { type: "tool_use", id: item.id, name: item.name, input: {} }), ...inputs, stop(item)];
      case "own": {
        const result = { type: "web_search_tool_result", tool_use_id: item.id, content: new RawJson(item.result) };
        const call = { id: item.id, name: "web_search", argumentsJson: written(item.pieces) };
        return [
          start(item, { type: "server_tool_use", id: item.id, name: "web_search", input: {} }),
          ...inputs,
          stop(item),
          start(result, result, { type: "provider-call", call, outcome: { json: item.result } }),
          stop(result),
        ];
      }
      default:
        return item satisfies never;
    }
  },
};

const gemini: Format = {
  name: "Gemini",
  reader: () => new ContentReader(origin),
  kinds: ["text", "reasoning", "call", "own"],
  order: "fixed",
  hasIds: false,
  head: [],
  tail: () => [
    {
      candidates: [{ content: { parts: [{ text: "" }], role: "model" }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
    },
  ],
  join: (parts) => ({ candidates: [{ content: { parts, role: "model" } }], usageMetadata: { promptTokenCount: 11 } }),
  stepsOf: (item) => {
    const partOf = (part: object, gives?: ModelPart): Step => ({
      key: item,
      frame: () => part,
      ...(gives && { gives }),
    });
    switch (item.kind) {
      case "text":
        return sayings(item, (text) => ({ text }));
      case "reasoning":
        return sayings(item, (text) => ({ text, thought: true }));
      case "call": {
        // An odd number of pieces comes by path, as texts and a number of one object.
        const { name, pieces } = item;
        if (!isByPath(item)) {
          return [partOf({ functionCall: { name, args: new RawJson(objectOf(pieces.join(""))) } })];
        }
        const path = (partialArgs: readonly object[], willContinue: boolean): Step =>
          partOf({ functionCall: { partialArgs, ...(willContinue && { willContinue }) } });
        return [
          partOf({ functionCall: { name, willContinue: true } }),
          ...pieces.map((text) => path([{ jsonPath: "$.a.text", stringValue: text, willContinue: true }], true)),
          path([{ jsonPath: "$.a.id", numberValue: new RawJson("2512292042121000001.0") }], false),
        ];
      }
      case "own": {
        const code = item.pieces.join("");
        const result = { outcome: "OUTCOME_OK", output: new RawJson(item.result) };
        const argumentsJson = `{"language":"PYTHON","code":${JSON.stringify(code)}}`;
        const call = { id: "", name: "code_execution", argumentsJson };
        return [
          partOf({ executableCode: { language: "PYTHON", code } }),
          partOf(
            { codeExecutionResult: result },
            { type: "provider-call", call, outcome: { json: printJson(result) } },
          ),
        ];
      }
      default:
        return item satisfies never;
    }
  },
};

const formats: readonly Format[] = [chatOf("index"), chatOf("id"), responses, messages, gemini];

function sayings(item: Item, frame: (text: string, index: number) => object): readonly Step[] {
  const type = item.kind === "reasoning" ? "reasoning" : "text";
  return item.pieces.map((text) => ({ key: item, frame: (index) => frame(text, index), gives: { type, text } }));
}

/** Whether Gemini sends the arguments by their paths. */
function isByPath({ pieces }: ItemOf<"call">): boolean {
  return pieces.length % 2 === 1;
}

/** The arguments of a call that has none are `{}`. */
function written(pieces: readonly string[]): string {
  return pieces.join("").trim() === "" ? "{}" : pieces.join("");
}

function objectOf(text: string): string {
  return text.startsWith("{") ? text : `{"v":${JSON.stringify(text)}}`;
}

function callOf(item: ItemOf<"call">, { hasIds = true, order }: Format): ModelToolCall {
  const { id, name, pieces } = item;
  if (order !== "fixed") {
    return { id, name, argumentsJson: written(pieces) };
  }
  const argumentsJson = isByPath(item)
    ? `{"a":{"text":${JSON.stringify(pieces.join(""))},"id":2512292042121000001.0}}`
    : objectOf(pieces.join(""));
  return { id: hasIds ? id : "", name, argumentsJson };
}

/** What a response says, however its parts are cut. */
interface Said {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ModelToolCall[];
  readonly own: readonly ModelPart[];
  readonly end: unknown;
}

function joined(parts: readonly ModelPart[]): Said {
  const textOf = (type: "text" | "reasoning"): string =>
    parts.map((part) => (part.type === type ? part.text : "")).join("");
  return {
    text: textOf("text"),
    reasoning: textOf("reasoning"),
    calls: parts.flatMap((part) => (part.type === "tool-call" ? [part.call] : [])),
    own: parts.filter(({ type }) => type === "provider-call"),
    end: parts.at(-1),
  };
}

/** Merges lists: each pick takes the next value of a list that has one. */
function interleave<T>(lists: readonly (readonly T[])[], picks: readonly number[]): readonly T[] {
  const left = lists.filter((list) => list.length > 0).map((list) => [...list]);
  const merged: T[] = [];
  for (let turn = 0; left.length > 0; turn++) {
    const at = (picks[turn % picks.length] ?? 0) % left.length;
    const list = left[at] ?? [];
    merged.push(...list.splice(0, 1));
    if (list.length === 0) {
      left.splice(at, 1);
    }
  }
  return merged;
}

/** The lists one after the other, where a format has no other order. */
function orderSteps(format: Format, items: readonly Item[], picks: readonly number[]): readonly Step[] {
  const lists = items.map(format.stepsOf);
  return format.order === "fixed" ? lists.flat() : interleave(lists, picks);
}

/** The frames of the steps. */
function framesOf(format: Format, items: readonly Item[], steps: readonly Step[], picks: readonly number[]): object[] {
  const places = new Map<object, number>(format.order === "place" ? items.map((item, place) => [item, place]) : []);
  const frames = steps.map(({ key, frame }) => {
    const index = places.get(key) ?? places.size;
    places.set(key, index);
    return frame(index);
  });
  const { join } = format;
  if (join === undefined) {
    return frames;
  }
  const grouped: object[] = [];
  for (let at = 0, turn = 0; at < frames.length; turn++) {
    const length = 1 + ((picks[turn % picks.length] ?? 0) % 3);
    grouped.push(join(frames.slice(at, at + length)));
    at += length;
  }
  return grouped;
}

/** The calls in the order that the format gives them. */
function callsOf(format: Format, items: readonly Item[], steps: readonly Step[]): readonly ModelToolCall[] {
  const order: readonly object[] = format.order === "beginning" ? steps.map(({ key }) => key) : items;
  const calls = [...new Set(order)].filter((item): item is ItemOf<"call"> => "kind" in item && item.kind === "call");
  return calls.map((call) => callOf(call, format));
}

/** How the bytes arrive and how the parts are taken. */
interface Arrival {
  readonly lengths: readonly number[];
  readonly lineEnd: string;
  readonly isPiecewise: boolean;
  /** Whether each next part is taken without a pull. */
  readonly takes: readonly boolean[];
}

function print(frames: readonly object[], lineEnd: string, mark: string | undefined): Buffer {
  const events = frames.map((frame) => {
    const name = "type" in frame ? `event: ${frame.type}${lineEnd}` : "";
    return `${name}data: ${printJson(frame)}${lineEnd}${lineEnd}: still here${lineEnd}`;
  });
  return Buffer.from(events.join("") + (mark === undefined ? "" : `data: ${mark}${lineEnd}${lineEnd}`));
}

/** A response whose bytes arrive in pieces of these lengths. */
function arrive(bytes: Buffer, lengths: readonly number[]): IncomingMessage {
  async function* pieces() {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const length = lengths[turn % lengths.length] ?? 1;
      yield bytes.subarray(at, at + length);
      at += length;
      await nextRound();
    }
  }
  const source = pieces();
  const response = new Readable({
    highWaterMark: 1,
    read() {
      source.next().then(
        ({ value }) => this.push(value ?? null),
        (error) => this.destroy(error),
      );
    },
  });
  return Object.assign(response, { complete: true }) as unknown as IncomingMessage;
}

async function read(format: Format, bytes: Buffer, { lengths, isPiecewise, takes }: Arrival): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  let offers = 0;
  const takePart = (part: ModelPart): boolean => {
    const isTaken = takes[offers++ % takes.length] === true && (part.type === "text" || part.type === "reasoning");
    if (isTaken) {
      parts.push(part);
    }
    return isTaken;
  };
  const post = async (): Promise<IncomingMessage> => arrive(bytes, lengths);
  const account = { name: "p", apiKey: "", clock: createManualClock() };
  const stream = { account, post, reader: format.reader() };
  for await (const part of streamResponse(stream, { isPiecewise, takePart }, new AbortController().signal)) {
    parts.push(part);
  }
  return parts;
}

/** A text in pieces, cut between any two UTF-16 units. */
function inPieces(text: fc.Arbitrary<string>): fc.Arbitrary<string[]> {
  return fc.tuple(text, fc.array(fc.nat(40), { maxLength: 4 })).map(([whole, cuts]) => {
    const places = [0, ...cuts.map((cut) => Math.min(cut, whole.length)), whole.length].toSorted((a, b) => a - b);
    return places.slice(1).map((end, at) => whole.slice(places[at], end));
  });
}

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("data: x\n\n", "\r\n\r\n", "[DONE]", "\u2028é😀", "{}", ""),
);
const anyObject = fc
  .tuple(fc.json({ maxDepth: 1 }), anyText)
  .map(([json, text]) => `{"id":2512292042121000001, "r":1.0,"e":1E+02,"v":${json} ,"t":${JSON.stringify(text)}}`);

function anyItem(kinds: readonly Item["kind"][]): fc.Arbitrary<(place: number) => Item> {
  const made: Record<Item["kind"], fc.Arbitrary<(place: number) => Item>> = {
    text: inPieces(anyText).map((pieces) => () => ({ kind: "text", pieces })),
    reasoning: inPieces(anyText).map((pieces) => () => ({ kind: "reasoning", pieces })),
    call: fc
      .tuple(fc.constantFrom("f", "g"), inPieces(fc.oneof(anyObject, fc.constantFrom("", "{}"))))
      .map(([name, pieces]) => (place) => ({ kind: "call", id: `call_${place}`, name, pieces })),
    own: fc.tuple(inPieces(anyObject), anyObject).map(([pieces, result]) => (place) => ({
      kind: "own",
      id: `own_${place}`,
      pieces,
      result,
    })),
  };
  return fc.oneof(...kinds.map((kind) => made[kind]));
}

const anyArrival: fc.Arbitrary<Arrival> = fc.record({
  lengths: fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 10, max: 999 })), {
    minLength: 1,
    maxLength: 6,
  }),
  lineEnd: fc.constantFrom("\n", "\r\n"),
  isPiecewise: fc.boolean(),
  takes: fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
});

const atOnce = { lengths: [1_000_000], isPiecewise: false, takes: [false] };

test.each(formats)(
  "$name: the parts do not depend on cuts, nor on the order of the events of different items",
  async (format) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyItem(format.kinds), { maxLength: 5 }),
        fc.array(fc.nat(99), { minLength: 1, maxLength: 20 }),
        anyArrival,
        async (makers, picks, arrival) => {
          const items = makers.map((make, place) => make(place));
          const steps = orderSteps(format, items, picks);
          const calls = callsOf(format, items, steps);
          const bytesOf = (ordered: readonly Step[]): Buffer => {
            const said = framesOf(format, items, ordered, picks);
            const frames = [...format.head, ...said, ...format.tail(calls.length > 0)];
            return print(frames, arrival.lineEnd, format.mark);
          };
          const bytes = bytesOf(steps);
          const whole = joined(await read(format, bytes, { ...arrival, ...atOnce }));
          const given = joined(steps.flatMap(({ gives }) => gives ?? []));
          expect(whole).toMatchObject({
            ...{ text: given.text, reasoning: given.reasoning, own: given.own, calls },
            end: { type: "finish", reason: calls.length > 0 ? "tool-calls" : "stop", usage: expectedUsage(format) },
          });
          // The end has the state too, which the provider wants back with every byte.
          expect(joined(await read(format, bytes, arrival))).toEqual(whole);
          if (format.keepsItems === true) {
            const inOrder = bytesOf([...Map.groupBy(steps, ({ key }) => key).values()].flat());
            expect(joined(await read(format, inOrder, { ...arrival, ...atOnce })).end).toEqual(whole.end);
          }
        },
      ),
      { numRuns: 300 },
    );
  },
);

/** The Messages format has no sum. */
function expectedUsage({ name }: Format): Partial<ModelUsage> {
  return name === "Messages" ? { ...usage, totalTokens: undefined } : usage;
}
