// What we know of models in advance: their context size, the media they read, their prices, and whether they support a JSON
// Schema. `priceTable` is the version of the prices and is recorded beside every cost. Models that are not in the tables work
// as well; only their cost is unknown.

import { parseObject } from "../../platform/base/json/parse-object.ts";
import type { MediaKind } from "../../platform/base/media-type.ts";
import type { ModelPart, ModelUsage } from "./model.ts";

/** The month of the list prices. Update it with every changed row. */
export const priceTable = "2026-11";

/** US dollars per million tokens, which equals millionths of a dollar per token. */
export interface Price {
  readonly input: number;
  /** The price of input that the provider read from its cache. */
  readonly cached: number;
  readonly output: number;
  /** Millionths of a dollar per call of a tool that the provider runs, by its name. Other tools cost their tokens alone. */
  readonly calls?: Readonly<Record<string, number>> | undefined;
}

/** Google has no row: its searches are free up to a number a day. Code is charged by the time of its container. */
const callPrices: Readonly<Record<string, Price["calls"]>> = {
  openai: { web_search: 10_000, file_search: 2_500 },
  anthropic: { web_search: 10_000 },
};

interface Family {
  readonly provider: string;
  /** The longest matching prefix decides. */
  readonly prefix: string;
  readonly contextTokens: number;
  readonly price: Price;
}

const families: readonly Family[] = [
  ...openai(128_000, ["gpt-4o", 2.5, 1.25, 10], ["gpt-4o-mini", 0.15, 0.075, 0.6], ["chatgpt-4o", 5, 5, 15]),
  ...openai(128_000, ["gpt-4-turbo", 10, 10, 30]),
  ...openai(16_000, ["gpt-3.5-turbo", 0.5, 0.5, 1.5]),
  ...openai(1_000_000, ["gpt-4.1", 2, 0.5, 8], ["gpt-4.1-mini", 0.4, 0.1, 1.6], ["gpt-4.1-nano", 0.1, 0.025, 0.4]),
  ...openai(400_000, ["gpt-5", 1.25, 0.125, 10], ["gpt-5-mini", 0.25, 0.025, 2], ["gpt-5-nano", 0.05, 0.005, 0.4]),
  ...openai(200_000, ["o1", 15, 7.5, 60], ["o1-mini", 1.1, 0.55, 4.4], ["o3", 2, 0.5, 8]),
  ...openai(200_000, ["o3-mini", 1.1, 0.55, 4.4], ["o4-mini", 1.1, 0.275, 4.4]),
  ...gemini(1_000_000, ["gemini-2.5-pro", 1.25, 0.31, 10], ["gemini-2.5-flash", 0.3, 0.075, 2.5]),
  ...gemini(1_000_000, ["gemini-2.5-flash-lite", 0.1, 0.025, 0.4], ["gemini-2.0-flash", 0.1, 0.025, 0.4]),
  ...gemini(2_000_000, ["gemini-1.5-pro", 1.25, 0.3125, 5]),
  ...gemini(1_000_000, ["gemini-1.5-flash", 0.075, 0.01875, 0.3], ["gemini-3-pro", 2, 0.2, 12]),
  ...anthropic(200_000, ["claude-opus-4", 15, 1.5, 75], ["claude-opus-4-5", 5, 0.5, 25]),
  ...anthropic(200_000, ["claude-sonnet-4", 3, 0.3, 15], ["claude-haiku-4", 1, 0.1, 5]),
  ...anthropic(200_000, ["claude-3-7-sonnet", 3, 0.3, 15], ["claude-3-5-sonnet", 3, 0.3, 15]),
  ...anthropic(200_000, ["claude-3-5-haiku", 0.8, 0.08, 4], ["claude-3-haiku", 0.25, 0.03, 1.25]),
];

/** Returns the known models with the names of their providers. */
export function catalogue(): readonly { readonly provider: string; readonly name: string }[] {
  return families.map(({ provider, prefix }) => ({ provider, name: prefix }));
}

/** The assumed context size of a model that is not in the table. */
const contextTokensDefault = 128_000;

/** Returns the price of a model, or undefined when it is unknown. The demo model is free. */
export function priceOf(model: { readonly provider: string; readonly name: string }): Price | undefined {
  return model.provider === "demo" ? free : findFamily(model)?.price;
}

/** Returns the context size of a model in tokens. */
export function contextTokensOf(model: { readonly provider: string; readonly name: string }): number {
  return findFamily(model)?.contextTokens ?? contextTokensDefault;
}

/**
 * Returns the media types of images, audio and files that a model reads. An unknown model of a provider reads the same types as the
 * provider's other models. A model on the operator's own server reads images and audio.
 */
export function mediaTypesOf({
  provider,
  name,
}: {
  readonly provider: string;
  readonly name: string;
}): readonly string[] {
  const exception = otherReading.find(([of, pattern]) => of === provider && pattern.test(name));
  return exception?.[2] ?? readByProvider[provider] ?? [];
}

const images = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const pdf = "application/pdf";
const speech = ["audio/wav", "audio/mpeg"];

const readByProvider: Readonly<Record<string, readonly string[]>> = {
  openai: [...images, pdf],
  anthropic: [...images, pdf],
  gemini: [
    "image/png",
    "image/jpeg",
    "image/webp",
    pdf,
    ...speech,
    "audio/aac",
    "audio/flac",
    "audio/ogg",
    "audio/aiff",
  ],
  compatible: [...images, ...speech],
};

