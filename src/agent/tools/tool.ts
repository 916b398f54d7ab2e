// The port to a tool: everything that the agent loop knows of a tool.

import type { AgentTools } from "#gen/runnel/v1/session_pb.js";
import type { ResultInit } from "../../engine/log/result.ts";
import type { FindMemory } from "../../engine/memory/owner.ts";
import type { Workspace } from "../../engine/sessions/workspace.ts";
import type { Transaction } from "../../platform/database/database.ts";

/** What a run gives its tools. */
export interface ToolContext extends Workspace {
  /** The session's public id: letters, digits, dashes and underscores. */
  readonly sessionId: string;
  readonly signal: AbortSignal;
  /** Identifies the call, for tools that send requests to others. */
  readonly call?: ToolCallReference;
  /** Finds a memory that the run may use. Unset where no run is. */
  readonly findMemory?: FindMemory;
  /** Takes how far the call has got. Unset where no log has it. */
  readonly report?: (progress: ToolProgress) => void;
  /** Keeps the task of a server that works on the call, so that another replica can ask for its result. Resolves when it is durable. */
  readonly keepTask?: (task: string) => Promise<void>;
  /** Asks a person to fill in a form of a server that works on the call. Unset where no log has the question. */
  readonly ask?: (form: AskedForm) => Promise<FormAnswer>;
  /** Returns whether another replica continues the run after the signal. Unset means that none does. */
  readonly isHandedOn?: () => boolean;
}

/** A form of a server. */
export interface AskedForm {
  readonly server: string;
  readonly message: string;
  /** The JSON Schema of the values. */
  readonly schema: string;
  /** Ends the question. */
  readonly signal: AbortSignal;
}

/** What a person has done with a form. The values are JSON. `cancel` means that there is no decision. */
export type FormAnswer =
  | { readonly action: "accept"; readonly values: string }
  | { readonly action: "decline" | "cancel" };

/** How far a call has got. */
export interface ToolProgress {
  readonly progress: number;
  readonly total: number | undefined;
  readonly message: string;
}

/** Identifies one call of a tool. */
export interface ToolCallReference {
  /** The id that the model's provider gave the call. A repeated call has the same id. */
  readonly id: string;
  /** The arguments as the model wrote them. */
  readonly written: string;
  /** The task that an earlier attempt of this call has kept; undefined without one. */
  readonly task?: string | undefined;
  /** The value of the header `traceparent` for requests of the call; undefined without traces. */
  readonly traceParent: string | undefined;
}

/** The end of a call. A failure that the model should read is an outcome, not a throw. */
export type ToolOutcome = ToolResult | { readonly error: string };

/**
 * A call whose effect is rows of the database. Its outcome is made in the transaction that stores it, so the effect happens exactly
 * once. The function runs again when the transaction is repeated.
 */
export interface ToolEffect {
  readonly settle: (trx: Transaction) => Promise<ToolOutcome>;
}

/** What a call returned. */
export interface ToolResult {
  readonly content: string;
  /** Images and recordings, for models that take them. */
  readonly media?: readonly ToolMedia[];
  /** The same as JSON, for programs that read the log. */
  readonly structured?: object;
}

/** An image or a recording. */
export interface ToolMedia {
  readonly type: "image" | "audio";
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

/** A tool that a model may call. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** The JSON Schema of the arguments. */
  readonly parameters: object;
  /**
   * What happens to a call that was begun and has no outcome, because the process died. `again` repeats the call, for calls
   * without side effects. `report` reports to the model that the call was interrupted.
   */
  readonly afterCrash: "again" | "report";
  /** True when each call waits for a person, whether or not the agent names the tool. */
  readonly needsApproval?: boolean;
  /** The timeout of one call; unset means that of all tools. */
  readonly timeoutMs?: number;
  /**
   * Returns the log entries that a successful call with these arguments adds: they commit with the result of the call. Pure, so that
   * another process adds the same ones. Unset for a tool that adds none.
   */
  readonly changes?: (args: Readonly<Record<string, unknown>>) => readonly ResultInit[];
  /** Runs one call. The arguments are an object as the model wrote it: check every value. */
  run(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolOutcome>;
  /** Runs one call up to its effect. Set for a tool whose effect is rows of the database: `run` then has none. */
  readonly prepare?: (
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
  ) => Promise<ToolOutcome | ToolEffect>;
  /** Returns the tool as an agent with these settings has it. Unset for a tool that is the same for all. */
  readonly forAgent?: (tools: AgentTools) => Tool;
}
