// The calls of a Chat Completions response, as the servers of the world send them: K1 to K5, and E1.

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ModelPart } from "../../src/agent/models/model.ts";
import { createOpenAiCompatible } from "../../src/agent/models/openai-compatible/provider.ts";
import type { ModelProvider } from "../../src/agent/models/wire/account.ts";
import { CallPieces } from "../../src/agent/models/wire/calls.ts";
import type { FakeProvider } from "../fakes/provider.ts";
import { openProvider } from "../fixtures.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { request } from "./request.ts";

let fake: FakeProvider;
let provider: ModelProvider;

beforeEach(async () => {
  fake = await openProvider();
  provider = createOpenAiCompatible({ name: "openai", baseUrl: fake.baseUrl, apiKey: "", clock: createManualClock() });
});

afterEach(() => provider.close());

/** Lets the server send these frames as they are written, and the mark of the end. */
async function read(...frames: readonly string[]): Promise<ModelPart[]> {
  fake.respond((wire) => {
    for (const frame of frames) {
      wire.raw(`data: ${frame}\n\n`);
    }
    wire.done();
  });
  return await Array.fromAsync(provider.model("m").stream(request, new AbortController().signal));
}

const delta = (json: string): string => `{"choices":[{"index":0,"delta":${json}}]}`;
const calls = (...pieces: readonly string[]): string => delta(`{"tool_calls":[${pieces.join(",")}]}`);
const piece = (id: string, text: string): string =>
  calls(JSON.stringify({ index: 0, id, function: { name: "w", arguments: text } }));
const finish = (reason: string): string => `{"choices":[{"index":0,"delta":{},"finish_reason":"${reason}"}]}`;

function callsOf(parts: readonly ModelPart[]): unknown[] {
  return parts.flatMap((part) =>
    part.type === "tool-call" ? [[part.call.id, part.call.name, part.call.argumentsJson]] : [],
  );
}

