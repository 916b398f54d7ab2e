// The requests that every provider is asked to send. They have what a conversation may contain: odd texts, ids, arguments and schemas,
// each setting, each effort and each form of the answer.

import type {
  ModelContent,
  ModelMessage,
  ModelRequest,
  ModelSettings,
  ModelToolDefinition,
  ReasoningEffort,
  ResponseFormat,
  SettingName,
} from "../../../src/agent/models/model.ts";
import { RawJson } from "../../../src/platform/base/json/exact.ts";
import { pngBase64 } from "../../fakes/png.ts";
import { request } from "../../models/request.ts";

/** A request with a name that says why it is here. */
export interface RequestCase {
  readonly name: string;
  readonly request: ModelRequest;
}

/** Returns a case that differs from the smallest request in these fields. */
export function caseOf(name: string, fields: Partial<ModelRequest>): RequestCase {
  return { name, request: { ...request, ...fields } };
}

export const hello: ModelMessage = { role: "user", text: "hello" };

const big = new RawJson("2512292042121000001");
const noParameters: ModelToolDefinition = { name: "now", description: "", parameters: {} };

export const tools: readonly ModelToolDefinition[] = [
  noParameters,
  {
    name: "find_a-b",
    description: "Finds.",
    parameters: {
      type: "object",
      properties: { query: { type: "string", minLength: 1 }, limit: { type: ["integer", "null"], maximum: big } },
      required: ["query"],
      additionalProperties: false,
    },
  },
];

const oddSchemas: readonly object[] = [
  { type: "object" },
  { properties: {} },
  { type: "object", oneOf: [{ required: ["a"] }, { required: ["b"] }], properties: { a: {}, b: {} } },
  { type: "object", properties: { node: { $ref: "#/$defs/node" } }, $defs: { node: { anyOf: [{}, { not: {} }] } } },
  { type: "object", properties: { "": true, a: false, "a b.c": { const: null }, ["__proto__"]: { enum: [1, "1"] } } },
  { type: "object", properties: { ids: { type: "array", prefixItems: [{ const: big }], items: false } } },
  { $schema: "https://json-schema.org/draft/2020-12/schema", $id: "x", title: "", type: "object", examples: [{}] },
];

const oddIds = ["", "call_1", "functions.find:0", "é ", "x".repeat(200), "toolu_1|fc_2"];
const oddArguments = ["", "{}", "null", " ", '{"a":', "[1]", '"a"', '{"id":2512292042121000001,"__proto__":{"a":1.0}}'];

const png: ModelContent = {
  type: "image",
  name: "one.png",
  mediaType: "image/png",
  data: Buffer.from(pngBase64, "base64"),
};
const jpeg: ModelContent = {
  type: "image",
  name: undefined,
  mediaType: "image/jpeg",
  data: Uint8Array.of(255, 216, 255),
};
const pdf: ModelContent = { type: "file", name: "a.pdf", mediaType: "application/pdf", data: Buffer.from("%PDF-1.7") };
const namelessPdf: ModelContent = { ...pdf, name: undefined };
const placeholder: ModelContent = { type: "placeholder", text: "\n[image]\n" };

/** Returns an assistant message with these calls, and the results of all of them. */
function callsAndResults(
  calls: readonly { readonly id: string; readonly name?: string; readonly argumentsJson?: string }[],
  result: Partial<Extract<ModelMessage, { role: "tool" }>> = {},
  text = "",
): readonly ModelMessage[] {
  const toolCalls = calls.map(({ id, name = "now", argumentsJson = "{}" }) => ({ id, name, argumentsJson }));
  return [
    { role: "assistant", text, toolCalls },
    ...toolCalls.map(
      ({ id, name }) => ({ role: "tool", toolCallId: id, toolName: name, text: "ok", ...result }) as const,
    ),
  ];
}

const one = [{ id: "call_1", name: "find_a-b", argumentsJson: '{"query":"a"}' }];
const two = [...one, { id: "call_2" }];

const conversations: Readonly<Record<string, readonly ModelMessage[]>> = {
  "a text": [hello],
  "an empty text": [{ role: "user", text: "" }],
  "a blank text before another one": [{ role: "user", text: " \n" }, hello],
  "a text with every kind of character": [{ role: "user", text: 'é\u2028\u0000"\\\ud83d\ude00</script>' }],
  "several texts of the user": [hello, hello],
  "a conversation": [hello, { role: "assistant", text: "hi", toolCalls: [] }, hello],
  "an answer at the beginning": [{ role: "assistant", text: "hi", toolCalls: [] }, hello],
  "calls at the beginning": [...callsAndResults(one), hello],
  "an answer at the end": [hello, { role: "assistant", text: "It is ", toolCalls: [] }],
  "several answers": [hello, ...["a", "b"].map((text) => ({ role: "assistant", text, toolCalls: [] }) as const), hello],
  "an empty answer": [hello, { role: "assistant", text: "", toolCalls: [] }, hello],
  "a blank answer": [hello, { role: "assistant", text: "\n", toolCalls: [] }, hello],
  "a state of another provider": [hello, { role: "assistant", text: "hi", toolCalls: [], state: '{"a":1}' }, hello],
  "a call and its result": [hello, ...callsAndResults(one)],
  "a call with a text": [hello, ...callsAndResults(one, {}, "Let me see.")],
  "parallel calls": [hello, ...callsAndResults(two), hello],
  "calls in successive answers": [hello, ...callsAndResults(one), ...callsAndResults([{ id: "call_9" }])],
  "a result that is empty": [hello, ...callsAndResults(one, { text: "" })],
  "results that failed": [hello, ...callsAndResults(two, { text: "Error: no", isError: true })],
  "calls with odd ids": [hello, ...callsAndResults(oddIds.map((id) => ({ id })))],
  "calls with one id": [
    hello,
    ...callsAndResults([{ id: "call_0" }, { id: "call_0" }]),
    ...callsAndResults([{ id: "call_0" }]),
  ],
  "calls with odd arguments": [
    hello,
    ...callsAndResults(oddArguments.map((argumentsJson, place) => ({ id: `call_${place}`, argumentsJson }))),
  ],
  "an image": [{ role: "user", text: "", parts: [png] }],
  "images and files between texts": [
    {
      role: "user",
      text: "a",
      parts: [{ type: "text", text: "a" }, png, placeholder, jpeg, { type: "text", text: "" }, pdf],
    },
  ],
  "files without a name": [{ role: "user", text: "", parts: [namelessPdf, namelessPdf] }],
};

