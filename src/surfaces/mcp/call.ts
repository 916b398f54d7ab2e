// One request of a client, whichever era of the protocol it speaks: 2026-07-28, which has no sessions, or the revisions before it.

import type { ContextValues } from "@connectrpc/connect";
import type { Clock } from "../../platform/base/clock.ts";
import type { OfferedAgents } from "../../platform/base/offered-agents.ts";
import type { Calls } from "../in-process/calls.ts";
import type { Params, RpcId } from "../in-process/json-rpc.ts";
import { printResult } from "../in-process/json-rpc.ts";
import { sendJson } from "../rest/respond.ts";
import type { StreamedAnswer } from "../rest/streamed-answer.ts";
import type { ToolWatches } from "./tool-watches.ts";

/** Texts that a client keeps for the service. A text that was made for another client, or for another purpose, does not open. */
export interface Seals {
  seal(purpose: string, text: string): string;
  /** Returns undefined for a text that was not sealed for this client and purpose. */
  open(purpose: string, sealed: string): string | undefined;
}

/** The runs of the caller's requests. A request has an id of its own only within its session. */
export interface RequestRuns {
  /** Keeps the run of a request, for every replica. */
  keep(session: string, id: RpcId, runId: string): Promise<void>;
  /** Returns the run of a request of the last 24 hours; undefined for another one. */
  find(session: string, id: RpcId): Promise<string | undefined>;
}

/** What the surface knows of its service. */
export interface Server {
  readonly version: string;
  /** The agents of protocols. */
  readonly agents: readonly OfferedAgents[];
  readonly toolWatches: ToolWatches;
  /** How long a log is kept after its run, in milliseconds. */
  readonly retentionMs: number;
}

/** What a client said that it can do. */
export interface Abilities {
  /** Its people can be asked with a form. */
  readonly elicitation: boolean;
  /** It polls tasks. */
  readonly tasks: boolean;
}

/** The request. */
export interface McpCall extends StreamedAnswer {
  readonly server: Server;
  readonly calls: Calls;
  /** They name the caller. */
  readonly values: ContextValues;
  readonly clock: Clock;
  /** The name of the caller. */
  readonly client: string;
  readonly seals: Seals;
  readonly requestRuns: RequestRuns;
  readonly isModern: boolean;
  /** The session of an older client; empty for others. */
  readonly session: string;
  readonly abilities: Abilities;
  readonly id: RpcId;
  readonly params: Params;
  /** Undefined for a client that wants no progress. */
  readonly progressToken: RpcId | undefined;
  /** Whether the client reads streams. */
  readonly takesStream: boolean;
}

/** Answers with a result. */
export function answer(call: McpCall, result: object): void {
  sendJson(call.response, 200, printResult(call.id, finish(call, result)));
}

/** Adds what every result of an era has. */
export function finish({ isModern, server }: McpCall, result: object): object {
  if (!isModern) {
    return result;
  }
  const { _meta = {}, ...others }: { readonly _meta?: object } = result;
  return {
    resultType: "complete",
    ...others,
    _meta: { ..._meta, "io.modelcontextprotocol/serverInfo": serverInfo(server) },
  };
}

/** Adds how long a client may keep a list. */
export function cacheable({ isModern }: McpCall, result: object): object {
  return isModern ? { ...result, ttlMs: listTtlMs, cacheScope: "private" } : result;
}

/** An agent that was added or removed is seen this late by a client that listens to no changes. */
const listTtlMs = 5_000;

/** Returns the name and version of the service. */
export function serverInfo({ version }: Server): object {
  return { name: "runnel", title: "Runnel", version };
}
