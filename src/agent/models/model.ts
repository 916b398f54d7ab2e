// The port to a language model: everything that the agent loop knows of a provider. A provider turns its wire format into these
// parts. Nothing outside its folder knows that format.

import type { MediaKind } from "../../platform/base/media-type.ts";
import type { Recorder } from "./wire/recorder.ts";

/**
 * A call that the model asks for. `argumentsJson` is the model's own text; it may be malformed JSON, and is `{}` for a call without
 * arguments. `id` is empty when the provider gave none.
 */
export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  readonly argumentsJson: string;
}

/**
 * A message of the conversation, oldest first. A tool message answers every tool call of an assistant message. `parts` is set
 * when a user or a tool sent more than text. It holds the whole content in order; `text` repeats its text.
 */
export type ModelMessage<Part = ModelContent> =
  | { readonly role: "user"; readonly text: string; readonly parts?: readonly Part[] | undefined }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly toolCalls: readonly ModelToolCall[];
      /** The `state` of the finished response, read only by its own provider; undefined when it had no state. */
      readonly state?: string | undefined;
    }
  | {
      readonly role: "tool";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly text: string;
      readonly parts?: readonly Part[] | undefined;
      /** Undefined means false. */
      readonly isError?: boolean | undefined;
    };

/** A part of a message. */
export type ModelContent = ModelText | ModelMedia;

/** Text, or a placeholder for media. */
export interface ModelText {
  /** A placeholder is our text in place of an image or a file, on lines of its own. */
  readonly type: "text" | "placeholder";
  readonly text: string;
}

/** An image, an audio recording or a file of another type. */
export interface ModelMedia {
  readonly type: MediaKind;
  readonly name: string | undefined;
  /** The type that the sender gave; undefined when it gave no type. */
  readonly mediaType: string | undefined;
  /** The bytes, or their http or https URL. */
  readonly data: Uint8Array | URL;
}

/** A tool as the model sees it. `parameters` is a JSON Schema, passed on unchanged where the provider accepts it. */
export interface ModelToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: object;
}

/**
 * The requested form of the answer. It is a wish: a model that does not support it answers with text, so the caller reads text.
 * A strict schema stays within what providers enforce: every object is closed and requires all of its properties.
 */
export type ResponseFormat =
  /** Any JSON object. OpenAI refuses it unless the prompt mentions JSON. */
  | { readonly type: "json-object" }
  | {
      readonly type: "json-schema";
      /** Letters, digits, `_` and `-`, at most 64. */
      readonly name: string;
      readonly description?: string | undefined;
      readonly schema: object;
      readonly strict: boolean;
    };

/** How much a model reasons. */
export type ReasoningEffort = "minimal" | "low" | "medium" | "high";

/** Which tools the model has to call; any by default. */
export type ToolChoice = "none" | "required" | { readonly name: string };

/** Settings of a response that only some providers have. Undefined leaves each of them to the provider. */
export interface ModelSettings {
  readonly toolChoice?: ToolChoice | undefined;
  /** Whether one response may call several tools. */
  readonly parallelToolCalls?: boolean | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  /** Texts that end the response before they are written. */
  readonly stop?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly verbosity?: "low" | "medium" | "high" | undefined;
  readonly serviceTier?: string | undefined;
  /** Asks for log probabilities, and for this many of the likeliest tokens at each place: 0 to 20. */
  readonly topLogprobs?: number | undefined;
  /** The maximum number of calls of the provider's own tools in a response. */
  readonly maxProviderCalls?: number | undefined;
  /** How much tokens are preferred, by their number: a JSON object. */
  readonly logitBias?: string | undefined;
  /** Text that the answer probably repeats: a JSON object in OpenAI's words. */
  readonly prediction?: string | undefined;
}

/** The name of a setting. */
export type SettingName = keyof ModelSettings;