describe("calls", () => {
  test.each<[string, readonly string[], readonly (readonly [string, string, string])[]]>([
    [
      "with one index and different ids",
      [
        calls('{"index":0,"id":"a","function":{"name":"w","arguments":"{\\"c\\":\\"R\\"}"}}'),
        calls('{"index":0,"id":"b","function":{"name":"k","arguments":"{}"}}'),
      ],
      [
        ["a", "w", '{"c":"R"}'],
        ["b", "k", "{}"],
      ],
    ],
    [
      "that repeat id and name in each piece, without an index",
      ['{\\"x\\"', ":1}"].map((text) => calls(`{"id":"a","function":{"name":"w","arguments":"${text}"}}`)),
      [["a", "w", '{"x":1}']],
    ],
    [
      "interleaved by id, without an index",
      [
        calls('{"id":"a","function":{"name":"w","arguments":"{\\"x\\""}}'),
        calls('{"id":"b","function":{"name":"k","arguments":"{\\"y\\""}}'),
        calls('{"id":"a","function":{"arguments":":1}"}}'),
        calls('{"id":"b","function":{"arguments":":2}"}}'),
      ],
      [
        ["a", "w", '{"x":1}'],
        ["b", "k", '{"y":2}'],
      ],
    ],
    [
      "whose pieces have an id each",
      [
        calls('{"index":0,"id":"a","function":{"name":"w","arguments":""}}'),
        calls('{"index":0,"id":"z1","function":{"arguments":"{\\"x\\""}}'),
        calls('{"index":0,"id":"z2","function":{"arguments":":1}"}}'),
      ],
      [["a", "w", '{"x":1}']],
    ],
    [
      "without ids, and with one index for two names",
      [
        calls('{"index":0,"function":{"name":"w","arguments":"{\\"x\\""}}'),
        calls('{"index":0,"function":{"name":"w","arguments":":1}"}}'),
        calls('{"index":0,"function":{"name":"k","arguments":"{}"}}'),
      ],
      [
        ["", "w", '{"x":1}'],
        ["", "k", "{}"],
      ],
    ],
    [
      "without ids, each in one piece, and with one index for all",
      [
        calls('{"index":0,"id":"","function":{"name":"w","arguments":"{\\"x\\":1}"}}'),
        calls('{"index":0,"id":"","function":{"name":"w","arguments":"{\\"x\\":2}"}}'),
        calls('{"index":0,"id":"","function":{"name":"w","arguments":""}}'),
      ],
      [
        ["", "w", '{"x":1}'],
        ["", "w", '{"x":2}'],
      ],
    ],
    [
      "without ids and indexes, each of which begins with its name",
      [
        calls('{"function":{"name":"w","arguments":"{\\"x\\""}}'),
        calls('{"function":{"arguments":":1}"}}', '{"function":{"name":"w","arguments":"{}"}}'),
        calls('{"function":{"name":"k"}}'),
      ],
      [
        ["", "w", '{"x":1}'],
        ["", "w", "{}"],
        ["", "k", "{}"],
      ],
    ],
    [
      "with arguments that are an object, exactly as it is written",
      [
        calls(
          '{"index":0,"id":"a","function":{"name":"w","arguments":{"id":2512292042121000001,"r":1.0, "t":"\\u00e9"}}}',
        ),
      ],
      [["a", "w", '{"id":2512292042121000001,"r":1.0, "t":"\\u00e9"}']],
    ],
    ...['""', "null", '" "', undefined].map((written): [string, readonly string[], [string, string, string][]] => [
      `without arguments: ${written}`,
      [calls(`{"index":0,"id":"a","function":{"name":"w"${written === undefined ? "" : `,"arguments":${written}`}}}`)],
      [["a", "w", "{}"]],
    ]),
    ...[
      ["again, whole", ['{"x"', ":{}}", '{"x":{}}']],
      ["again in their second piece", ['{"x":{}}', '{"x":{}}']],
      ["after {}, in pieces", ["{}", '{"x"', ":{}}"]],
      ["so far in each piece", ['{"', '{"x":', '{"x":{}}', '{"x":{}}']],
    ].map(([what, texts]): [string, readonly string[], [string, string, string][]] => [
      `whose arguments come ${what}`,
      [...(texts ?? [])].map((text, place) => piece(place === 0 ? "a" : "", text)),
      [["a", "w", '{"x":{}}']],
    ]),
    [
      "whose arguments have braces in their texts, a piece each",
      ["{", '"x":"', "{}", "{}", "}", "{\\", '"}{', '"', "}", " "].map((text) => piece("a", text)),
      [["a", "w", String.raw`{"x":"{}{}}{\"}{"} `]],
    ],
    [
      "in the old form",
      [delta('{"function_call":{"name":"w","arguments":"{\\"x\\""}}'), delta('{"function_call":{"arguments":":1}"}}')],
      [["", "w", '{"x":1}']],
    ],
    [
      "in pieces, and once more in a whole message at the end",
      [
        calls('{"index":0,"id":"a","function":{"name":"w","arguments":"{\\"x\\""}}'),
        calls('{"index":0,"function":{"arguments":":1}"}}'),
        '{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"w","arguments":"{\\"x\\":1}"}}]}}]}',
      ],
      [["a", "w", '{"x":1}']],
    ],
    [
      "in a whole message",
      ['{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"w","arguments":"{}"}}]}}]}'],
      [["a", "w", "{}"]],
    ],
  ])("%s", async (_, frames, expected) => {
    expect(callsOf(await read(...frames, finish("tool_calls")))).toEqual(expected);
  });

  test.each(["length", "model_length", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded"])(
    "of a response that ended by its token limit are named, and not given to run: %s",
    async (reason) => {
      for (const text of ['{\\"amount\\": 10', "{}", ""]) {
        const parts = await read(
          calls(`{"index":0,"id":"a","function":{"name":"pay","arguments":"${text}"}}`),
          finish(reason),
        );
        expect(callsOf(parts)).toEqual([]);
        expect(parts.slice(-2)).toMatchObject([
          { type: "cut-call", id: "a", name: "pay" },
          { type: "finish", reason: "length" },
        ]);
      }
    },
  );

  test("whose arguments do not end were cut by a reason that we do not know, and by an end without one", async () => {
    const open = calls('{"index":0,"id":"a","function":{"name":"pay","arguments":"{\\"amount\\": 10"}}');
    expect((await read(open, finish("limit_of_tomorrow"))).slice(-2)).toMatchObject([
      { type: "cut-call", id: "a", name: "pay" },
      { type: "finish", reason: "length" },
    ]);
    expect((await read(open)).at(-1)).toMatchObject({ type: "failure", code: "cut", retryable: true });
  });

  test.each([
    ["nested too deeply", `{"a":${"[".repeat(200)}${"]".repeat(200)}}`],
    ["of too many values", `[${"1,".repeat(250_000)}1]`],
  ])("with arguments that are JSON %s are a failure", async (_, text) => {
    const parts = await read(
      calls(`{"index":0,"id":"a","function":{"name":"pay","arguments":${text}}}`),
      finish("tool_calls"),
    );
    expect(parts).toMatchObject([{ type: "failure", code: "unreadable", retryable: false }]);
  });

  test.each([
    ["the beginning", ['{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","fun', calls('{"index":0,"id":"a"}')]],
    ["all", ['{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","fun']],
  ])("that lost %s with a frame are no calls: the response was cut", async (_, frames) => {
    expect((await read(...frames, finish("tool_calls"))).at(-1)).toMatchObject({
      type: "failure",
      code: "cut",
      retryable: true,
    });
  });

  test("are whole once their response has its finish: a frame that is lost afterwards is none of theirs", async () => {
    const whole = calls('{"index":0,"id":"a","function":{"name":"w","arguments":"{}"}}');
    const parts = await read(whole, finish("tool_calls"), '{"usage":{"prompt_tok');
    expect(callsOf(parts)).toEqual([["a", "w", "{}"]]);
  });

  test("are the same for every order of their pieces, as long as each call's own pieces are in order", () => {
    const call = fc.record({ id: fc.uuid(), name: fc.constantFrom("f", "g"), text: fc.json() });
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 1, maxLength: 5 }),
        fc.infiniteStream(fc.nat()),
        fc.boolean(),
        (made, picks, hasIndex) => {
          const left = made.map(({ id, name, text }, index) => {
            const half = Math.floor(text.length / 2);
            const place = hasIndex ? { index } : {};
            return [
              { ...place, id, name, text: text.slice(0, half) },
              { ...place, id, text: text.slice(half) },
            ];
          });
          const pieces = new CallPieces();
          for (const [place, [first]] of left.entries()) {
            pieces.add(first ?? {});
            left[place]?.shift();
          }
          for (
            let open = left.filter((each) => each.length > 0);
            open.length > 0;
            open = open.filter((each) => each.length > 0)
          ) {
            pieces.add(open[(picks.next().value ?? 0) % open.length]?.shift() ?? {});
          }
          const whole = pieces.whole()?.map(({ id, name, argumentsJson }) => ({ id, name, text: argumentsJson }));
          expect(whole).toEqual(made);
        },
      ),
    );
  });
});

