// Settings of models and their limits: `providers`, `defaults`, `circuit_breaker`, `budgets`.

import { baseUrl, choice, decimal, flag, integer, text, token } from "../kinds.ts";

const documented = true;
/** The maximum of the contract's int32 fields. */
const int32Max = 2 ** 31 - 1;
/** More than any account uses in a year. */
const tokensMax = 1_000_000_000_000;
const usdMax = 1_000_000;
/** The maximum tokens of a response when neither the agent nor the settings give one. */
export const maxTokensDefault = 4_096;

/** The settings of models. */
export const modelKeys = {
  openaiKey: token({ path: "providers.openai_key", about: "API key of OpenAI.", documented }),
  openaiBaseUrl: baseUrl({
    path: "providers.openai_base_url",
    fallback: "https://api.openai.com/v1",
    about: "Base URL of OpenAI, or of a compatible server, with or without a key.",
  }),
  openaiApi: choice({
    path: "providers.openai_api",
    words: ["chat", "responses"],
    fallback: "chat",
    about: "API of OpenAI to call: Chat Completions or Responses.",
  }),
  geminiKey: token({ path: "providers.gemini_key", about: "API key of Google Gemini.", documented }),
  geminiBaseUrl: baseUrl({
    path: "providers.gemini_base_url",
    fallback: "https://generativelanguage.googleapis.com/v1beta",
    about: "Base URL of Google Gemini.",
  }),
  anthropicKey: token({ path: "providers.anthropic_key", about: "API key of Anthropic.", documented }),
  anthropicBaseUrl: baseUrl({
    path: "providers.anthropic_base_url",
    fallback: "https://api.anthropic.com/v1",
    about: "Base URL of Anthropic, including `/v1`.",
  }),
  compatibleKey: token({
    path: "providers.compatible_key",
    about: "API key of the server at `providers.compatible_base_url`, if it requires one.",
  }),
  compatibleBaseUrl: baseUrl({
    path: "providers.compatible_base_url",
    about: "Base URL of any server of Chat Completions; its models are named `compatible:<name>`.",
  }),
  rerankKey: token({
    path: "providers.rerank_key",
    about: "API key of the server at `providers.rerank_base_url`, if it requires one.",
  }),
  rerankBaseUrl: baseUrl({
    path: "providers.rerank_base_url",
    about:
      "Base URL of a server that ranks documents for runners at `/rerank`, as Jina's does; its models are named `rerank:<name>`.",
  }),
  retryBaseMs: integer({
    path: "providers.retry_base_ms",
    fallback: 1_000,
    min: 1,
    max: 60_000,
    about: "Delay before the first retry of a model request.",
  }),
  keepModelCalls: flag({
    path: "providers.keep_calls",
    fallback: false,
    about:
      "Whether the service keeps each call of a model in a run as it was sent and answered, without credentials, for its client and as " +
      "long as the log.",
  }),
  keptCallBytes: integer({
    path: "providers.kept_call_bytes",
    fallback: 262_144,
    min: 1_024,
    max: 1_048_576,
    about: "Maximum size of the body of a kept call, and of its answer. The rest is cut.",
  }),
  defaultModel: text({
    path: "defaults.model",
    fallbackAbout: "`gpt-4o-mini`, or a small model of the first provider there is; without one `demo`",
    about: "Model of agents without one; `demo` needs no provider.",
    documented,
  }),
  defaultMaxTurns: integer({
    path: "defaults.max_turns",
    fallback: 30,
    min: -int32Max,
    max: int32Max,
    about: "Maximum number of model responses in a run.",
    documented,
  }),
  defaultMaxTokens: integer({
    path: "defaults.max_tokens",
    fallback: maxTokensDefault,
    min: -int32Max,
    max: int32Max,
    about: "Maximum number of tokens in a model response.",
    documented,
  }),
  defaultTimeoutSecs: integer({
    path: "defaults.timeout_secs",
    fallback: 300,
    min: 1,
    max: 86_400,
    belowMin: "must be positive",
    about: "Timeout of a run.",
    documented,
  }),
  circuitMaxFailures: integer({
    path: "circuit_breaker.max_failures",
    variable: "CB_MAX_FAILURES",
    fallback: 5,
    min: 1,
    max: 1_000,
    about: "Failures of a model without a complete response in between that open its circuit breaker.",
    documented,
  }),
  circuitResetTimeoutSec: integer({
    path: "circuit_breaker.reset_timeout_sec",
    variable: "CB_RESET_TIMEOUT_SEC",
    fallback: 30,
    min: 1,
    max: 3_600,
    about: "Time that a circuit breaker stays open before one request of a client tries the model again.",
    documented,
  }),
  budgetRunTokens: integer({
    path: "budgets.run_tokens",
    fallback: 0,
    min: 0,
    max: tokensMax,
    about: "Maximum number of tokens in a run; 0 means no limit.",
  }),
  budgetRunUsd: decimal({
    path: "budgets.run_usd",
    fallback: 0,
    max: usdMax,
    about: "Maximum cost of a run in US dollars; 0 means no limit.",
  }),
  budgetClientDayTokens: integer({
    path: "budgets.client_day_tokens",
    fallback: 0,
    min: 0,
    max: tokensMax,
    about: "Maximum number of tokens of a client in a day; 0 means no limit.",
  }),
  budgetClientDayUsd: decimal({
    path: "budgets.client_day_usd",
    fallback: 0,
    max: usdMax,
    about: "Maximum cost of a client in a day in US dollars; 0 means no limit.",
  }),
} as const;
