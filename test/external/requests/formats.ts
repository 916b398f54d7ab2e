// The formats of requests: who sends them, which models differ in them, and the type that the official SDK gives to their bodies.

import { createOpenAiCompatible } from "../../../src/agent/models/openai-compatible/provider.ts";
import { onGemini } from "../../fakes/gemini-provider.ts";
import { onChat } from "../../fakes/provider.ts";
import type { Script } from "../../fakes/wire-server.ts";
import { anthropicStage } from "../../models/anthropic-stage.ts";
import { chatStage } from "../../models/chat-stage.ts";
import { geminiStage } from "../../models/gemini-stage.ts";
import { responsesStage } from "../../models/openai-responses-stage.ts";
import type { ProviderStage } from "../../models/stage.ts";
import { caseOf, type RequestCase, tools, urlCase } from "./cases.ts";
import type { SdkName } from "./sdks.ts";
import {
  chatTurns,
  compatibleTurns,
  geminiTurns,
  messagesBetaTurns,
  messagesTurns,
  responsesTurns,
  type Turns,
} from "./turns.ts";

/** A format, and the SDK that judges it. */
export interface Format {
  readonly name: string;
  readonly open: ProviderStage["open"];
  /** Any complete response. */
  readonly answer: Script;
  /** A response with one call. */
  readonly call: Script;
  /** One of each family that has requests of its own. */
  readonly models: readonly string[];
  /** The types of a body, in `typeSource`. */
  readonly types: readonly string[];
  /** The types of a body of beta features. */
  readonly betaTypes?: readonly string[];
  readonly sdk: SdkName;
  readonly turns: Turns;
  /** Responses of beta features. */
  readonly betaTurns?: Turns;
  /** Requests with tools and options that only this provider has. */
  readonly own: readonly RequestCase[];
}

/** Declares the types of all bodies. */
export const typeSource = `
import type { MessageCreateParamsStreaming as Messages0 } from "anthropic-0/resources/messages";
import type { MessageCreateParamsStreaming as BetaMessages0 } from "anthropic-0/resources/beta/messages";
import type { MessageCreateParamsStreaming as Messages1 } from "@anthropic-ai/sdk/resources/messages";
import type { MessageCreateParamsStreaming as BetaMessages1 } from "@anthropic-ai/sdk/resources/beta/messages";
import type * as google from "@google/genai";
import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import type { ResponseCreateParamsStreaming } from "openai/resources/responses/responses";

/** JSON has the values of enums as texts. */
type Json<T> = T extends string ? \`\${T}\` : { [Key in keyof T]: Json<T[Key]> };

/** The SDK takes the parts of a body of generateContent under other names, and converts them: \`resend\` shows into what. */
interface GenerateContent {
  contents: Json<google.Content[]>;
  systemInstruction?: Json<google.Content>;
  tools?: Json<google.Tool[]>;
  toolConfig?: Json<google.ToolConfig>;
  generationConfig?: Json<google.GenerationConfig>;
  safetySettings?: Json<google.SafetySetting[]>;
  cachedContent?: string;
}
`;

const call = { id: "call00001", name: "find_a-b", args: { query: "a" } };
const wireCall = { index: 0, id: call.id, type: "function", function: { name: call.name, arguments: '{"query":"a"}' } };

/** The SDK reads a response only if it has the role that the service sends. */
const chatCall = onChat((wire) => {
  wire.delta({ role: "assistant", content: null, tool_calls: [wireCall] });
  wire.done("tool_calls");
});

/** Newer models give ids to their calls. */
const geminiCall = onGemini((wire) => wire.parts([{ functionCall: call }], { finishReason: "STOP" }));

const optionsOfChat = {
  user: "a",
  metadata: { a: "b" },
  logit_bias: { "1": 2 },
  prompt_cache_key: "a",
  logprobs: true,
};

