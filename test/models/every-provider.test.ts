// What every provider does in its own wire format: text, reasoning, calls, usage, ends, and every kind of failure.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ModelContent, ModelPart, ModelRequest } from "../../src/agent/models/model.ts";
import type { ModelProvider } from "../../src/agent/models/wire/account.ts";
import { lineBytesMax } from "../../src/agent/models/wire/bounds.ts";
import { Recorder } from "../../src/agent/models/wire/recorder.ts";
import { headersLimitMs } from "../../src/agent/models/wire/transport.ts";
import { pngBase64 } from "../fakes/png.ts";
import { fail, type Script, splitBytes, type Wire, type WireServer } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";
import { callsOf, textOf } from "./parts.ts";
import { request } from "./request.ts";
import { stages } from "./stages.ts";

const apiKey = "key-5f1c77aa-of-a-test";
const png = Buffer.from(pngBase64, "base64");
const search = { id: "call_a", name: "search", args: { query: "é", deep: { n: [1, 2.5, null] } } };
const list = { id: "call_b", name: "list", args: {} };
const schema = {
  type: "object",
  properties: {
    query: { type: "string", minLength: 2, default: "x" },
    limit: { anyOf: [{ type: "integer" }, { type: "null" }] },
    mode: { enum: ["a", "b"] },
  },
  required: ["query"],
  additionalProperties: false,
};

