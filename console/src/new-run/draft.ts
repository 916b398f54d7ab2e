// What the form of a new run holds.

import type { ContentElement } from "#gen/runnel/v1/message_pb.js";

export interface Draft {
  readonly name: string;
  readonly preset: string;
  readonly model: string;
  readonly systemPrompt: string;
  readonly maxTurns: string;
  readonly tools: readonly string[];
  readonly workDir: string;
  readonly message: string;
  readonly files: readonly ContentElement[];
  /** The session to continue from; empty for a session of its own. */
  readonly fork: string;
  /** Messages to copy from it; 0 means all. */
  readonly forkCount: number;
}

export const emptyDraft: Draft = {
  name: "console",
  preset: "",
  model: "",
  systemPrompt: "",
  maxTurns: "",
  tools: [],
  workDir: "",
  message: "",
  files: [],
  fork: "",
  forkCount: 0,
};

/** The tools that come with the service. The contract has no list of them; a test compares the two. */
export const builtinTools: readonly string[] = [
  "list_dir",
  "read_file",
  "glob",
  "grep",
  "write_file",
  "edit_file",
  "bash",
  "set_state",
  "todo",
  "memory_read",
  "memory_write",
  "memory_search",
];
