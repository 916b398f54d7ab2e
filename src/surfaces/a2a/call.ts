// One call of a client, over whichever binding it came.

import type { ContextValues } from "@connectrpc/connect";
import type { Clock } from "../../platform/base/clock.ts";
import type { OfferedAgents } from "../../platform/base/offered-agents.ts";
import type { PushConfigs } from "../../platform/base/pushes.ts";
import type { TextQuestions } from "../../platform/base/text-questions.ts";
import type { Calls } from "../in-process/calls.ts";

/** The key that signs cards. */
export interface CardKey {
  readonly kid: string;
  readonly createTime: Date;
  /** Returns the signature with Ed25519. */
  readonly sign: (bytes: Uint8Array) => Uint8Array;
}

/** What the surface knows of its service. */
export interface Server {
  readonly version: string;
  /** The agents of protocols. */
  readonly agents: readonly OfferedAgents[];
  /** The questions of runs that wait for a person's text. */
  readonly questions: readonly TextQuestions[];
  readonly clock: Clock;
  /** The path under which a proxy publishes the service, such as `/runnel`; empty for none. */
  readonly publicPath: string;
  /** The port of gRPC; undefined when one port has all. */
  readonly grpcPort: number | undefined;
  readonly loadCardKey: () => Promise<CardKey>;
  readonly pushConfigs: PushConfigs;
}

/** The call. */
export interface A2aCall {
  readonly server: Server;
  readonly calls: Calls;
  /** They name the caller. */
  readonly values: ContextValues;
  /** The address of the service as the client wrote it: `https://agents.example/runnel`. */
  readonly address: string;
  /** The key that makes a call safe to repeat; empty for none. */
  readonly idempotencyKey: string;
  /** How long the binding lets a client wait for the end of a task, in milliseconds; undefined for no limit. */
  readonly patienceMs: number | undefined;
}