describe("content", () => {
  const textOf = (parts: readonly ModelPart[]) =>
    parts.flatMap((part) => (part.type === "text" || part.type === "reasoning" ? [[part.type, part.text]] : []));

  test("may be a list of parts, with thoughts, and parts of unknown types are skipped", async () => {
    const parts = await read(
      delta('{"content":[{"type":"thinking","thinking":[{"type":"text","text":"2 and 2"}]}]}'),
      delta('{"content":[{"type":"text","text":"Four"},{"type":"reference","reference_ids":[1]}]}'),
      delta('{"content":"."}'),
      finish("stop"),
    );
    expect(textOf(parts)).toEqual([
      ["reasoning", "2 and 2"],
      ["text", "Four."],
    ]);
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
  });

  test("counts once when a whole message repeats it at the end, and what it adds counts too", async () => {
    const parts = await read(
      delta('{"role":"assistant","content":"","reasoning_content":"hm"}'),
      '{"choices":[{"index":0,"delta":{"content":"Fo"}}],"base_resp":{"status_code":0,"status_msg":""}}',
      delta('{"content":"ur"}'),
      '{"object":"chat.completion","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"Four","reasoning_content":"hm","tool_calls":[{"id":"a","function":{"name":"w","arguments":"{}"}}]}}]}',
    );
    expect(textOf(parts)).toEqual([
      ["reasoning", "hm"],
      ["text", "Four"],
    ]);
    expect(callsOf(parts)).toEqual([["a", "w", "{}"]]);
  });

  test("is complete after the mark of the end, also without a finish reason", async () => {
    const parts = await read(delta('{"content":"Four"}'));
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "other" });
  });

  test("is not complete at the end of the connection alone, nor when there was none", async () => {
    fake.respond((wire) => {
      wire.raw(`data: ${delta('{"content":"Four"}')}\n\n`);
      wire.end();
    });
    const parts = await Array.fromAsync(provider.model("m").stream(request, new AbortController().signal));
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "cut" });
    expect((await read()).at(-1)).toMatchObject({ type: "failure", code: "cut" });
  });

  test("of a gateway's reasoning_details is joined, and sent back as it came", async () => {
    const details = [
      '{"type":"reasoning.text","text":"2 and","index":0,"format":"x"}',
      '{"type":"reasoning.text","text":" 2","index":0,"signature":"s"}',
      '{"type":"reasoning.encrypted","data":"abc","id":"r1","index":1}',
    ];
    const parts = await read(
      ...details.map((detail) => delta(`{"reasoning_details":[${detail}]}`)),
      calls('{"index":0,"id":"a","function":{"name":"w","arguments":"{}"}}'),
      finish("tool_calls"),
    );
    const last = parts.at(-1);
    const state = last?.type === "finish" ? last.state : undefined;
    fake.respond((wire) => wire.done());
    const history = [
      { role: "user" as const, text: "2 + 2?" },
      { role: "assistant" as const, text: "", toolCalls: [{ id: "a", name: "w", argumentsJson: "{}" }], state },
      { role: "tool" as const, toolCallId: "a", toolName: "w", text: "4" },
    ];
    const again = { ...request, messages: history };
    await Array.fromAsync(provider.model("m").stream(again, new AbortController().signal));
    const { body } = await fake.request(1);
    expect(body.messages[2]).toMatchObject({
      role: "assistant",
      reasoning_details: [
        { type: "reasoning.text", text: "2 and 2", index: 0, format: "x", signature: "s" },
        { type: "reasoning.encrypted", data: "abc", id: "r1", index: 1 },
      ],
    });
  });
});