describe.each(stages)("a response of $name", (stage) => {
  let clock: ManualClock;
  let server: WireServer;
  let provider: ModelProvider;

  beforeEach(async () => {
    clock = createManualClock({ nowMs: Date.parse("2026-01-01T00:00:00Z") });
    server = await openWireServer();
    provider = stage.open({ origin: server.origin, apiKey, clock });
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    provider.close();
  });

  const stream = (overrides: Partial<ModelRequest> = {}, signal = new AbortController().signal) =>
    provider.model(stage.modelName).stream({ ...request, ...overrides }, signal);
  const collect = async (...scripts: readonly Script[]): Promise<ModelPart[]> => {
    server.respond(...scripts);
    return await Array.fromAsync(stream());
  };

  test("has its text, and a finish with the token usage", async () => {
    const parts = await collect(stage.say("Hel", "lo ", "<é\u2028>"));
    // Pieces that arrive together may be joined.
    expect(textOf(parts)).toBe("Hello <é\u2028>");
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop", usage: stage.usage });
    expect(parts.some((part) => part.type === "usage")).toBe(true);
  });

  test("is recorded with its request, as both went over the wire", async () => {
    const recorder = new Recorder({ clock, bytesMax: 100_000 });
    const script: Script[] = [stage.say("<é\u2028>"), fail(429, '{"error":{"message":"slow down"}}')];
    server.respond(...script);
    await Array.fromAsync(stream({ recorder }));
    await Array.fromAsync(stream({ recorder }));
    const [said, refused] = recorder.exchanges;
    const sent = await server.request(0);
    expect(said?.sent).toEqual({ text: sent.text, bytes: Buffer.byteLength(sent.text), isWhole: true });
    expect(sent.path.endsWith(said?.path ?? "?")).toBe(true);
    expect(said?.received.text).toMatch(/^(event: .+\n)?data: .*<é\u2028>/s);
    expect(refused).toMatchObject({ status: 429, received: { text: '{"error":{"message":"slow down"}}' } });
  });

  test("was requested with the key of this provider and no other key", async () => {
    await collect(stage.say("x"));
    const sent = await server.request(0);
    expect(stage.keyOf(sent)).toBe(apiKey);
    expect(sent.method).toBe("POST");
    expect(sent.path).not.toContain(apiKey);
  });

  test("was requested without a key when none is set, in any environment", async () => {
    for (const name of [
      "OPENAI_API_KEY",
      "GOOGLE_GENERATIVE_AI_API_KEY",
      "ANTHROPIC_API_KEY",
      "ANTHROPIC_AUTH_TOKEN",
    ]) {
      vi.stubEnv(name, "key-of-another-program");
    }
    provider.close();
    provider = stage.open({ origin: server.origin, apiKey: "", clock });
    expect((await collect(stage.say("x"))).at(-1)).toMatchObject({ type: "finish" });
    const { headers } = await server.request(0);
    expect(headers["content-type"]).toBe("application/json");
    for (const name of ["authorization", "x-api-key", "x-goog-api-key"]) {
      expect(headers).not.toHaveProperty(name);
    }
  });

  test.each(["/v1/", "/proxy/v1", "/proxy/v1//"])("was requested below the base URL …%s", async (path) => {
    await collect(stage.say("x"));
    provider.close();
    provider = stage.open({ origin: server.origin, baseUrl: `${server.origin}${path}`, apiKey, clock });
    await collect(stage.say("x"));
    const [usual, other] = [await server.request(0), await server.request(1)];
    expect(other.path).toBe(usual.path.replace(/^\/v1(beta)?/, path.replace(/\/+$/, "")));
  });

  test("is the same when every byte arrives separately, also within a character", async () => {
    const parts = await collect(bytewise(stage.say("für ", "日本", "🚀")));
    expect(textOf(parts)).toBe("für 日本🚀");
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop", usage: stage.usage });
  });

  test("is the same when it ends without an empty line, and not when it ends inside of its last line", async () => {
    const parts = await collect(unterminated(stage.say("für")));
    expect(textOf(parts)).toBe("für");
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop", usage: stage.usage });
    const cut = await collect(stage.begin("half", (wire) => wire.raw('data: {"choices":[{"finish_reason":"sto')));
    expect(cut.at(-1)).toMatchObject({ type: "failure", code: "cut", retryable: true });
  });

  test("has its tool calls whole and in order, with their arguments byte for byte", async () => {
    const parts = await collect(stage.call(search, list));
    const calls = callsOf(parts);
    expect(calls.map(({ name, argumentsJson }) => [name, JSON.parse(argumentsJson)])).toEqual([
      ["search", search.args],
      ["list", list.args],
    ]);
    const given = calls.map(({ id }) => id).filter((id) => id !== "");
    expect(new Set(given).size).toBe(given.length);
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "tool-calls" });
  });

  test("separates reasoning from text", async () => {
    const parts = await collect(stage.think("hm, let me see", "done"));
    expect(parts.find((part) => part.type === "reasoning")).toEqual({ type: "reasoning", text: "hm, let me see" });
    expect(textOf(parts)).toBe("done");
  });

  test("can be answered: the format takes a conversation with its calls and their results", async () => {
    const calls = callsOf(await collect(stage.call(search, list)));
    const [first, second] = calls as [(typeof calls)[number], (typeof calls)[number]];
    server.respond(stage.say("ok"));
    const messages = [
      ...request.messages,
      { role: "assistant", text: "looking", toolCalls: [first, second] },
      { role: "tool", toolCallId: first.id, toolName: first.name, text: "found it" },
      { role: "tool", toolCallId: second.id, toolName: second.name, text: "Error: no", isError: true },
    ] as const;
    const parts = await Array.fromAsync(stream({ messages }));
    expect(textOf(parts)).toBe("ok");
    const body = JSON.stringify((await server.request(1)).body);
    for (const said of ["hello", "looking", "search", "found it", "Error: no", "Be brief."]) {
      expect(body).toContain(said);
    }
    expect(body.indexOf("found it")).toBeLessThan(body.indexOf("Error: no"));
  });

  test("gets images and files in their place between the texts of a message", async () => {
    server.respond(stage.say("ok"));
    const parts: ModelContent[] = [
      { type: "text", text: "One:" },
      { type: "image", name: "one.png", mediaType: "image/png", data: png },
      { type: "placeholder", text: "[image]" },
      // Bytes whose base64 looks like a file id of OpenAI.
      { type: "file", name: "two.pdf", mediaType: "application/pdf", data: Buffer.from("file-abc", "base64url") },
    ];
    await Array.fromAsync(stream({ messages: [{ role: "user", text: "One:", parts }] }));
    expect(stage.partsOf(await server.request(0))).toEqual([
      stage.parts.text("One:"),
      stage.parts.png(png.toString("base64")),
      stage.parts.text("[image]"),
      stage.parts.pdf("file+abc", "two.pdf"),
    ]);
  });

  test.runIf(stage.parts.imageUrl)("gets an image as its URL, which the service does not load", async () => {
    const files = await openWireServer();
    server.respond(stage.say("ok"));
    const url = `${files.origin}/cat.png?size=2`;
    const parts = [{ type: "image", name: undefined, mediaType: undefined, data: new URL(url) }] as const;
    await Array.fromAsync(stream({ messages: [{ role: "user", text: "", parts }] }));
    expect(stage.partsOf(await server.request(0))).toEqual([stage.parts.imageUrl?.(url)]);
    expect(files.connections).toBe(0);
  });

  test.each([
    [{}, { type: "object" }],
    [{ properties: { a: {} } }, { type: "object", properties: { a: {} } }],
    [
      { type: "object", properties: { a: {} }, $defs: { b: { oneOf: [{}] } } },
      { type: "object", properties: { a: {} }, $defs: { b: { oneOf: [{}] } } },
    ],
  ])("gets the schema %j as a schema of an object", async (parameters, sent) => {
    server.respond(stage.say("x"));
    await Array.fromAsync(stream({ tools: [{ name: "zeta", description: "does", parameters }] }));
    expect(stage.schemasOf(await server.request(0))).toEqual([sent]);
  });

  test.each([
    ["does", "does\n\nThe arguments"],
    ["", "The arguments"],
  ])("has a top-level choice of a schema moved into the description %j", async (description, start) => {
    const choice = { anyOf: [{ required: ["a"] }, { required: ["b"] }], not: { required: ["c"] } };
    const shape = { type: "object", properties: { a: {}, b: {} } };
    server.respond(stage.say("x"));
    await Array.fromAsync(stream({ tools: [{ name: "zeta", description, parameters: { ...shape, ...choice } }] }));
    const sent = await server.request(0);
    expect(stage.schemasOf(sent)).toEqual([shape]);
    const text = `${start} must also match this JSON Schema: ${JSON.stringify(choice)}`;
    expect(JSON.stringify(sent.body)).toContain(JSON.stringify(text));
  });

  test("gets tools in order, with their schemas unchanged", async () => {
    server.respond(stage.say("x"));
    const tools = ["zeta", "alpha"].map((name) => ({ name, description: `does ${name}`, parameters: schema }));
    await Array.fromAsync(stream({ tools }));
    const sent = await server.request(0);
    expect(stage.schemasOf(sent)).toEqual([schema, schema]);
    const body = JSON.stringify(sent.body);
    expect(body.indexOf("does zeta")).toBeLessThan(body.indexOf("does alpha"));
  });

  test("arrives piece by piece, as it is sent", async () => {
    const rest = Promise.withResolvers<void>();
    server.respond(
      stage.begin("first", async (wire, sent) => {
        await rest.promise;
        await stage.goOn("second")(wire, sent);
      }),
    );
    const parts = stream()[Symbol.asyncIterator]();
    let next = await parts.next();
    while (next.value?.type !== "text") {
      next = await parts.next();
    }
    expect(next.value).toEqual({ type: "text", text: "first" });
    rest.resolve();
    await parts.return?.();
  });

  test.each(["length", "refused"] as const)("reports that it ended: %s", async (reason) => {
    const parts = await collect(stage.end("so far", reason));
    const expected =
      reason === "length" ? { reason: "length" } : { reason: "content-filter", detail: stage.refusalDetail };
    expect(parts.at(-1)).toMatchObject({ type: "finish", ...expected });
    expect(textOf(parts)).toBe("so far");
  });

  test("whose socket is cut is a retryable failure after the parts so far", async () => {
    const parts = await collect(stage.begin("half", (wire) => wire.cut()));
    expect(textOf(parts)).toBe("half");
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "cut", retryable: true });
  });

  test.each(["cut", "end"] as const)(
    "that comes to its %s before the first piece is a retryable failure",
    async (how) => {
      const parts = await collect((wire) => {
        wire.raw(": hello\n\n");
        return wire[how]();
      });
      expect(parts).toEqual([expect.objectContaining({ type: "failure", code: "cut", retryable: true })]);
    },
  );

  test("that stops without an end is a retryable failure, and its calls are dropped", async () => {
    const parts = await collect(stage.beginCall(search, (wire) => wire.end()));
    expect(parts.some((part) => part.type === "tool-call")).toBe(false);
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "cut", retryable: true });
  });

  test.each([
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [429, true],
    [500, true],
    [503, true],
    [529, true],
  ])("with status %i is a failure, retryable: %s", async (status, retryable) => {
    const body = JSON.stringify({ error: { message: `as ${apiKey} was told` } });
    const [part, ...rest] = await collect(fail(status, body, { "retry-after": "7" }));
    expect(rest).toEqual([]);
    expect(part).toMatchObject({ type: "failure", code: String(status), retryable, retryAfterMs: 7_000 });
    expect(part).toMatchObject({ message: expect.stringContaining(`API error (status ${status}): `) });
    expect(JSON.stringify(part)).not.toContain(apiKey);
  });

  test.each(["passing", "lasting"] as const)("with a %s error in its stream is such a failure", async (kind) => {
    const parts = await collect(stage.begin("half", stage.errorInStream[kind]));
    expect(textOf(parts)).toBe("half");
    expect(parts.at(-1)).toMatchObject({ type: "failure", retryable: kind === "passing" });
  });

  test("never shows its key, even when the provider repeats it", async () => {
    const frame = { error: { type: "error", message: `key ${apiKey} is no good`, code: 401 }, type: "error" };
    const [part] = (await collect(stage.begin("half", (wire) => wire.frame(frame, "error")))).slice(-1);
    expect(part).toMatchObject({ type: "failure" });
    expect(JSON.stringify(part)).not.toContain(apiKey);
  });

  test("leaves messages readable when its key is a word in place of one", async () => {
    provider.close();
    provider = stage.open({ origin: server.origin, apiKey: "none", clock });
    const body = JSON.stringify({ error: { message: "none of the models is loaded" } });
    const [part] = await collect(fail(404, body));
    expect(part).toMatchObject({ message: expect.stringContaining("none of the models") });
  });

  test("continues after a line that cannot be read", async () => {
    const parts = await collect(
      stage.begin("a", async (wire, sent) => {
        wire.raw('data: {"not": json\n\n');
        await stage.goOn("b")(wire, sent);
      }),
    );
    expect(textOf(parts)).toBe("ab");
    expect(parts.at(-1)).toMatchObject({ type: "finish" });
  });

  test.each([
    ["half of a frame", '{"type":"content_block_delta","choices":[{"delta":{"tool_ca'],
    ["two frames in one line", '{"choices":[]}{"choices":[]}'],
  ])("gives no call when it lost %s, which may have been a piece of it", async (_, lost) => {
    const parts = await collect(
      stage.beginCall(search, async (wire, sent) => {
        wire.raw(`data: ${lost}\n\n`);
        await stage.goOn("well")(wire, sent);
      }),
    );
    expect(parts.some(({ type }) => type === "tool-call")).toBe(false);
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "cut", retryable: true });
  });

  test("gives its call although a ping of a gateway is no JSON", async () => {
    const parts = await collect(
      stage.beginCall(search, async (wire, sent) => {
        wire.raw("data: keep-alive\n\n");
        await stage.goOn("well")(wire, sent);
      }),
    );
    expect(parts.slice(-2)).toMatchObject([{ type: "tool-call" }, { type: "finish", reason: "tool-calls" }]);
  });

  test("with a line that is too long is a failure", async () => {
    const parts = await collect(stage.begin("half", (wire) => wire.raw(`data: ${"x".repeat(lineBytesMax)}\n\n`)));
    const message = expect.stringContaining("line is longer");
    expect(parts.at(-1)).toMatchObject({ type: "failure", code: "unreadable", retryable: false, message });
  });

  test("with an event that never ends is a failure, however short its lines are", async () => {
    const endless: Script = async (wire, { closed }) => {
      let isOpen = true;
      void closed.then(() => {
        isOpen = false;
      });
      const lines = `data: ${"x".repeat(1_000)}\n`.repeat(250);
      // Far beyond the limit: a reader without a limit would reach another kind of end.
      for (let sent = 0; isOpen && sent < 3 * lineBytesMax; sent += lines.length) {
        wire.raw(lines);
        await new Promise((next) => setImmediate(next));
      }
    };
    const parts = await collect(stage.begin("half", endless));
    const message = expect.stringContaining("an event is longer");
    expect(parts.at(-1)).toMatchObject({ type: "failure", retryable: false, message });
  });

  test("that is a web page gives an error that names the base URL as the likely cause", async () => {
    const parts = await collect(fail(200, "<html>hello</html>", { "content-type": "text/html" }));
    expect(parts).toEqual([expect.objectContaining({ type: "failure", code: "unreadable", retryable: false })]);
    expect(parts[0]).toMatchObject({ message: expect.stringContaining("base URL") });
  });

  test("that does not begin in time is a retryable failure, and its socket is closed", async () => {
    server.respond((wire) => wire.hang());
    const parts = Array.fromAsync(stream());
    const sent = await server.request(0);
    await clock.advance(headersLimitMs);
    expect(await parts).toEqual([expect.objectContaining({ type: "failure", code: "timeout", retryable: true })]);
    expect(await sent.closed).toBe(false);
  });

  test("from an unreachable server is a retryable failure without the address in its text", async () => {
    await server.close();
    const [part] = await Array.fromAsync(stream());
    expect(part).toMatchObject({ type: "failure", code: "network", retryable: true });
    expect(JSON.stringify(part)).not.toContain("127.0.0.1");
  });

  test("that is aborted ends at once, without another part, and its socket is closed", async () => {
    const stop = new AbortController();
    server.respond(stage.begin("first", (wire) => wire.hang()));
    const parts: ModelPart[] = [];
    for await (const part of stream({}, stop.signal)) {
      parts.push(part);
      if (part.type === "text") {
        stop.abort();
      }
    }
    expect(parts.at(-1)).toEqual({ type: "text", text: "first" });
    expect(await (await server.request(0)).closed).toBe(false);
  });

  test.each(["nothing", "its headers"])("that is aborted after %s is empty, and its socket is closed", async (sent) => {
    const stop = new AbortController();
    server.respond((wire) => {
      if (sent !== "nothing") {
        wire.raw(": hello\n\n");
      }
      return wire.hang();
    });
    const parts = Array.fromAsync(stream({}, stop.signal));
    const { closed } = await server.request(0);
    stop.abort();
    expect(await parts).toEqual([]);
    expect(await closed).toBe(false);
  });

  test("that its reader leaves closes its socket", async () => {
    server.respond(stage.begin("first", (wire) => wire.hang()));
    const parts = stream()[Symbol.asyncIterator]();
    await parts.next();
    await parts.return?.();
    expect(await (await server.request(0)).closed).toBe(false);
  });

  test("reuses a socket that an earlier one left open", async () => {
    await collect(stage.say("a"));
    await collect(stage.say("b"));
    await collect(stage.say("c"));
    expect(server.connections).toBe(1);
  });
});

/** The same frames after a comment, with the line ends of Windows, in pieces of one byte. */
function bytewise(script: Script): Script {
  return rewritten(script, (text) => splitBytes(`: hello\n\n${text}`.replaceAll("\n", "\r\n")));
}

/** The same frames without the mark of the end, and without the line ends behind the last one. */
function unterminated(script: Script): Script {
  return rewritten(script, (text) => [text.replace(/data: \[DONE\]\s*$/, "").trimEnd()]);
}

function rewritten(script: Script, rewrite: (text: string) => readonly (string | Uint8Array)[]): Script {
  return async (wire, request) => {
    const pieces: string[] = [];
    const raw: Wire["raw"] = (...more) => void pieces.push(...more.map(String));
    const frame: Wire["frame"] = (value, event) =>
      raw(event === undefined ? "" : `event: ${event}\n`, `data: ${JSON.stringify(value)}\n\n`);
    await script({ ...wire, raw, frame }, request);
    wire.raw(...rewrite(pieces.join("")));
  };
}
