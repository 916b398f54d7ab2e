// The driver interface. A driver is an async generator: it yields what happens, and is resumed when it may rely on that. It
// never writes to the database or a socket. Its context holds everything that it needs to continue after a crash.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Message, ToolCall, ToolCallSchema } from "#gen/runnel/v1/message_pb.js";
import type { ModelErrorSchema, RunResult, ToolCallCompleted } from "#gen/runnel/v1/result_pb.js";
import type { RunSchema } from "#gen/runnel/v1/run_pb.js";
import type { Agent, Callback } from "#gen/runnel/v1/session_pb.js";
import type { Db, Transaction } from "../../platform/database/database.ts";
import type { RunSpan } from "../../platform/telemetry/traces.ts";
import type { ResultInit } from "../log/result.ts";
import type { FindMemory } from "../memory/owner.ts";
import type { Statement } from "../receipts/statement.ts";
import type { Workspace } from "../sessions/workspace.ts";
import type { ApprovalState, NewApproval } from "../storage/approval.ts";
import type { ChildOfCall, ContinuedRun, TreePlace } from "../storage/run-tree.ts";
import type { StopReason } from "./stop.ts";

/** Decides the steps of runs. */
export interface Driver {
  /** The name that is stored with each run. */
  readonly name: string;
  /** Whether a run whose replica is lost resumes from its checkpoint, or fails with a clear error. */
  readonly recovery: "resume" | "fail";
  /** True when a program elsewhere works on its runs. They cost a replica next to nothing and take no slot. */
  readonly isOutside?: boolean;
  /** True when its runs wait for a person. While they wait they do not count as active. */
  readonly isFreeWhileWaiting?: boolean;
  /** How long it may take to stop, in milliseconds; 5 s when unset. */
  readonly stopGraceMs?: number;
  /** Works on a run. Called again after a takeover or a wake. */
  run(context: RunContext): AsyncGenerator<DriverStep, DriverEnd>;
  /** Returns fields that are added to its runs as clients see them, by run id. */
  describeRuns?(db: Db | Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, RunDetails>>;
  /** Returns fields that are added to the receipt of a run. */
  describeForReceipt?(db: Db, id: string): Promise<ReceiptDetails>;
}

/** Fields of a run that its driver knows. */
export type RunDetails = Pick<MessageInitShape<typeof RunSchema>, "runnerId" | "bindingId">;
/** Fields of a receipt that the driver of its run knows. */
export type ReceiptDetails = Pick<Statement, "job_id" | "region" | "job_spec_sha256">;

/** What a driver works with. After a takeover or a wake the driver is called again with the newest state. */
export interface RunContext {
  readonly runId: string;
  /** The client that owns the run. */
  readonly client: string;
  readonly agent: Agent;
  readonly session: {
    /** The public id of the session. */
    readonly name: string;
    /** The callback that the client set; undefined when it set none. */
    readonly callback: Callback | undefined;
  };
  /** Opens the work directory of the tools. The session's own directory exists from the first call on. */
  readonly openWorkspace: () => Promise<Workspace>;
  /** The message that started the run. */
  readonly input: Message;
  /**
   * The messages of the session so far, including this run's input and committed messages. Of a long session only the first
   * message, or those of its compaction, and the newest ones.
   */
  readonly transcript: readonly Message[];
  /** The first messages of the transcript, when a summary has replaced earlier ones. The first one of a user is the summary. */
  readonly compacted: readonly Message[];
  /** The last checkpoint of this run; undefined on the first start. */
  readonly checkpoint: { readonly turn: number; readonly state: Uint8Array } | undefined;
  /** Calls of the checkpoint's turn whose outcomes are not in the log yet, in order. */
  readonly openToolCalls: readonly OpenToolCall[];
  /** Aborts when the run has to stop. End soon; steps yielded until then still count. */
  readonly signal: AbortSignal;
  /**
   * Appends a result while the driver is asked for its next step, as an `append` step would: text that arrives by callback needs
   * no promise. Returns false when nothing was appended, because the log is behind or lost: yield the step instead.
   */
  readonly tryAppend: (result: ResultInit) => boolean;
  /** Returns why the run has to stop; undefined while it may continue. */
  readonly stopReason: () => StopReason | undefined;
  /**
   * Returns false when another replica may own the run by now, as after a freeze of the process. A commit finds out; make one
   * before any action that must not happen twice.
   */
  readonly isHeld: () => boolean;
  /** Returns the look-up of the memories that an agent may use: the agent of a run may change. */
  readonly memoriesOf: (agent: Agent) => FindMemory;
  /** Returns the place of the run in its tree, and which of these child runs a new one may continue. */
  readonly readTree: (continued: readonly string[]) => Promise<RunTree>;
  /** The span of the run; spans of the driver belong below it. */
  readonly span: RunSpan;
}

/** The tree of a run, as far as a new child run depends on it. */
export interface RunTree extends TreePlace {
  /** The child runs of the session that a new run may continue, by their ids. */
  readonly continued: ReadonlyMap<string, ContinuedRun>;
}

/** A tool call without a result in the log. */
export interface OpenToolCall {
  readonly call: ToolCall;
  /** Undefined when the process died before the outcome was known. */
  readonly outcome: ToolCallCompleted | undefined;
  /** Undefined for a call that needs no approval. */
  readonly approval?: CallApproval | undefined;
  /** The task of a server that works on the call; undefined for a call without one. */
  readonly task?: string | undefined;
  /** The run that the call has started; undefined for a call of another tool. */
  readonly child?: CallChild | undefined;
}

/** The child run of a call. */
export interface CallChild {
  readonly runId: string;
  /** Undefined while the run or one below it is active. */
  readonly end: ChildEnd | undefined;
}

/** The end of a child run. */
export interface ChildEnd {
  /** The terminal result; undefined when its rows are erased. */
  readonly result: RunResult | undefined;
  /** What the run and all below it used. */
  readonly spent: Pick<ChildOfCall, "promptTokens" | "completionTokens" | "costMicroUsd">;
}

/** The approval of a tool call, when the run was loaded. `used` means that the approved call has begun. */
export interface CallApproval {
  readonly approvalId: string;
  readonly state: ApprovalState;
  readonly expireMs: number;
  /** Who decided; empty without a decision. */
  readonly decidedBy: string;
  readonly comment: string;
}

/** A step that a driver yields. */
export type DriverStep = AppendStep | CommitStep | FlushStep | RestartStep;

/** A result without side effects. The driver is resumed before it is durable. */
export interface AppendStep {
  readonly kind: "append";
  readonly result: ResultInit;
}

/** Results and effects that become durable together. The driver is resumed when they are durable. */
export interface CommitStep {
  readonly kind: "commit";
  readonly results: readonly ResultInit[];
  readonly effects: StepEffects;
}

/** Waits: the driver is resumed when everything that it yielded before is durable. */
export interface FlushStep {
  readonly kind: "flush";
}

/** Voids every result since the last checkpoint, as a takeover does. The turn begins again. */
export interface RestartStep {
  readonly kind: "restart";
  /** Counted from 1. */
  readonly turn: number;
}

/** The effects of a step, written in the transaction of its results. */
export interface StepEffects {
  /** Messages that the session's model has now received or produced. */
  readonly transcript?: readonly Message[];
  /** Messages that models get in place of the first messages of the session: of all but the newest `kept`. */
  readonly compaction?: { readonly messages: readonly Message[]; readonly kept: number };
  /** The agent that has the conversation from now on, in this run and in later ones, and its model. */
  readonly handoff?: { readonly agent: Agent; readonly model: string } | undefined;
  /** The new checkpoint; `turn` is the number of model responses taken so far. */
  readonly checkpoint?: { readonly turn: number; readonly state: Uint8Array };
  /** Calls that are about to be made, in order. */
  readonly toolCalls?: { readonly turn: number; readonly calls: readonly CallToMake[] };
  /** Runs that calls of a turn start, and the outcomes of calls that may start none. */
  readonly children?: NewChildren;
  /** Approved calls that are about to begin. */
  readonly usedApprovals?: readonly string[];
  /** The task of a server that works on one call, stored before anything asks for its result. */
  readonly toolTask?: { readonly turn: number; readonly position: number; readonly task: string };
  /** The outcome of one call, stored before its result is due in the log. */
  readonly toolOutcome?: {
    readonly turn: number;
    readonly position: number;
    readonly outcome: ToolCallCompleted | SettleCall;
  };
  /** The turn whose call outcomes, all and in order, are the first results of this step. */
  readonly toolResultsOfTurn?: number;
  /** Writes rows that only the driver's protocol knows. */
  readonly own?: WriteOwn;
}

/**
 * Writes the rows of a call and returns its outcome, in the transaction that stores the outcome: so a call writes exactly once. Runs
 * again when the transaction is repeated, but not for a call that has an outcome.
 */
export type SettleCall = (trx: Transaction) => Promise<ToolCallCompleted>;

/** A call, with the request for its approval if it needs one. */
export interface CallToMake {
  readonly call: ToolCall;
  readonly approval: NewApproval | undefined;
}

/** What calls of agents begin with. */
export interface NewChildren {
  readonly turn: number;
  readonly runs: readonly NewChild[];
  readonly refused: readonly { readonly position: number; readonly outcome: ToolCallCompleted }[];
}

/** A run that a call starts. */
export interface NewChild {
  /** The position of the call in its turn. */
  readonly position: number;
  readonly runId: string;
  readonly driver: string;
  readonly model: string;
  readonly agent: Agent;
  readonly message: Message;
  /** The id of its hidden session: a new one, or that of the run that it continues. */
  readonly session: string;
  readonly opensSession: boolean;
}

/** Runs in the transaction of the step's results, and again when the transaction is repeated. */
export type WriteOwn = (trx: Transaction, run: { readonly runId: string; readonly session: string }) => Promise<void>;

/** How a driver ends its work on a run. */
export type DriverEnd = CompletedEnd | FailedEnd | ParkedEnd;

interface EndOfRun {
  readonly usage?: ResultInit["usage"];
  /** The sequence number that the runner gave it. */
  readonly runnerSequence?: ResultInit["runnerSequence"];
  /** Results that are written together with the end. */
  readonly results?: readonly ResultInit[];
  readonly own?: WriteOwn;
  /** Called when the end of the run is durable, whether it is this end or another one. */
  readonly settled?: () => void;
}

/** The run completed. */
export interface CompletedEnd extends EndOfRun {
  readonly kind: "completed";
  readonly finishReason: string;
  /** The stop sequence that ended the last response, where a provider named it. */
  readonly stopSequence?: string | undefined;
  /** The last whole message; undefined when there was none. */
  readonly message: Message | undefined;
  /** The output of a run without a message. */
  readonly output?: string;
  readonly turns: number;
  readonly transcript?: readonly Message[];
  /** Calls that the caller of the run has to make. */
  readonly pendingToolCalls?: readonly MessageInitShape<typeof ToolCallSchema>[];
}

/** The run failed, or was cancelled. */
export interface FailedEnd extends EndOfRun {
  readonly kind: "failed";
  /** Dotted code, such as `runner.error`. */
  readonly code: string;
  readonly error: string;
  readonly retryable: boolean;
  /** Why a model gave no response; undefined for every other reason. */
  readonly modelError?: MessageInitShape<typeof ModelErrorSchema> | undefined;
  readonly turns?: number;
  /**
   * True when the end was requested: the run is cancelled and has not failed. A runner may report the code `cancelled` without
   * a request.
   */
  readonly isAskedFor?: boolean;
}

/**
 * Parks the run: it has no owner until it is woken or its time has come. Then the driver is called again with this checkpoint.
 */
export interface ParkedEnd {
  readonly kind: "parked";
  readonly reason: string;
  readonly wakeInMs: number | undefined;
  /**
   * What it waits for: that all approvals of its calls are decided or expired, which does not count towards its deadline; or that the
   * child runs of its calls have ended.
   */
  readonly waitsFor?: "approvals" | "children";
  readonly checkpoint: { readonly turn: number; readonly state: Uint8Array };
}