/** Images of URLs. The service loads the bytes for providers that do not load URLs. */
export const urlCase: RequestCase = caseOf("the URL of an image", {
  messages: [
    {
      role: "user",
      text: "",
      parts: [{ type: "image", name: "a", mediaType: undefined, data: new URL("https://a.example/b.png?c") }],
    },
  ],
});

/** Images and files of tools, for providers that take them. */
export const toolMediaCase: RequestCase = caseOf("images and files of tools", {
  tools,
  messages: [
    hello,
    ...callsAndResults(two, { text: "a", parts: [{ type: "text", text: "a" }, png, pdf, placeholder] }),
  ],
});

const settings: { readonly [Name in SettingName]: readonly NonNullable<ModelSettings[Name]>[] } = {
  toolChoice: ["none", "required", { name: "now" }],
  parallelToolCalls: [false, true],
  topP: [0.5],
  topK: [40],
  stop: [["END"], ["a", "b", "c", "d"]],
  seed: [0, -9_007_199_254_740_991],
  frequencyPenalty: [-2, 0.5],
  presencePenalty: [2],
  verbosity: ["low", "medium", "high"],
  // Callers of OpenAI's API name its tiers for models of every provider.
  serviceTier: ["flex", "priority"],
  topLogprobs: [5, 0],
  maxProviderCalls: [3],
  logitBias: ['{"50256":-100}'],
  prediction: ['{"type":"content","content":"a b"}'],
};

/** A case for each value of each setting, with the name of the setting. */
export const settingCases: readonly (RequestCase & { readonly setting: SettingName })[] = Object.entries(
  settings,
).flatMap(([name, values]) =>
  values.map((value) => ({
    setting: name as SettingName,
    ...caseOf(`${name} ${JSON.stringify(value)}`, { tools, settings: { [name]: value } }),
  })),
);

/** All settings at once, as far as the provider has them. */
export function allSettings(has: ReadonlySet<SettingName>): RequestCase {
  const chosen = Object.entries(settings).flatMap(([name, [value]]) =>
    has.has(name as SettingName) ? [[name, value]] : [],
  );
  return caseOf("all settings", { tools, temperature: 1, settings: Object.fromEntries(chosen) });
}

const efforts: readonly ReasoningEffort[] = ["minimal", "low", "medium", "high"];

const strictSchema = {
  type: "object",
  properties: {
    city: { type: "string", pattern: "^A" },
    kind: { const: "a" },
    size: { anyOf: [{ type: "null" }, { type: "integer", minimum: 1 }] },
  },
  required: ["city", "kind", "size"],
  additionalProperties: false,
};

const formats: Readonly<Record<string, ResponseFormat>> = {
  "any JSON": { type: "json-object" },
  "a strict schema": { type: "json-schema", name: "city", schema: strictSchema, strict: true },
  "a described schema": {
    type: "json-schema",
    name: "a-b_1",
    description: "A thing.",
    schema: { type: "object" },
    strict: false,
  },
};

/** The cases of every provider. */
export const cases: readonly RequestCase[] = [
  ...Object.entries(conversations).map(([name, messages]) => caseOf(name, { messages, tools })),
  caseOf("no tools", {}),
  caseOf("no tools although there were calls", { messages: [hello, ...callsAndResults(one), hello] }),
  caseOf("no system", { system: "" }),
  caseOf("a blank system", { system: " \n" }),
  caseOf("a system and an empty text", { messages: [{ role: "user", text: "" }] }),
  caseOf("one token", { maxTokens: 1 }),
  caseOf("many tokens", { maxTokens: 1_000_000 }),
  ...oddSchemas.map((parameters) =>
    caseOf(`a tool with ${JSON.stringify(parameters)}`, { tools: [{ ...noParameters, parameters }] }),
  ),
  ...[0, 0.7, 2].map((temperature) => caseOf(`temperature ${temperature}`, { temperature })),
  ...efforts.flatMap((reasoningEffort) => [
    caseOf(`effort ${reasoningEffort}`, { reasoningEffort }),
    caseOf(`effort ${reasoningEffort} with tools and more`, {
      reasoningEffort,
      tools,
      temperature: 0.5,
      settings: { toolChoice: "required" },
      ...(formats["a strict schema"] && { responseFormat: formats["a strict schema"] }),
    }),
  ]),
  ...Object.entries(formats).flatMap(([name, responseFormat]) => [
    caseOf(`answers as ${name}`, { responseFormat }),
    caseOf(`answers as ${name}, with tools`, { responseFormat, tools, messages: [hello, ...callsAndResults(one)] }),
  ]),
];
