// The official SDKs of the providers, against a server of the test.

import { createRequire } from "node:module";
import { join } from "node:path";
import type { RequestCase } from "./cases.ts";

type Fields = Readonly<Record<string, unknown>>;
type Stream = AsyncIterable<unknown>;

/** An SDK. Both functions read all of the answer, and reject when the SDK refuses to send. */
export interface Sdk {
  /** Sends a body that was recorded, as a user of the SDK would write it. */
  readonly resend: (body: Fields, model: string) => Promise<unknown>;
  /** Asks with a tool, and again with the answer and the result of its call, as the manual of the SDK says. */
  readonly converse: (plain: PlainCall) => Promise<unknown>;
}

/** A request with one tool, and the result of its call. */
export interface PlainCall {
  readonly model: string;
  readonly request: RequestCase["request"];
  readonly result: string;
}

/** The name of an SDK. Mistral's judges what compatible servers get. */
export type SdkName = "chat" | "mistral" | "responses" | "anthropic" | "google";

const apiKey = "key";

/** Opens the SDKs that are installed in the folder. */
export function openSdks(folder: string, origin: string): Readonly<Record<SdkName, Sdk>> {
  const load = createRequire(join(folder, "package.json"));
  const { OpenAI } = load("openai");
  const { GoogleGenAI, createPartFromFunctionResponse } = load("@google/genai");
  const { Mistral } = load("@mistralai/mistralai");
  const openAi: OpenAi = new OpenAI({ apiKey, baseURL: `${origin}/v1`, maxRetries: 0 });
  const anthropic: Anthropic = new (load("anthropic-0").Anthropic)({ apiKey, baseURL: origin, maxRetries: 0 });
  const google: Google = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: origin, apiVersion: "v1beta" } });
  const mistral: MistralAi = new Mistral({ apiKey, serverURL: origin, retryConfig: { strategy: "none" } });
  return {
    chat: chatSdk(openAi),
    responses: responsesSdk(openAi),
    anthropic: anthropicSdk(anthropic),
    google: googleSdk(google, createPartFromFunctionResponse),
    mistral: mistralSdk(mistral),
  };
}

interface OpenAi {
  readonly chat: {
    readonly completions: {
      create(body: object): Promise<Stream>;
      stream(body: object): { finalMessage(): Promise<{ readonly tool_calls: readonly { readonly id: string }[] }> };
    };
  };
  readonly responses: {
    create(body: object): Promise<Stream>;
    stream(body: object): { finalResponse(): Promise<{ readonly output: readonly { readonly call_id: string }[] }> };
  };
}

function chatSdk({ chat: { completions } }: OpenAi): Sdk {
  return {
    resend: async (body) => await Array.fromAsync(await completions.create(body)),
    converse: async ({ model, request: { system, tools }, result }) => {
      const offered = tools.map((tool) => ({ type: "function", function: tool }));
      const messages: object[] = [
        { role: "system", content: system },
        { role: "user", content: "hello" },
      ];
      const said = await completions.stream({ model, messages, tools: offered }).finalMessage();
      messages.push(said, ...said.tool_calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: result })));
      return await Array.fromAsync(await completions.create({ model, messages, tools: offered, stream: true }));
    },
  };
}

function responsesSdk({ responses }: OpenAi): Sdk {
  return {
    resend: async (body) => await Array.fromAsync(await responses.create(body)),
    converse: async ({ model, request: { system, tools }, result }) => {
      const offered = tools.map((tool) => ({ type: "function", ...tool, strict: false }));
      const input: object[] = [
        { role: "system", content: system },
        { role: "user", content: "hello" },
      ];
      const { output } = await responses.stream({ model, input, tools: offered, store: false }).finalResponse();
      const results = output.map(({ call_id }) => ({ type: "function_call_output", call_id, output: result }));
      const next = { model, input: [...input, ...output, ...results], tools: offered, store: false, stream: true };
      return await Array.fromAsync(await responses.create(next));
    },
  };
}

