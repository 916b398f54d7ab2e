// The port to what thinks. A driver is an async generator: it yields what happens and is resumed when that may be relied
// on; it never writes to the log, the database or a socket. Everything it needs to go on after a crash is in its context.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Message, ToolCall } from "#gen/runnel/v1/message_pb.js";
import type { ToolCallCompleted } from "#gen/runnel/v1/result_pb.js";
import type { RunSchema } from "#gen/runnel/v1/run_pb.js";
import type { Agent, Callback } from "#gen/runnel/v1/session_pb.js";
import type { Db, Transaction } from "../../platform/database/database.ts";
import type { RunSpan } from "../../platform/telemetry/traces.ts";
import type { ResultInit } from "../log/result.ts";
import type { Statement } from "../receipts/statement.ts";
import type { WorkPlace } from "../sessions/work-place.ts";
import type { StopReason } from "./stop.ts";

export interface Driver {
  /** Stored with each run. */
  readonly name: string;
  /** What becomes of a run whose replica is lost: it goes on from its checkpoint, or fails clearly. */
  readonly recovery: "resume" | "fail";
  /** Somebody else works on its runs: they cost a replica next to nothing, and take none of its slots. */
  readonly isOutside?: boolean;
  /** Its runs wait for a person, and while they wait they do not count as active. */
  readonly isFreeWhileWaiting?: boolean;
  /** How long it may go on after it was told to stop; 5 s where it does not say. */
  readonly stopGraceMs?: number;
  run(context: RunContext): AsyncGenerator<DriverStep, DriverEnd>;
  /** Adds to what clients see of its runs, by id. */
  describeRuns?(db: Db | Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, RunDetails>>;
  /** Adds to what the receipt of one of its runs states. */
  describeForReceipt?(db: Db, id: string): Promise<ReceiptDetails>;
}

export type RunDetails = Pick<MessageInitShape<typeof RunSchema>, "runnerId" | "bindingId">;
export type ReceiptDetails = Pick<Statement, "job_id" | "region" | "job_spec_sha256">;

/** What a driver works with. After a takeover or a wake it is called again with the newest of all this. */
export interface RunContext {
  readonly runId: string;
  /** Whose run it is. */
  readonly client: string;
  readonly agent: Agent;
  readonly session: {
    /** Its public id. */
    readonly name: string;
    /** Where its caller is called back; undefined when it named nothing. */
    readonly callback: Callback | undefined;
  };
  /** Where tools work. A directory of the session's own is there from the first call on. */
  readonly openWorkPlace: () => Promise<WorkPlace>;
  /** What the run was started with. */
  readonly input: Message;
  /**
   * Messages of the session so far, the input of this run and what it has committed included. Of a long past only the
   * first message and the newest ones.
   */
  readonly transcript: readonly Message[];
  /** The last checkpoint of this run; undefined on the first start. */
  readonly checkpoint: { readonly turn: number; readonly state: Uint8Array } | undefined;
  /** Calls of the checkpoint's turn whose outcomes are not in the log yet, in order. */
  readonly openToolCalls: readonly OpenToolCall[];
  /** Aborts when the run shall stop: end soon; what is yielded until then still counts. */
  readonly signal: AbortSignal;
  /** Why it shall stop; undefined while it may go on. */
  readonly stopReason: () => StopReason | undefined;
  /**
   * False when the run may be somebody else's by now, as after a freeze of the process: a commit finds out, and has to come
   * before anything that must not be done twice.
   */
  readonly isHeld: () => boolean;
  /** Where its trace goes on. */
  readonly span: RunSpan;
}

export interface OpenToolCall {
  readonly call: ToolCall;
  /** Undefined when the process died before the outcome was known. */
  readonly outcome: ToolCallCompleted | undefined;
}

export type DriverStep = AppendStep | CommitStep | FlushStep;

/** A result without side effects. The driver goes on before it is durable. */
export interface AppendStep {
  readonly kind: "append";
  readonly result: ResultInit;
}

/** Results and effects that become durable together. The driver goes on when they are. */
export interface CommitStep {
  readonly kind: "commit";
  readonly results: readonly ResultInit[];
  readonly effects: StepEffects;
}

/** The driver goes on when everything that it yielded before is durable. */
export interface FlushStep {
  readonly kind: "flush";
}

export interface StepEffects {
  /** Messages that the session's model has now been told or has said. */
  readonly transcript?: readonly Message[];
  /** Where to go on: `turn` is the number of model responses taken so far. */
  readonly checkpoint?: { readonly turn: number; readonly state: Uint8Array };
  /** Calls that are about to be made, in order. */
  readonly toolCalls?: { readonly turn: number; readonly calls: readonly ToolCall[] };
  /** The outcome of one call, kept before its turn comes in the log. */
  readonly toolOutcome?: { readonly turn: number; readonly position: number; readonly outcome: ToolCallCompleted };
  /** The results of this step are the outcomes of all calls of the turn, in order. */
  readonly toolResultsOfTurn?: number;
  /** Writes rows that only the driver's protocol knows. */
  readonly own?: WriteOwn;
}

/** Runs in the transaction of the step's results; runs again when the transaction is repeated. */
export type WriteOwn = (trx: Transaction, run: { readonly runId: string; readonly session: string }) => Promise<void>;

export type DriverEnd = CompletedEnd | FailedEnd | ParkedEnd;

interface EndOfRun {
  readonly usage?: ResultInit["usage"];
  /** Its number in the count of the runner that reported it. */
  readonly runnerSequence?: ResultInit["runnerSequence"];
  /** What is written together with the end. */
  readonly results?: readonly ResultInit[];
  readonly own?: WriteOwn;
  /** Called when the end is durable, be it this one or what became of it. */
  readonly settled?: () => void;
}

export interface CompletedEnd extends EndOfRun {
  readonly kind: "completed";
  readonly finishReason: string;
  /** The last whole message; undefined when there was none. */
  readonly message: Message | undefined;
  /** The output of a run without a message. */
  readonly output?: string;
  readonly turns: number;
  readonly transcript?: readonly Message[];
}

export interface FailedEnd extends EndOfRun {
  readonly kind: "failed";
  /** Dotted code, such as `runner.error`. */
  readonly code: string;
  readonly error: string;
  readonly retryable: boolean;
  readonly turns?: number;
  /** Somebody wanted it: the run is cancelled, and has not failed. A runner may use the word without being asked. */
  readonly isAskedFor?: boolean;
}

/** Nobody holds the run until it is woken or its time comes; then the driver is called again with this checkpoint. */
export interface ParkedEnd {
  readonly kind: "parked";
  readonly reason: string;
  readonly wakeInMs: number | undefined;
  readonly checkpoint: { readonly turn: number; readonly state: Uint8Array };
}