/** A request for one response. */
export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  /** The tools in the order in which they are sent. The order must be stable, because providers cache by it. */
  readonly tools: readonly ModelToolDefinition[];
  /** Tools that the provider runs itself, as JSON of its own form. They come after the others. */
  readonly providerTools?: readonly string[] | undefined;
  readonly maxTokens: number;
  readonly temperature: number | undefined;
  /** Undefined means text. */
  readonly responseFormat?: ResponseFormat | undefined;
  /** How much the model reasons before it answers; undefined leaves it to the provider. */
  readonly reasoningEffort?: ReasoningEffort | undefined;
  readonly settings?: ModelSettings | undefined;
  /** The run and its turn that ask. The provider does not see them; undefined keeps the call out of what the service keeps of calls. */
  readonly askedBy?: { readonly runId: string; readonly turn: number } | undefined;
  /** Records what goes over the wire; undefined for a service that keeps no calls. */
  readonly recorder?: Recorder | undefined;
  /** The client that asks. The provider does not see it; failures are counted by client. */
  readonly client?: string | undefined;
  /** Options that only this provider has. What the other fields set has precedence. */
  readonly providerOptions?: Readonly<Record<string, unknown>> | undefined;
  /** Asks for each piece as its own part, even when several arrive together, so that the caller can stop after any of them. */
  readonly isPiecewise?: boolean;
  /**
   * Takes text and reasoning without a pull. A provider may offer a part to it while the caller waits for the next one, and
   * after the caller has pulled a first text or reasoning. Returns false when it has not taken the part; the part is then pulled.
   */
  readonly takePart?: (part: ModelPart) => boolean;
  /** Whether the caller can void what it has got, so that a response that begins again goes on. Otherwise such a response is cut. */
  readonly takesRestart?: boolean;
}

/** The tokens of one response. A figure that the provider did not give is undefined, never 0. */
export interface ModelUsage {
  readonly promptTokens: number | undefined;
  readonly completionTokens: number | undefined;
  readonly totalTokens: number | undefined;
  readonly cachedTokens: number | undefined;
  readonly reasoningTokens: number | undefined;
}

/**
 * A part of a response, in order. A stream ends with exactly one `finish` or one `failure`. Tool calls are complete and ordered
 * by their index. An aborted stream ends without either.
 */
export type ModelPart =
  | ModelSpeech
  | { readonly type: "reasoning"; readonly text: string }
  /** A piece of an incomplete call. It shows only that the model continues. */
  | { readonly type: "call-piece"; readonly text: string }
  | { readonly type: "tool-call"; readonly call: ModelToolCall }
  /** A call of a response that its token limit has cut. It must not run: its arguments may be incomplete. */
  | { readonly type: "cut-call"; readonly id: string; readonly name: string }
  /** The response begins again: all earlier text, reasoning and calls are void. Given only to a caller that takes it. */
  | { readonly type: "restart" }
  /** A call of a tool that the provider has run itself. */
  | { readonly type: "provider-call"; readonly call: ModelToolCall; readonly outcome: ProviderOutcome }
  | ModelArtifact
  /** The provider's counts of this response so far; each one replaces the previous one. */
  | { readonly type: "usage"; readonly usage: ModelUsage }
  | ModelFinish
  | ModelFailure;

/**
 * A piece of the text. Its log probabilities need not be those of this piece: joined over a response, they are those of its text. The
 * text is empty when they came alone.
 */
export interface ModelSpeech {
  readonly type: "text";
  readonly text: string;
  /** Undefined means none. */
  readonly logprobs?: readonly ModelLogprob[] | undefined;
}

/** An image, a recording or another file that the model made. */
export interface ModelArtifact {
  readonly type: "artifact";
  /** The provider's own id; empty when it gave none. */
  readonly id: string;
  readonly kind: MediaKind;
  /** Undefined when the provider gave none for a URL. */
  readonly mediaType: string | undefined;
  /** Undefined for a file that is at its URL. */
  readonly sizeBytes: number | undefined;
  /** In lower-case hex; undefined for a file that is at its URL. */
  readonly sha256: string | undefined;
  /** Undefined for a file that is at its URL, and for one that has no room in the log. */
  readonly content: Uint8Array | undefined;
  /** Where the provider keeps the file; undefined when it sent the bytes. */
  readonly url: string | undefined;
}

/** A token that a model could write, with the natural logarithm of its probability. */
export interface ModelToken {
  readonly token: string;
  readonly logprob: number;
  /** Its bytes in UTF-8. Undefined means that the provider gave none. */
  readonly bytes?: Uint8Array | undefined;
}