interface Anthropic {
  readonly messages: {
    create(body: object): Promise<Stream>;
    stream(body: object): { finalMessage(): Promise<{ readonly content: readonly { readonly id: string }[] }> };
  };
}

function anthropicSdk({ messages }: Anthropic): Sdk {
  return {
    resend: async (body) => await Array.fromAsync(await messages.create(body)),
    converse: async ({ model, request: { system, tools, maxTokens }, result }) => {
      const offered = tools.map(({ name, description, parameters }) => ({
        name,
        description,
        input_schema: parameters,
      }));
      const asked = { model, system, max_tokens: maxTokens, tools: offered };
      const hello = { role: "user", content: "hello" };
      const { content } = await messages.stream({ ...asked, messages: [hello] }).finalMessage();
      const results = content.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: result }));
      const said = [hello, { role: "assistant", content }, { role: "user", content: results }];
      return await Array.fromAsync(await messages.create({ ...asked, messages: said, stream: true }));
    },
  };
}

interface Google {
  readonly models: { generateContentStream(request: object): Promise<Stream> };
  readonly chats: {
    create(options: object): {
      sendMessageStream(message: object): Promise<AsyncIterable<{ readonly functionCalls?: readonly GoogleCall[] }>>;
    };
  };
}

interface GoogleCall {
  readonly id?: string;
  readonly name: string;
}

type MakePart = (id: string | undefined, name: string, response: object) => object;

function googleSdk({ models, chats }: Google, makePart: MakePart): Sdk {
  return {
    // The SDK wants the parts of the body under other names.
    resend: async ({ contents, generationConfig, ...others }, model) => {
      const config = { ...(generationConfig as Fields), ...others };
      return await Array.fromAsync(await models.generateContentStream({ model, contents, config }));
    },
    converse: async ({ model, request: { system, tools }, result }) => {
      const declared = tools.map(({ parameters, ...tool }) => ({ ...tool, parametersJsonSchema: parameters }));
      const config = { systemInstruction: system, tools: [{ functionDeclarations: declared }] };
      const chat = chats.create({ model, config });
      const calls: GoogleCall[] = [];
      for await (const { functionCalls = [] } of await chat.sendMessageStream({ message: "hello" })) {
        calls.push(...functionCalls);
      }
      const message = calls.map(({ id, name }) => makePart(id, name, { output: result }));
      return await Array.fromAsync(await chat.sendMessageStream({ message }));
    },
  };
}

interface MistralAi {
  readonly chat: { stream(request: object): Promise<AsyncIterable<MistralEvent>> };
}

interface MistralEvent {
  readonly data: { readonly choices: readonly { readonly delta: { readonly toolCalls?: readonly MistralCall[] } }[] };
}

interface MistralCall {
  readonly id: string;
  readonly function: { readonly name: string };
}

function mistralSdk({ chat }: MistralAi): Sdk {
  return {
    resend: async (body) => await Array.fromAsync(await chat.stream(toCamel(body) as Fields)),
    converse: async ({ model, request: { system, tools }, result }) => {
      const offered = tools.map((tool) => ({ type: "function", function: tool }));
      const messages: object[] = [
        { role: "system", content: system },
        { role: "user", content: "hello" },
      ];
      const events = await Array.fromAsync(await chat.stream({ model, messages, tools: offered }));
      const toolCalls = events.flatMap(({ data }) => data.choices.flatMap(({ delta }) => delta.toolCalls ?? []));
      messages.push({ role: "assistant", content: null, toolCalls });
      messages.push(
        ...toolCalls.map(({ id, function: { name } }) => ({ role: "tool", toolCallId: id, name, content: result })),
      );
      return await Array.fromAsync(await chat.stream({ model, messages, tools: offered }));
    },
  };
}

/** Members whose own names belong to the caller. */
const free: ReadonlySet<string> = new Set(["parameters", "schema", "metadata"]);

/** Returns a body with the names of Mistral's SDK. */
function toCamel(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(toCamel);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name === "schema" ? "schemaDefinition" : name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      free.has(name) ? member : toCamel(member),
    ]),
  );
}
