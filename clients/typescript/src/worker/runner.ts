// What a runner is, for its author: a manifest and a function that works on one run and yields its results. See README.md.

import type { AgentRunContext } from "../../../../gen/runnel/runner/v1/agent_run_context_pb.js";
import type { Host } from "./host.ts";

export interface Runner {
  /** As the LangBot protocol has it (§4.2); `id` is `plugin:author/name/runner`. */
  readonly manifest: Manifest;
  /**
   * Works on one run. Whatever it throws fails the run; ending without a terminal result does too. Once the run has ended it is
   * returned from where it yields, and not waited for where it does not.
   */
  run(run: Run): AsyncGenerator<Result>;
}

export interface Manifest {
  readonly id: string;
  readonly name: string;
  readonly label: Readonly<Record<string, string>>;
  /** `chunk_content` says what chunks of messages hold: `increment` (the default here) or `snapshot`. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** One run, as its runner sees it. */
export interface Run {
  readonly runId: string;
  /** All about it. */
  readonly context: AgentRunContext;
  /** What may be asked of the host: models, tools, state, history and more, as far as `context` grants it. */
  readonly host: Host;
  /** Aborts when the run shall end: yield a last word if there is one, within 10 s, and return. */
  readonly signal: AbortSignal;
}

/** A result before the worker numbers it. */
export interface Result {
  readonly type: string;
  /** Has to be JSON. Of data and usage together at most 2 MiB; what is larger belongs into an artifact or the storage. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly usage?: Usage;
}

export interface Usage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly total_tokens?: number;
}

/** A piece of a message while it is being written. */
export function delta(content: string): Result {
  return { type: "message.delta", data: { chunk: { role: "assistant", content } } };
}

/** A whole message. */
export function message(content: string): Result {
  return { type: "message.completed", data: { message: { role: "assistant", content } } };
}

/** A value that the host shall keep: any JSON, `null` too. */
export function state(scope: "conversation" | "actor" | "subject" | "runner", key: string, value: unknown): Result {
  if (JSON.stringify(value) === undefined) {
    throw new TypeError(`the state ${key} would get an invalid JSON value: use null for "no value"`);
  }
  return { type: "state.updated", data: { scope, key, value } };
}

/** The end of a run that went well. */
export function completed(content?: string, usage?: Usage): Result {
  const said = content === undefined ? {} : { message: { role: "assistant", content } };
  return { type: "run.completed", data: { finish_reason: "stop", ...said }, ...(usage && { usage }) };
}

/** The end of a run that did not. */
export function failed(error: string, { code = "runner.error", retryable = false } = {}): Result {
  return { type: "run.failed", data: { code, error, retryable } };
}
