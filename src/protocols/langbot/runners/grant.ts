// The grant of a run: what its manifest asks for, as far as the binding allows it and the event has it. It is frozen when the
// run starts. Every call of the runner is checked against it, and refused unless the grant covers it.

import type { StateScope } from "./scope.ts";

/** What a run may use. */
export interface Grant {
  /** Operations by model id. */
  readonly models: Operations;
  readonly tools: Operations;
  /** True when some of the tools are those of MCP servers, which the run keeps apart. */
  readonly hasServers?: boolean;
  readonly knowledgeBases: Operations;
  /** Keys of files that the configuration names. */
  readonly files: readonly string[];
  readonly pluginStorage: boolean;
  readonly workspaceStorage: boolean;
  readonly apis: readonly Api[];
  /** Empty when the state is not granted at all. */
  readonly stateScopes: readonly StateScope[];
  readonly delivery: {
    readonly streaming: boolean;
    readonly reply: boolean;
    /** The maximum characters of a message; undefined for no limit. */
    readonly messageCharsMax?: number | undefined;
    /** The content of chunks; undefined when the host detects it. */
    readonly chunkContent?: "snapshot" | "increment" | undefined;
  };
  /** The lifetime of approvals. Undefined when the runner's actions need no approval. */
  readonly approval?: { readonly expireSeconds: number } | undefined;
  /** The manifest's capability `streaming`. Without it, chunks are delivered with a warning. */
  readonly announcesStreaming: boolean;
}

/** Operations by the id of their resource. */
export type Operations = Readonly<Record<string, readonly string[]>>;

/** APIs that are granted as a whole. The names are those of `available_apis`. */
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
/** The name of an API. */
export type Api = (typeof apis)[number];
