// Agents that a protocol offers to surfaces whose callers know agents by their names alone. The functions call the contract as the
// caller of a request, so access checks and limits are those of every surface.

import type { DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ContextValues } from "@connectrpc/connect";

/** Calls a unary method of the contract as the caller of a request. Throws the ConnectError of the call. */
export type CallMethod = <M extends DescMethodUnary>(
  method: M,
  request: MessageInitShape<M["input"]>,
) => Promise<MessageShape<M["output"]>>;

/** An agent that a caller may call. */
export interface OfferedAgent {
  /** Unique among the caller's agents of a protocol: letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  /** For people; empty for none. */
  readonly title: string;
  readonly description: string;
  /** What the agent's author says about it: a JSON object. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A message to an agent. */
export interface AgentMessage {
  readonly id: string;
  /** The name of the surface over which it came. */
  readonly source: string;
  /** The id that its sender gave it; undefined where callers give none. It may come twice. */
  readonly senderId?: string;
  readonly text: string;
  /** The id of the conversation, chosen by the caller. */
  readonly conversationId: string;
  /** What the caller keeps with the run: a JSON object. */
  readonly annotations: string;
}

/** The agents of a protocol. */
export interface OfferedAgents {
  /** Returns the agents that the caller may call, by name. */
  list(call: CallMethod): Promise<readonly OfferedAgent[]>;
  /** Starts a run. Returns its id. */
  start(call: CallMethod, agent: OfferedAgent, message: AgentMessage): Promise<string>;
  /**
   * Returns the content of an artifact that the log leaves out. Undefined for an artifact without content, and for one of another
   * client or run. `values` name the caller.
   */
  readArtifact(values: ContextValues, runId: string, artifactId: string): Promise<Uint8Array | undefined>;
}
