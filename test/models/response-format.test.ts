// Answers in the form of a JSON Schema: the request for each provider, which models get it, and the fallback after a refusal.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { takesSchema } from "../../src/agent/models/catalogue.ts";
import type { ModelPart, ModelRequest, ResponseFormat } from "../../src/agent/models/model.ts";
import { withResponseFormat } from "../../src/agent/models/response-format.ts";
import type { ModelProvider } from "../../src/agent/models/wire/account.ts";
import { fail, type WireServer } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { textOf } from "./parts.ts";
import { request } from "./request.ts";
import { stages } from "./stages.ts";

const schema = {
  type: "object",
  properties: {
    city: { type: "string", description: "Where." },
    days: { type: "array", items: { anyOf: [{ type: "integer" }, { type: "null" }] } },
    kind: { type: "string", enum: ["rain", "sun"] },
  },
  required: ["city", "days", "kind"],
  additionalProperties: false,
};
const strict: ResponseFormat = { type: "json-schema", name: "weather", schema, strict: true };
const tools = [{ name: "look", description: "looks", parameters: { type: "object", properties: {} } }];
const answer = '{"city":"Oslo","days":[1,null],"kind":"rain"}';

describe.each(stages)("a response format of $name", (stage) => {
  let server: WireServer;
  let provider: ModelProvider;

  beforeEach(async () => {
    server = await openWireServer();
    provider = stage.open({ origin: server.origin, apiKey: "key", clock: createManualClock() });
  });
  afterEach(() => provider.close());

  const ask = async (modelName: string, overrides: Partial<ModelRequest>): Promise<ModelPart[]> => {
    const model = withResponseFormat(provider.model(modelName));
    return await Array.fromAsync(model.stream({ ...request, ...overrides }, new AbortController().signal));
  };
  const formats = (): unknown[] => server.requests.map(stage.formatOf);
  const expected = stage.wireFormat("weather", schema);

  test("is the schema in the provider's wire format, and the answer streams as text", async () => {
    server.respond(stage.say(answer.slice(0, 9), answer.slice(9, 20), answer.slice(20)));
    const parts = await ask(stage.modelName, { responseFormat: strict });
    expect(textOf(parts)).toBe(answer);
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop", usage: stage.usage });
    expect(formats()).toEqual([expected]);
  });

  test("is sent beside tools, and calls arrive as usual", async () => {
    server.respond(stage.call({ id: "c1", name: "look", args: { at: "x" } }), stage.say(answer));
    const called = await ask(stage.schemaModelName, { responseFormat: strict, tools });
    expect(called.flatMap((part) => (part.type === "tool-call" ? [part.call.name] : []))).toEqual(["look"]);
    expect(called.at(-1)).toMatchObject({ type: "finish", reason: "tool-calls" });
    expect(textOf(await ask(stage.schemaModelName, { responseFormat: strict, tools }))).toBe(answer);
    expect(formats()).toEqual([expected, expected]);
    expect(server.requests.map((sent) => stage.schemasOf(sent).length)).toEqual([1, 1]);
  });

  test("is not sent to a model that is known not to support it, which answers with text", async () => {
    server.respond(stage.say("It rains."));
    expect(textOf(await ask(stage.plainModelName, { responseFormat: strict }))).toBe("It rains.");
    expect(formats()).toEqual([undefined]);
  });

  test("is not sent unless the caller requests it", async () => {
    server.respond(stage.say("a"));
    await ask(stage.modelName, {});
    expect(formats()).toEqual([undefined]);
    expect(JSON.stringify(server.requests[0]?.body)).not.toMatch(/response_?format|output_config|responseMime/i);
  });

  test.each([400, 422])(
    "that is refused with status %i is left out of a second request, and the answer is text",
    async (status) => {
      server.respond(fail(status, '{"error":{"message":"unknown field"}}'), stage.say("It rains."));
      expect(textOf(await ask(stage.modelName, { responseFormat: strict }))).toBe("It rains.");
      expect(formats()).toEqual([expected, undefined]);
    },
  );

  test("is kept after other failures, and a request without one is refused once", async () => {
    const refused = fail(400, '{"error":{"message":"too long"}}');
    server.respond(fail(401, "{}"), refused, refused, refused);
    expect(await ask(stage.modelName, { responseFormat: strict })).toMatchObject([{ type: "failure", code: "401" }]);
    expect(await ask(stage.modelName, { responseFormat: strict })).toMatchObject([{ type: "failure", code: "400" }]);
    expect(await ask(stage.modelName, {})).toMatchObject([{ type: "failure", code: "400" }]);
    expect(formats()).toEqual([expected, expected, undefined, undefined]);
  });

  test("that failed after the first word is not sent again", async () => {
    server.respond(stage.begin("half", stage.errorInStream.lasting));
    const parts = await ask(stage.modelName, { responseFormat: strict });
    expect(textOf(parts)).toBe("half");
    expect(server.requests).toHaveLength(1);
  });

  test("is sent to an unknown model", async () => {
    server.respond(stage.say(answer));
    expect(textOf(await ask("a-model-of-tomorrow", { responseFormat: strict }))).toBe(answer);
    expect(formats()).toEqual([expected]);
  });

  test("reaches the provider with any schema", async () => {
    const odd = { type: "object", propertyNames: false, properties: { a: { const: 1, pattern: "(?=x)" } } };
    server.respond(stage.say(answer));
    await ask(stage.modelName, { responseFormat: { ...strict, schema: odd } });
    expect(formats()).toEqual([expect.anything()]);
  });
});

