// The differences between providers' streams: facts in the raw frames that the SDK hides or forgets. A dialect has no side
// effects; everything else about a stream is the same for all providers.

import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { ModelUsage } from "../model.ts";
import type { FrameFinish } from "../wire/frame.ts";

/** What one provider does differently. */
export interface Dialect {
  /** Reads one parsed frame of the provider. `value` is undefined for a frame that could not be parsed. */
  readonly readFrame: (value: unknown) => Frame;
  /** Distinguishes states of this dialect from those of another dialect of the same provider. */
  readonly stateKind?: string;
  /** Returns whether the SDK's metadata of a part is needed in later requests. By default all of it is. */
  readonly isWorthKeeping?: (metadata: SharedV4ProviderMetadata) => boolean;
  /** True when a signature belongs to the piece of text that it came with, and not to all the text around it. */
  readonly signsPieces?: boolean;
}

/** The facts of one raw frame. */
export interface Frame {
  /** The error in place of a piece of the answer; undefined when there is no error. */
  readonly error?: unknown;
  /** A piece of the model's refusal, where the refusal is separate from the answer's text. */
  readonly refusal?: string | undefined;
  /** A piece of reasoning that the SDK does not recognise. */
  readonly reasoning?: string | undefined;
  /** Set in the frame that says why the response ended. A stream without such a frame was cut. */
  readonly finish?: FrameFinish | undefined;
  /** The usage of the whole response so far. Undefined figures keep their earlier values. */
  readonly usage?: ModelUsage | undefined;
  /** True when the provider wants its thoughts back beside the calls they led to. */
  readonly wantsThoughts?: boolean;
  /** True when losing this frame would lose a piece of the answer. */
  readonly hasContent: boolean;
}
