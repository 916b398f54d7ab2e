// What a run may use: what its manifest asks for, as far as the binding allows it and the event has it. Frozen when the run
// starts and looked into for every call of its runner; whatever is not in it is refused.

import type { StateScope } from "./scope.ts";

export interface Grant {
  /** Operations by the id of the model. */
  readonly models: Operations;
  readonly tools: Operations;
  readonly knowledgeBases: Operations;
  /** Keys of files that the configuration names. */
  readonly files: readonly string[];
  readonly pluginStorage: boolean;
  readonly workspaceStorage: boolean;
  readonly apis: readonly Api[];
  /** None when the state is not granted at all. */
  readonly stateScopes: readonly StateScope[];
  readonly delivery: {
    readonly streaming: boolean;
    readonly reply: boolean;
    /** Undefined for no limit. */
    readonly messageCharsMax?: number | undefined;
    /** What chunks of messages hold; undefined where the host detects it. */
    readonly chunkContent?: "snapshot" | "increment" | undefined;
  };
  /** Somebody has to approve what the runner asks for, within this time; undefined when nobody has to. */
  readonly approval?: { readonly expireSeconds: number } | undefined;
  /** Capability of the manifest: a piece of a message without it is delivered with a warning. */
  readonly announcesStreaming: boolean;
}

export type Operations = Readonly<Record<string, readonly string[]>>;

/** What is granted as a whole: the names are those of `available_apis`. */
export const apis = [
  "history_page",
  "history_search",
  "event_get",
  "event_page",
  "artifact_metadata",
  "artifact_read",
  "state",
  "storage",
] as const;
export type Api = (typeof apis)[number];
