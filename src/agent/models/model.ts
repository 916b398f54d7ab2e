// The port to a language model: what the agent loop knows of any provider. A provider turns its wire format into these
// parts and nothing outside its folder knows that format.

/** One call that the model wants made. `argumentsJson` is JSON text as the model wrote it; it may be malformed. */
export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  readonly argumentsJson: string;
}

/**
 * A message of the conversation, oldest first. Every tool call of an assistant message is answered by a tool message. `parts`
 * is there when a user or a tool said more than text: the whole content in its order, whose text alone `text` repeats.
 */
export type ModelMessage<Part = ModelContent> =
  | { readonly role: "user"; readonly text: string; readonly parts?: readonly Part[] | undefined }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly toolCalls: readonly ModelToolCall[];
      /** The `state` that the response finished with, for its provider alone; undefined when it had none. */
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

export type ModelContent = ModelText | ModelMedia;

export interface ModelText {
  /** A placeholder is our text in place of an image or a file, on lines of its own. */
  readonly type: "text" | "placeholder";
  readonly text: string;
}

export interface ModelMedia {
  readonly type: "image" | "file";
  readonly name: string | undefined;
  /** As its sender says; undefined when nothing was said. */
  readonly mediaType: string | undefined;
  /** The bytes, or the http or https URL where they are. */
  readonly data: Uint8Array | URL;
}

/** A tool as the model sees it. `parameters` is a JSON Schema, passed on as it is where providers take it. */
export interface ModelToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: object;
}

/**
 * The form of the answer. A wish: a model that cannot be held to it answers with text, so a caller reads the answer as text. The
 * schema of a strict format is within what providers enforce: each object is closed and requires all of its properties.
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

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  /** In the order in which they are offered to the model; providers cache by it. */
  readonly tools: readonly ModelToolDefinition[];
  readonly maxTokens: number;
  readonly temperature: number | undefined;
  /** Undefined means text. */
  readonly responseFormat?: ResponseFormat | undefined;
  /** Asks for each piece as a part of its own, however many come at once: for who may stop after any of them. */
  readonly isPiecewise?: boolean;
}

/** Tokens of one response. A figure that the provider did not give is undefined, never 0. */
export interface ModelUsage {
  readonly promptTokens: number | undefined;
  readonly completionTokens: number | undefined;
  readonly totalTokens: number | undefined;
  readonly cachedTokens: number | undefined;
  readonly reasoningTokens: number | undefined;
}

/**
 * What a response consists of, in order. A stream ends with exactly one `finish` or one `failure` and nothing after it;
 * tool calls come whole, in the order of their index. An aborted stream just ends.
 */
export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  /** A piece of a call that is not whole yet: it tells only that the model goes on. */
  | { readonly type: "call-piece"; readonly text: string }
  | { readonly type: "tool-call"; readonly call: ModelToolCall }
  /** What the provider has counted of this response so far; each one replaces the one before. */
  | { readonly type: "usage"; readonly usage: ModelUsage }
  | ModelFinish
  | ModelFailure;

export interface ModelFinish {
  readonly type: "finish";
  readonly reason: FinishReason;
  /** For `content-filter`: what the provider or the model said about it. */
  readonly detail?: string | undefined;
  readonly usage: ModelUsage | undefined;
  /** JSON that the provider wants to be given back with this response in later requests, such as signatures of thoughts. */
  readonly state?: string | undefined;
}

export type FinishReason = "stop" | "length" | "tool-calls" | "content-filter" | "other";

/** An expected failure: the provider refused, broke off or could not be reached. `message` may be shown to the caller. */
export interface ModelFailure {
  readonly type: "failure";
  readonly message: string;
  /** For figures: the HTTP status, or one of few words such as `network`, `timeout`, `cut`. */
  readonly code: string;
  /** True for what may pass: 429, 5xx, network, a stream that was cut. Such failures speak against the provider. */
  readonly retryable: boolean;
  /** What the provider asked for (Retry-After). */
  readonly retryAfterMs: number | undefined;
}

export interface Model {
  /** Whose it is, as in `provider:model`. */
  readonly provider: string;
  /** As the provider calls it, without the routing prefix. */
  readonly name: string;
  /** Tool messages of this wire format may have images and files in them. Undefined means false. */
  readonly takesMediaOfTools?: boolean | undefined;
  /** Streams one response. Throws only for defects of ours; what a provider may do wrong arrives as a `failure` part. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
}
