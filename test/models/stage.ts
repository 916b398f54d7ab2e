// One provider and its fake, as the cases of every provider need them: how the same thing is said in its wire format.

import type { ModelProvider } from "../../src/agent/models/route.ts";
import type { Clock } from "../../src/platform/base/clock.ts";
import type { RecordedRequest, Script } from "../fakes/wire-server.ts";

export interface ProviderStage {
  /** As in `provider:model`. */
  readonly name: string;
  readonly modelName: string;
  /** The provider, calling a server at this origin. */
  readonly open: (options: {
    readonly origin: string;
    readonly apiKey: string;
    readonly clock: Clock;
  }) => ModelProvider;
  /** A whole response that says these pieces, one frame each, and ends properly, with the usage below. */
  readonly say: (...pieces: readonly string[]) => Script;
  /** A whole response with these calls and nothing else. */
  readonly call: (...calls: readonly StagedCall[]) => Script;
  /** A whole response that thinks first. */
  readonly think: (thought: string, text: string) => Script;
  /** Starts to say something and goes on as told, without an end of its own. */
  readonly begin: (text: string, then: Script) => Script;
  /** Goes on with a response that was begun: says this and ends it properly. */
  readonly goOn: (text: string) => Script;
  /** Begins a response with one whole call, and goes on as told before the end that would make the call count. */
  readonly beginCall: (call: StagedCall, then: Script) => Script;
  /** An error object in the stream: one that may pass, and one that will not. */
  readonly errorInStream: { readonly passing: Script; readonly lasting: Script };
  /** A whole response that says `text` and ends for a reason. */
  readonly end: (text: string, reason: "length" | "refused") => Script;
  /** What `end(…, "refused")` tells of the reason. */
  readonly refusalDetail: string;
  /** The figures in the response of `say`. */
  readonly usage: { readonly promptTokens: number; readonly completionTokens: number };
  /** Where the key of a request stands. */
  readonly keyOf: (request: RecordedRequest) => string | undefined;
  /** The parts of the last message of a request. */
  readonly partsOf: (request: RecordedRequest) => unknown;
  /** A part of a message in this wire format; base64 where bytes are meant. Undefined for what the format does not have. */
  readonly parts: {
    readonly text: (text: string) => object;
    readonly png: (base64: string) => object;
    readonly imageUrl?: (url: string) => object;
    readonly pdf: (base64: string, name: string) => object;
  };
  /** The JSON Schemas of the tools that a request offers, in order. */
  readonly schemasOf: (request: RecordedRequest) => readonly unknown[];
  /** The response format of a request as its wire has it; undefined when it asks for none. */
  readonly formatOf: (request: RecordedRequest) => unknown;
  /** What `formatOf` gives for the strict `schema` with this name. */
  readonly wireFormat: (name: string, schema: object) => unknown;
  /** A model of this provider that the catalogue knows to take no schema. */
  readonly plainModelName: string;
  /** A model that takes a schema beside tools. */
  readonly schemaModelName: string;
}

export interface StagedCall {
  readonly id: string;
  readonly name: string;
  readonly args: object;
}
