// Where one provider's stream differs from another's: what its raw frames tell that the SDK keeps to itself or forgets.
// A dialect touches nothing outside; everything else about a stream is the same for all of them.

import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { ModelUsage } from "../model.ts";
import type { FrameFinish } from "../wire/frame.ts";

export interface Dialect {
  /** Reads one frame as the provider sent it, parsed; undefined for a frame that could not be parsed. */
  readonly readFrame: (value: unknown) => Frame;
  /** Tells the states of this dialect from those of another one that the same provider may be spoken to in. */
  readonly stateKind?: string;
  /** Whether what the SDK noted beside a part is of use in later requests. Unless stated, all of it is. */
  readonly isWorthKeeping?: (metadata: SharedV4ProviderMetadata) => boolean;
  /** True when a signature is of the piece of text that it came with, and not of all the text around it. */
  readonly signsPieces?: boolean;
  /** The id of a call, the first of a response being 0. `given` is empty when the provider gave none. */
  readonly callId?: (given: string, index: number) => string;
}

export interface Frame {
  /** What stood where a piece of the answer was expected; undefined when nothing did. */
  readonly error?: unknown;
  /** A piece of what a model says instead of an answer that it refuses to give, where that is no text of its answer. */
  readonly refusal?: string | undefined;
  /** A piece of reasoning that the SDK does not know. */
  readonly reasoning?: string | undefined;
  /** Present in the frame that says why the response ended. A stream without one was cut. */
  readonly finish?: FrameFinish | undefined;
  /** Figures of the whole response so far. Those that are undefined leave earlier ones as they are. */
  readonly usage?: ModelUsage | undefined;
  /** True when the provider wants its thoughts back beside the calls that they led to. */
  readonly wantsThoughts?: boolean;
  /** Whether losing this frame would lose a piece of the answer. */
  readonly hasContent: boolean;
}