describe("data that a server wants back with a call", () => {
  /** What the next request has of it, when the message has calls with these ids. */
  async function givenBack(ids: readonly string[], pieces: readonly string[]): Promise<unknown[]> {
    const last = (await read(calls(...pieces), finish("tool_calls"))).at(-1);
    const state = last?.type === "finish" ? last.state : undefined;
    fake.respond((wire) => wire.done());
    const toolCalls = ids.map((id) => ({ id, name: "w", argumentsJson: "{}" }));
    const messages = [{ role: "assistant" as const, text: "", toolCalls, state }];
    await Array.fromAsync(provider.model("m").stream({ ...request, messages }, new AbortController().signal));
    const { body } = await fake.request(1);
    const [, { tool_calls: sent }] = body.messages as [
      unknown,
      { tool_calls: { id: string; extra_content: unknown }[] },
    ];
    return sent.map(({ id, extra_content: extra }) => [id, extra]);
  }
  const piece = (at: number, id: string, name = "w"): string =>
    `{"index":${at},"id":"${id}","function":{"name":"${name}","arguments":"{}"},"extra_content":{"s":${at}}}`;

  test("goes back with the same call, by its id", async () => {
    expect(await givenBack(["b", "a"], [piece(0, "a"), piece(1, "b")])).toEqual([
      ["b", { s: 1 }],
      ["a", { s: 0 }],
    ]);
  });

  test("goes back with the same call, by its place when the server gave no ids", async () => {
    expect(await givenBack(["x", "y"], [piece(0, ""), piece(1, "", "other"), piece(2, "")])).toEqual([
      ["x", { s: 0 }],
      ["y", { s: 2 }],
    ]);
  });
});

