// The port to a tool: what the agent loop knows of anything a model may call.

import type { WorkPlace } from "../../engine/sessions/work-place.ts";

/** What a run gives its tools. */
export interface ToolContext extends WorkPlace {
  /** As clients know it: letters, digits, dashes and underscores. */
  readonly sessionId: string;
  readonly signal: AbortSignal;
  /** Which call it is, for tools that tell others. */
  readonly call?: ToolCallReference;
}

export interface ToolCallReference {
  /** As the model's provider named it. The same when the call is made again. */
  readonly id: string;
  /** Belongs into the header `traceparent` of requests that the call makes; undefined without traces. */
  readonly traceParent: string | undefined;
}

/** How a call ended. A failure that the model should read about is an outcome, not a throw. */
export type ToolOutcome = { readonly content: string } | { readonly error: string };

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: object;
  /**
   * What happens to a call that was begun and whose outcome is unknown, because the process died in between:
   * `again` for calls without side effects, `report` tells the model that the call was interrupted.
   */
  readonly afterCrash: "again" | "report";
  /** Runs one call. Arguments are an object of whatever the model wrote: check every one. */
  run(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolOutcome>;
}