/** A token that a model wrote, and the likeliest tokens of its place. */
export interface ModelLogprob extends ModelToken {
  readonly top: ModelToken[];
}

/** The result of a provider's own tool, as JSON of its own form, or why it failed. */
export type ProviderOutcome = { readonly json: string } | { readonly error: string };

/** A source that the model cites. Members that the provider did not give are undefined. */
export interface ModelCitation {
  readonly url: string | undefined;
  readonly title: string | undefined;
  /** The words of the source. */
  readonly text: string | undefined;
  /** The places in the text of the response that the source supports. */
  readonly start: number | undefined;
  readonly end: number | undefined;
}

/** The last part of a complete response. */
export interface ModelFinish {
  readonly type: "finish";
  readonly reason: FinishReason;
  /** For `content-filter`: the explanation of the provider or the model. */
  readonly detail?: string | undefined;
  /** The stop sequence that ended the response, of providers that name it. */
  readonly stopSequence?: string | undefined;
  readonly usage: ModelUsage | undefined;
  /** The sources of the text. Undefined means none. */
  readonly citations?: readonly ModelCitation[] | undefined;
  /** JSON that the provider wants back with this response in later requests, such as signatures of thoughts. */
  readonly state?: string | undefined;
  /** What the response had that its reader does not know. Undefined means nothing. */
  readonly skipped?: Skipped | undefined;
}

/** Why a response ended. With `paused` the provider goes on when it gets the response back, without a message of the user. */
export type FinishReason = "stop" | "length" | "tool-calls" | "content-filter" | "paused" | "other";

/** Why a provider gave no response. */
export type FailureCause =
  /** Too many requests for the account. */
  | "rate_limit"
  /** The request is longer than the model can read. */
  | "context_length"
  /** The key is invalid, or may not use the model. */
  | "authentication"
  /** The account has no money or tokens left. */
  | "quota"
  | "overloaded"
  | "content_filter"
  | "invalid_request"
  /** The model does not exist. */
  | "not_found"
  | "timeout"
  /** Any other fault of the provider or of the way to it. */
  | "unavailable";

/** An expected failure: the provider refused, broke off or was unreachable. `message` may be shown to the client. */
export interface ModelFailure {
  readonly type: "failure";
  readonly cause: FailureCause;
  readonly message: string;
  /** The HTTP status of the provider; undefined when there was none. */
  readonly status?: number | undefined;
  /** The provider's own word for the error. */
  readonly providerCode?: string | undefined;
  /** For metrics: the HTTP status, or one of few words such as `network`, `timeout`, `cut`. */
  readonly code: string;
  /** True for temporary failures: of the rate, overload, timeouts, 5xx, network, a stream that was cut. Circuit breakers count them. */
  readonly retryable: boolean;
  /** The wait that the provider asked for (Retry-After). */
  readonly retryAfterMs: number | undefined;
  /** What the response had that its reader does not know. Undefined means nothing. */
  readonly skipped?: Skipped | undefined;
}

/** What a reader has skipped: how many of each kind, and the type of the first one. */
export interface Skipped {
  readonly events: number;
  /** Items or blocks of the answer. */
  readonly items: number;
  /** Parts of an item. */
  readonly parts: number;
  /** Empty when it had none. At most 64 characters, without control characters. */
  readonly type: string;
}

/** A language model of one provider. */
export interface Model {
  /** The name of its provider, as in `provider:model`. */
  readonly provider: string;
  /** The provider's own name for the model, without the routing prefix. */
  readonly name: string;
  /** True when tool messages of this wire format may contain images and files. Undefined means false. */
  readonly takesMediaOfTools?: boolean | undefined;
  /** True when tools that the provider runs are not sent. Undefined means false. */
  readonly lacksProviderTools?: boolean | undefined;
  /** The settings that its provider has. Undefined means all of them. */
  readonly settings?: ReadonlySet<SettingName> | undefined;
  /** Streams one response. Throws only for our own defects; a fault of the provider arrives as a `failure` part. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
  /**
   * Asks the provider for the input tokens of a request, of which it gets what `stream` would send. Undefined when it has no such
   * call. Returns undefined when its answer has no count, and throws a failure of the provider.
   */
  readonly count?: ((request: ModelRequest, signal: AbortSignal) => Promise<number | undefined>) | undefined;
}