describe("a server that refuses max_tokens", () => {
  const refused = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";

  test.each([
    ["by a sentence", { message: refused }],
    ["by a code", { message: "max_tokens is not supported", code: "unsupported_parameter" }],
  ])("%s is asked once more as it wants it, and from then on at once", async (_, error) => {
    fake.respond((wire) => wire.reply(400, JSON.stringify({ error })));
    for (const _ of [1, 2]) {
      expect((await read(delta('{"content":"hi"}'), finish("stop"))).at(-1)).toMatchObject({ type: "finish" });
    }
    const bodies = await Promise.all([0, 1, 2].map(async (at) => (await fake.request(at)).body));
    expect(bodies.map((body) => [body.max_tokens, body.max_completion_tokens])).toEqual([
      [100, undefined],
      [undefined, 100],
      [undefined, 100],
    ]);
  });

  test.each([
    ["for another reason", "m", "max_tokens is too large"],
    ["of another name", "m", "max_completion_tokens is too large"],
    ["of both names", "m", "'max_tokens' or 'max_completion_tokens' is too large"],
    ["that a model known to reason does not get", "o3", refused],
  ])("%s is not asked again", async (_, model, message) => {
    fake.respond((wire) => wire.reply(400, JSON.stringify({ error: { message } })));
    const parts = await Array.fromAsync(provider.model(model).stream(request, new AbortController().signal));
    expect(parts).toMatchObject([{ type: "failure", cause: "invalid_request" }]);
    expect(fake.requests).toHaveLength(1);
  });

  test("is remembered for the latest models", async () => {
    const ask = async (model: string): Promise<number> => {
      const before = fake.requests.length;
      fake.respond(
        (wire) => wire.reply(400, JSON.stringify({ error: { message: refused } })),
        (wire) => wire.done(),
      );
      await Array.fromAsync(provider.model(model).stream(request, new AbortController().signal));
      return fake.requests.length - before;
    };
    for (let count = 0; count < 300; count += 1) {
      expect(await ask(`m${count}`)).toBe(2);
    }
    fake.respond((wire) => wire.done());
    await Array.fromAsync(provider.model("m299").stream(request, new AbortController().signal));
    expect((await fake.request(600)).body).toMatchObject({ max_completion_tokens: 100 });
  });
});

describe("an error", () => {
  test.each([
    ["as a frame of its own", 'data: {"object":"error","message":"context too long"}\n\n', "context too long"],
    [
      "as MiniMax reports it",
      'data: {"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}\n\n',
      "insufficient balance",
    ],
    ["as an event with plain text", "event: error\ndata: no credits left\n\n", "no credits left"],
    ["as an event with JSON", 'event: error\ndata: {"error":{"message":"no credits left"}}\n\n', "no credits left"],
  ])("%s has its words", async (_, bytes, words) => {
    fake.respond((wire) => {
      wire.raw(bytes);
      wire.done();
    });
    const parts = await Array.fromAsync(provider.model("m").stream(request, new AbortController().signal));
    expect(parts).toMatchObject([{ type: "failure", message: `API error in stream: ${words}` }]);
  });

  test("as a whole JSON answer with status 200 has its words", async () => {
    fake.respond((wire) => wire.reply(200, '{"error":{"message":"no credits left","code":402}}'));
    const parts = await Array.fromAsync(provider.model("m").stream(request, new AbortController().signal));
    expect(parts).toMatchObject([
      { type: "failure", code: "402", retryable: false, message: "API error in stream: no credits left" },
    ]);
  });
});