describe("a response format", () => {
  const wires = stages.map((stage) => [stage.name, stage] as const);
  const sent = async (name: string, responseFormat: ResponseFormat, more: Partial<ModelRequest> = {}) => {
    const stage = new Map(wires).get(name) as (typeof stages)[number];
    const server = await openWireServer(() => stage.say("{}"));
    const provider = stage.open({ origin: server.origin, apiKey: "key", clock: createManualClock() });
    const model = withResponseFormat(provider.model(stage.modelName));
    await Array.fromAsync(model.stream({ ...request, ...more, responseFormat }, new AbortController().signal));
    provider.close();
    return stage.formatOf(await server.request(0));
  };
  const loose: ResponseFormat = { type: "json-schema", name: "w", description: "Weather.", schema, strict: false };

  test("that is not strict is sent where the wire format supports that, and left out where all formats are strict", async () => {
    expect(await sent("openai", loose)).toEqual({
      type: "json_schema",
      json_schema: { name: "w", description: "Weather.", strict: false, schema },
    });
    expect(await sent("openai responses", loose)).toEqual({
      type: "json_schema",
      name: "w",
      description: "Weather.",
      strict: false,
      schema,
    });
    expect(await sent("gemini", loose)).toMatchObject({ responseJsonSchema: schema });
    expect(await sent("anthropic", loose)).toBeUndefined();
  });

  test("of any JSON object is sent where the wire format has it", async () => {
    const any: ResponseFormat = { type: "json-object" };
    expect(await sent("openai", any)).toEqual({ type: "json_object" });
    expect(await sent("openai responses", any)).toEqual({ type: "json_object" });
    expect(await sent("gemini", any)).toEqual({ responseMimeType: "application/json" });
    expect(await sent("anthropic", any)).toBeUndefined();
  });

  test("is not sent together with tools to Gemini models before 3, which refuse the two together", async () => {
    expect(await sent("gemini", strict, { tools })).toBeUndefined();
    expect(await sent("gemini", { type: "json-object" }, { tools })).toBeUndefined();
  });
});

describe("the catalogue", () => {
  test.each([
    ["openai", "gpt-4o-mini", true, true],
    ["openai", "gpt-4o-2024-05-13", false, false],
    ["openai", "gpt-4-turbo", false, false],
    ["openai", "chatgpt-4o-latest", false, false],
    ["openai", "o1-mini", false, false],
    ["openai", "o3-mini", true, true],
    ["openai", "gpt-5-nano", true, true],
    ["anthropic", "claude-3-7-sonnet-20250219", false, false],
    ["anthropic", "claude-sonnet-4-20250514", false, false],
    ["anthropic", "claude-opus-4-1-20250805", true, true],
    ["anthropic", "claude-haiku-4-5", true, true],
    ["gemini", "gemini-2.0-flash", false, false],
    ["gemini", "gemini-2.5-pro", true, false],
    ["gemini", "gemini-3-pro", true, true],
    ["compatible", "gpt-4o", undefined, undefined],
    ["openai", "fake", undefined, undefined],
    ["demo", "demo", false, false],
  ])("knows of %s:%s whether it supports a schema: %s, and beside tools: %s", (provider, name, alone, besideTools) => {
    expect(takesSchema({ provider, name }, { hasTools: false })).toBe(alone);
    expect(takesSchema({ provider, name }, { hasTools: true })).toBe(besideTools);
  });
});
