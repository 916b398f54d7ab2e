// What a response repeats of its request. It is kept with the run as annotations, so that every reader gets the same response.

import type { GetRunInputResponse } from "#gen/runnel/v1/run_service_pb.js";
import type { Agent } from "#gen/runnel/v1/session_pb.js";
import { parseExact } from "../../platform/base/json/exact.ts";

/** The fields of a request that its response repeats. */
export interface Echo {
  readonly background: boolean;
  readonly store: boolean;
  readonly hasInstructions: boolean;
  /** Whether the caller keeps the state of its provider. Undefined in runs of older versions. */
  readonly hasState?: boolean;
  /** Undefined in runs of older versions. */
  readonly max_tool_calls?: number | null;
  readonly previous_response_id: string | null;
  readonly metadata: object;
  readonly tools: readonly unknown[];
  readonly tool_choice: unknown;
  /** Undefined in runs of older versions. */
  readonly text?: unknown;
  readonly reasoning: object | null;
  readonly user: string | null;
  readonly safety_identifier: string | null;
  readonly prompt_cache_key: string | null;
}

/** Returns the annotations of a run that is a response. */
export function annotate(echo: Echo): string {
  return JSON.stringify({ openai_response: echo });
}

/** The parts of a response that do not change while its run works. */
export interface Origin {
  readonly runId: string;
  /** The sequence after which the response begins. */
  readonly after: number;
  readonly sessionId: string;
  readonly agent: Agent | undefined;
  readonly echo: Echo;
}

/** Returns the origin of a response. A run that was started in another way is one too: it has no request of this API to repeat. */
export function originOf({ runId, agent, annotations }: GetRunInputResponse, sessionId: string, after = 0): Origin {
  const known = annotations === "" ? {} : parseExact(annotations);
  const { openai_response: echo = noRequest } = known as { openai_response?: Echo };
  return { runId, after, sessionId, agent, echo };
}

const noRequest: Echo = {
  background: false,
  store: true,
  hasInstructions: false,
  previous_response_id: null,
  metadata: {},
  tools: [],
  tool_choice: "auto",
  reasoning: null,
  user: null,
  safety_identifier: null,
  prompt_cache_key: null,
};