export const formats: readonly Format[] = [
  {
    name: "Chat Completions of OpenAI",
    open: chatStage.open,
    answer: chatStage.say("ok"),
    call: chatCall,
    models: ["gpt-4o", "gpt-5.1", "o3-mini", "gpt-5-chat-latest"],
    types: ["ChatCompletionCreateParamsStreaming"],
    sdk: "chat",
    turns: chatTurns,
    own: [urlCase, caseOf("options", { tools, providerOptions: optionsOfChat })],
  },
  {
    name: "Chat Completions of compatible servers",
    open: ({ origin, ...options }) =>
      createOpenAiCompatible({ name: "compatible", baseUrl: `${origin}/v1`, ...options }),
    answer: chatStage.say("ok"),
    call: chatCall,
    models: ["magistral-medium-latest"],
    types: ["ChatCompletionCreateParamsStreaming"],
    sdk: "mistral",
    turns: compatibleTurns,
    own: [caseOf("options", { tools, providerOptions: { metadata: { a: "b" } } })],
  },
  {
    name: "Responses of OpenAI",
    open: responsesStage.open,
    answer: responsesStage.say("ok"),
    call: responsesStage.call(call),
    models: ["gpt-4o", "gpt-5.1", "gpt-5", "o3-mini"],
    types: ["ResponseCreateParamsStreaming"],
    sdk: "responses",
    turns: responsesTurns,
    own: [
      urlCase,
      caseOf("provider tools", {
        tools,
        providerTools: [
          '{"type":"web_search","search_context_size":"low"}',
          '{"type":"file_search","vector_store_ids":["vs_1"]}',
          '{"type":"code_interpreter","container":{"type":"auto"}}',
          '{"type":"mcp","server_label":"a","server_url":"https://a.example","require_approval":"never"}',
        ],
      }),
      caseOf("options", {
        reasoningEffort: "low",
        settings: { verbosity: "low" },
        providerOptions: {
          include: ["file_search_call.results"],
          reasoning: { summary: "auto" },
          text: { verbosity: "high" },
          metadata: { a: "b" },
        },
      }),
    ],
  },
  {
    name: "Messages of Anthropic",
    open: anthropicStage.open,
    answer: anthropicStage.say("ok"),
    call: anthropicStage.call(call),
    models: ["claude-sonnet-4-5", "claude-opus-4-8", "claude-sonnet-4-6", "claude-3-haiku-20240307", "other-model"],
    types: ["Messages0", "Messages1"],
    betaTypes: ["BetaMessages0", "BetaMessages1"],
    sdk: "anthropic",
    turns: messagesTurns,
    betaTurns: messagesBetaTurns,
    own: [
      urlCase,
      caseOf("provider tools", {
        tools,
        providerTools: [
          '{"type":"web_search_20250305","name":"web_search","max_uses":2}',
          '{"type":"code_execution_20250825","name":"code_execution"}',
        ],
      }),
      caseOf("provider tools alone", {
        providerTools: ['{"type":"web_search_20250305","name":"web_search"}'],
        settings: { toolChoice: "required", parallelToolCalls: false },
      }),
      caseOf("options", {
        reasoningEffort: "high",
        providerOptions: {
          metadata: { user_id: "a" },
          thinking: { type: "enabled", budget_tokens: 2000 },
          output_config: { effort: "max" },
          container: "container_9",
        },
      }),
      caseOf("options for thoughts", {
        temperature: 0.5,
        providerOptions: { thinking: { type: "enabled", budget_tokens: 2000 } },
      }),
    ],
  },
  {
    name: "generateContent of Google",
    open: geminiStage.open,
    answer: geminiStage.say("ok"),
    call: geminiCall,
    models: [
      "gemini-2.5-flash",
      "gemini-3-pro-preview",
      "gemini-2.0-flash",
      "gemini-3-pro-image-preview",
      "gemma-3-27b-it",
    ],
    types: ["GenerateContent"],
    sdk: "google",
    turns: geminiTurns,
    own: [
      caseOf("provider tools", {
        tools,
        providerTools: ['{"googleSearch":{}}', '{"codeExecution":{}}', '{"urlContext":{}}'],
        settings: { toolChoice: { name: "now" } },
      }),
      caseOf("options", {
        tools,
        reasoningEffort: "low",
        settings: { toolChoice: "required" },
        providerOptions: {
          safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
          generationConfig: { candidateCount: 1, thinkingConfig: { thinkingBudget: 5 } },
          toolConfig: { retrievalConfig: { languageCode: "en" } },
          cachedContent: "cachedContents/1",
        },
      }),
    ],
  },
];
