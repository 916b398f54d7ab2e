// What docs/models.md says of each provider is what reaches its wire: each capability, sent alone, changes the request or does not.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { fillModelsPage, modelsPagePath } from "../../scripts/models-table.ts";
import { fitRequest } from "../../src/agent/models/media/fit.ts";
import type { ModelRequest, ModelSettings, SettingName } from "../../src/agent/models/model.ts";
import { createOpenAiCompatible } from "../../src/agent/models/openai-compatible/provider.ts";
import { apis } from "../../src/agent/models/providers.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { pngBase64 } from "../fakes/png.ts";
import { openWireServer } from "../fixtures.ts";
import { request } from "./request.ts";
import type { ProviderStage } from "./stage.ts";
import { stages } from "./stages.ts";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, modelsPagePath), "utf8");

test("the page is made of the code as it is", () => {
  expect(fillModelsPage(page)).toBe(page);
});

const [chat, ...others] = stages;
const compatible: ProviderStage = {
  ...(chat ?? expect.fail("no stage")),
  modelName: "llama",
  open: ({ origin, ...options }) => createOpenAiCompatible({ name: "compatible", baseUrl: `${origin}/v1`, ...options }),
};

/** The stages in the order of the table's columns. */
const columns = [chat, ...others, compatible].flatMap((stage) => (stage === undefined ? [] : [stage]));
const named = columns.map((stage, index) => ({ stage, index, name: apis[index]?.title ?? "" }));

const tools = [{ name: "search", description: "", parameters: { type: "object", properties: {} } }];
const settings: { readonly [Name in SettingName]: NonNullable<ModelSettings[Name]> } = {
  ...{ toolChoice: { name: "search" }, parallelToolCalls: false, topP: 0.5, topK: 7, stop: ["END"], seed: 3 },
  ...{
    frequencyPenalty: 0.5,
    presencePenalty: 0.5,
    verbosity: "low",
    serviceTier: "standard_only",
    topLogprobs: 3,
    maxProviderCalls: 3,
    logitBias: '{"7":-1}',
    prediction: '{"type":"content","content":"a b"}',
  },
};

/** Returns the cells of a row, one for each stage. */
function columnsOf(row: string): readonly string[] | undefined {
  const line = page.split("\n").find((each) => each.startsWith(`| ${row} |`));
  return line?.slice(2, -2).split(" | ").slice(1);
}

/** Returns the body that a provider gets for a request, as text. */
async function bodyOf(
  stage: ProviderStage,
  asked: Partial<ModelRequest>,
  modelName = stage.modelName,
): Promise<string> {
  const server = await openWireServer(() => stage.say("ok"));
  const provider = stage.open({ origin: server.origin, apiKey: "k", clock: systemClock });
  onTestFinished(() => provider.close());
  const model = provider.model(modelName);
  const sent = { ...request, ...asked, ...(model.lacksProviderTools === true && { providerTools: [] }) };
  const fitted = await fitRequest(sent, { model, takesUrls: false, load: async () => "none" });
  await Array.fromAsync(model.stream(fitted, new AbortController().signal));
  return (await server.request(0)).text;
}

describe.each(named)("$name", ({ stage, index }) => {
  test.each(Object.entries(settings))("%s", async (setting, value) => {
    const name = setting as SettingName;
    const cells = columnsOf(`\`${AgentSchema.field[name].name}\``);
    const providerTools = ['{"type":"web_search_20250305","name":"web_search"}'];
    const plain = await bodyOf(stage, { tools, providerTools });
    const set = await bodyOf(stage, { tools, providerTools, settings: { [name]: value } });
    expect(set !== plain, set).toBe(cells?.[index] === "yes");
  });

  test("tools, a tool of the provider, a format, an effort and options", async () => {
    const thinker = /^gpt|^llama/.test(stage.modelName) ? "gpt-5" : stage.modelName;
    const schema = { type: "object", properties: {}, required: [], additionalProperties: false };
    const asked: readonly (readonly [Partial<ModelRequest>, string])[] = [
      [{ tools }, '"search"'],
      [{ responseFormat: { type: "json-schema", name: "a", schema, strict: true } }, '"additionalProperties":false'],
      [{ providerOptions: { own_field: 1 } }, '"own_field":1'],
    ];
    for (const [more, text] of asked) {
      expect(await bodyOf(stage, more)).toContain(text);
    }
    const own = '{"type":"own","id":9007199254740993}';
    const isSent = (await bodyOf(stage, { providerTools: [own] })).includes(own);
    expect(isSent).toBe(columnsOf("`tools.provider`")?.[index] === "yes");
    expect(await bodyOf(stage, { reasoningEffort: "high" }, thinker)).not.toBe(await bodyOf(stage, {}, thinker));
  });

  test.each([
    ["image", Buffer.from(pngBase64, "base64")],
    ["audio", Buffer.from("RIFF\0\0\0\0WAVEfmt ")],
    ["file", Buffer.from("%PDF-1.7")],
  ] as const)("%s", async (kind, data) => {
    const part = { type: kind, name: undefined, mediaType: undefined, data };
    const isOpenAi = /^gpt/.test(stage.modelName);
    const model = kind === "audio" && isOpenAi ? "gpt-audio" : stage.modelName;
    const body = await bodyOf(stage, { messages: [{ role: "user", text: "", parts: [part] }] }, model);
    expect(body.includes(data.toString("base64")), body).toBe(columnsOf(kind)?.[index] !== "a note");
  });
});
