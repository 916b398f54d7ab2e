// Runs that wait for a text of a person, and that other surfaces may ask for. The functions act for the caller of a request, so access
// checks and limits are those of every surface.

import type { ContextValues } from "@connectrpc/connect";
import type { CallMethod } from "./offered-agents.ts";

/** The questions of a protocol's runs. */
export interface TextQuestions {
  /** The driver of these runs. Each wait of such a run is a question. */
  readonly driver: string;
  /** Returns the question of the run of a session; undefined while it asks nothing. `values` name the caller. */
  read(values: ContextValues, sessionId: string): Promise<string | undefined>;
  /** Answers the question, and returns when the run has worked on the answer. */
  answer(call: CallMethod, sessionId: string, text: string): Promise<void>;
}
