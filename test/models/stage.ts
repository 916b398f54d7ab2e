// One provider and its fake for the cases that run against every provider: the same content in the provider's wire format.

import type { ModelProvider } from "../../src/agent/models/wire/account.ts";
import type { Clock } from "../../src/platform/base/clock.ts";
import type { RecordedRequest, Script } from "../fakes/wire-server.ts";

export interface ProviderStage {
  /** As in `provider:model`. */
  readonly name: string;
  readonly modelName: string;
  /** The provider, with a server at this origin. */
  readonly open: (options: {
    readonly origin: string;
    /** In place of the usual path at the origin. */
    readonly baseUrl?: string;
    readonly apiKey: string;
    readonly clock: Clock;
  }) => ModelProvider;
  /** A complete response with these pieces, one frame each, and the usage below. */
  readonly say: (...pieces: readonly string[]) => Script;
  /** A complete response with these calls and nothing else. */
  readonly call: (...calls: readonly StagedCall[]) => Script;
  /** A complete response that starts with a thought. */
  readonly think: (thought: string, text: string) => Script;
  /** Begins a text and continues with `then`, without an end of its own. */
  readonly begin: (text: string, then: Script) => Script;
  /** Continues a response that was begun: adds this text and ends it properly. */
  readonly goOn: (text: string) => Script;
  /** Begins a response with one complete call and continues with `then`, before the end that would make the call count. */
  readonly beginCall: (call: StagedCall, then: Script) => Script;
  /** An error object in the stream: one that is retryable, and one that is not. */
  readonly errorInStream: { readonly passing: Script; readonly lasting: Script };
  /** A complete response with `text` that ends for a reason. */
  readonly end: (text: string, reason: "length" | "refused") => Script;
  /** The detail in the finish of `end(…, "refused")`. */
  readonly refusalDetail: string;
  /** The usage in the response of `say`. */
  readonly usage: { readonly promptTokens: number; readonly completionTokens: number };
  /** Returns the key of a request. */
  readonly keyOf: (request: RecordedRequest) => string | undefined;
  /** The parts of the last message of a request. */
  readonly partsOf: (request: RecordedRequest) => unknown;
  /** A part of a message in this wire format; base64 where bytes are meant. Undefined where the format has no such part. */
  readonly parts: {
    readonly text: (text: string) => object;
    readonly png: (base64: string) => object;
    readonly imageUrl?: (url: string) => object;
    readonly pdf: (base64: string, name: string) => object;
  };
  /** The JSON Schemas of the tools that a request offers, in order. */
  readonly schemasOf: (request: RecordedRequest) => readonly unknown[];
  /** The response format of a request on the wire; undefined when it has none. */
  readonly formatOf: (request: RecordedRequest) => unknown;
  /** What `formatOf` returns for the strict `schema` with this name. */
  readonly wireFormat: (name: string, schema: object) => unknown;
  /** A model of this provider that does not support a schema, according to the catalogue. */
  readonly plainModelName: string;
  /** A model that supports a schema beside tools. */
  readonly schemaModelName: string;
}

export interface StagedCall {
  readonly id: string;
  readonly name: string;
  readonly args: object;
}
