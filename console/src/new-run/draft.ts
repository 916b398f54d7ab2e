// What the form of a new run holds.

import type { ContentElement } from "#gen/runnel/v1/message_pb.js";

/** The folded settings, as they stand in their fields; an empty text leaves the choice to the service. */
export interface Settings {
  readonly maxTurns: string;
  readonly maxTokens: string;
  readonly temperature: string;
  readonly budgetTokens: string;
  readonly budgetUsd: string;
  /** The form of the answer: text, any JSON object, or JSON of `schema`. */
  readonly format: "text" | "json" | "schema";
  readonly schema: string;
  /** Local time, as `datetime-local` has it: `2026-08-01T09:30`. */
  readonly startTime: string;
  readonly annotations: string;
}

export interface Draft extends Settings {
  readonly name: string;
  readonly preset: string;
  readonly model: string;
  readonly systemPrompt: string;
  readonly tools: readonly string[];
  /** Tools whose calls wait for a person. */
  readonly approve: readonly string[];
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
  maxTokens: "",
  temperature: "",
  budgetTokens: "",
  budgetUsd: "",
  format: "text",
  schema: "",
  startTime: "",
  annotations: "",
  tools: [],
  approve: [],
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