/** Models that read other types than the others of their provider. */
const otherReading: readonly (readonly [provider: string, name: RegExp, reads: readonly string[]])[] = [
  ["openai", /^(gpt-3\.5|gpt-4(-\d{4}|-32k|$)|o1-(mini|preview)|o3-mini)/, []],
  ["openai", /^(gpt-4-turbo|chatgpt-4o)/, images],
  ["openai", /^gpt-[\w.-]*audio/, speech],
  ["anthropic", /^claude-(2|instant)/, []],
  ["anthropic", /^claude-3-(haiku|opus|sonnet)/, images],
];

/** Returns the cost in millionths of a dollar, rounded up. Tokens that were not counted cost nothing. */
export function costOf(price: Price, usage: ModelUsage): number {
  const { promptTokens = 0, cachedTokens = 0, completionTokens = 0 } = usage;
  const cached = Math.min(cachedTokens, promptTokens);
  return Math.ceil((promptTokens - cached) * price.input + cached * price.cached + completionTokens * price.output);
}

/**
 * Returns the cost of a call that the provider has run, in millionths of a dollar. A call that failed is free, and so is a page that a
 * search of OpenAI opens.
 */
export function costOfCall({ calls }: Price, { call, outcome }: Extract<ModelPart, { type: "provider-call" }>): number {
  const price = "error" in outcome ? 0 : (calls?.[call.name] ?? 0);
  return price > 0 && isOfPage(call.argumentsJson) ? 0 : price;
}

function isOfPage(argumentsJson: string): boolean {
  const { type }: { readonly type?: unknown } = parseObject(argumentsJson) ?? {};
  return type === "open_page" || type === "find_in_page";
}

/** Estimates the tokens of a text. Four bytes are about one token, in every script that models are trained on. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/** Returns whether a model can be forced to follow a JSON Schema, or undefined when the table does not have the model. */
export function takesSchema(
  model: { readonly provider: string; readonly name: string },
  { hasTools }: { readonly hasTools: boolean },
): boolean | undefined {
  const support = findLongest(schemaRows, model)?.support;
  return support === "without-tools" ? !hasTools : support && support === "yes";
}

interface SchemaRow {
  readonly provider: string;
  /** The longest matching prefix decides. */
  readonly prefix: string;
  readonly support: "yes" | "no" | "without-tools";
}

const schemaRows: readonly SchemaRow[] = [
  ...schemaRowsOf("openai", "yes", ["gpt-4o", "gpt-4.1", "gpt-5", "o1", "o3", "o4-mini"]),
  ...schemaRowsOf("openai", "no", ["gpt-3.5", "gpt-4", "gpt-4o-2024-05-13", "chatgpt-", "o1-mini", "o1-preview"]),
  ...schemaRowsOf("gemini", "yes", ["gemini-3"]),
  ...schemaRowsOf("gemini", "without-tools", ["gemini-2.5"]),
  // These models support only a different dialect of schemas.
  ...schemaRowsOf("gemini", "no", ["gemini-1", "gemini-2.0"]),
  ...schemaRowsOf("anthropic", "yes", ["claude-sonnet-4-5", "claude-sonnet-4-6", "claude-haiku-4-5"]),
  ...schemaRowsOf("anthropic", "yes", ["claude-opus-4-1", "claude-opus-4-5", "claude-opus-4-6", "claude-opus-4-7"]),
  ...schemaRowsOf("anthropic", "no", ["claude-2", "claude-3", "claude-sonnet-4", "claude-opus-4"]),
  ...schemaRowsOf("demo", "no", [""]),
];

function schemaRowsOf(provider: string, support: SchemaRow["support"], prefixes: readonly string[]): SchemaRow[] {
  return prefixes.map((prefix) => ({ provider, prefix, support }));
}

/** The tokens of a large image at most providers. A page of a file costs the same, and is seldom smaller than 32 KiB. */
const imageTokens = 1_500;
const pageBytes = 32_768;

/** Estimates the tokens of an image, a recording or a file. `sizeBytes` is undefined for a file that is not loaded yet. */
export function estimateMediaTokens(type: MediaKind, sizeBytes: number | undefined): number {
  return type === "image" ? imageTokens : imageTokens * Math.ceil((sizeBytes ?? pageBytes) / pageBytes);
}

const free: Price = { input: 0, cached: 0, output: 0 };

function findFamily(model: { readonly provider: string; readonly name: string }): Family | undefined {
  return findLongest(families, model);
}

function findLongest<Row extends { readonly provider: string; readonly prefix: string }>(
  rows: readonly Row[],
  { provider, name }: { readonly provider: string; readonly name: string },
): Row | undefined {
  const fitting = rows.filter((row) => row.provider === provider && name.startsWith(row.prefix));
  return fitting.toSorted((one, other) => other.prefix.length - one.prefix.length)[0];
}

type Row = readonly [prefix: string, input: number, cached: number, output: number];

function openai(contextTokens: number, ...rows: readonly Row[]): Family[] {
  return rows.map((row) => family("openai", contextTokens, row));
}

function gemini(contextTokens: number, ...rows: readonly Row[]): Family[] {
  return rows.map((row) => family("gemini", contextTokens, row));
}

function anthropic(contextTokens: number, ...rows: readonly Row[]): Family[] {
  return rows.map((row) => family("anthropic", contextTokens, row));
}

function family(provider: string, contextTokens: number, [prefix, input, cached, output]: Row): Family {
  return { provider, prefix, contextTokens, price: { input, cached, output, calls: callPrices[provider] } };
}
