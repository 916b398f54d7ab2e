// Traces of runs for OpenTelemetry: the interface for the parts that work on runs. Its functions never wait or throw. Without
// an endpoint, OpenTelemetry is not loaded and every call does nothing.
//
// T1  A span never holds the content of a message, a tool or an error, unless content is recorded on purpose.
// T2  Every started span ends, at the latest with its run.
// T3  An unreachable or slow collector costs spans, never a run.

import type { Clock } from "../base/clock.ts";

/** Records traces of runs. */
export interface Traces {
  /** Starts the span of the time that one replica works on a run. */
  startRun(run: RunSpanFields): RunSpan;
  /** Sends the remaining spans, within a few seconds. */
  close(): Promise<void>;
}

/** Attributes of a run's span. */
export interface RunSpanFields {
  readonly runId: string;
  /** Starts at 1 and grows each time the run is taken up. */
  readonly epoch: number;
  readonly sessionId: string;
  /** Sent as a hash. */
  readonly client: string;
  readonly agentName: string;
  readonly model: string;
  /** The client's `traceparent`, as stored with the run. */
  readonly traceParent: string | undefined;
}

/** The span of a run. */
export interface RunSpan {
  startChat(chat: ChatSpanFields): ChatSpan;
  startTool(tool: ToolSpanFields): ToolSpan;
  /** The value of the `traceparent` header for calls of the run; undefined without traces. */
  readonly traceParent: string | undefined;
  /** Ends the span and all open spans of the run. Only the first call counts. */
  end(end: RunSpanEnd): void;
}

/** How the span of a run ends. */
export interface RunSpanEnd {
  readonly status: "completed" | "failed" | "cancelled" | "waiting" | "handed-on" | "lost";
  readonly code?: string | undefined;
  readonly usage?: SpanUsage | undefined;
}

/** Attributes of a model's response. */
export interface ChatSpanFields {
  /** The name in OpenTelemetry's conventions, when they have one. */
  readonly provider: string;
  readonly model: string;
  readonly maxTokens: number;
  readonly temperature: number | undefined;
  readonly turn: number;
  /** Called only if content is recorded, like every function here that returns text. */
  readonly input?: () => string;
}

/** The span of a model's response. */
export interface ChatSpan {
  /** Marks the arrival of the response's first part. */
  firstPart(): void;
  end(end: ChatSpanEnd): void;
}

/** How the span of a model's response ends. */
export interface ChatSpanEnd {
  readonly finishReason?: string | undefined;
  /** Like the code of a run's end: a text that does not look like a code is recorded as content. */
  readonly failureCode?: string | undefined;
  readonly usage?: SpanUsage | undefined;
  readonly output?: () => string;
}

/** Attributes of a tool call. */
export interface ToolSpanFields {
  readonly name: string;
  readonly callId: string;
  readonly arguments?: () => string;
}

/** The span of a tool call. */
export interface ToolSpan {
  /** The value of the `traceparent` header for requests that the tool call sends; undefined without traces. */
  readonly traceParent: string | undefined;
  end(end: ToolSpanEnd): void;
}

/** How the span of a tool call ends. */
export interface ToolSpanEnd {
  /** The tool's error text, recorded as content; without content, only the failure is recorded. */
  readonly error?: string | undefined;
  readonly result?: () => string;
}

/** Tokens used. */
export interface SpanUsage {
  readonly promptTokens?: number | undefined;
  readonly completionTokens?: number | undefined;
}

/** Options of the traces. */
export interface TracesOptions {
  /** Base URL of a collector that accepts OTLP over HTTP; empty disables traces. */
  readonly endpoint: string;
  readonly recordsContent: boolean;
  readonly version: string;
  readonly clock: Clock;
  /** Receives the reason of lost spans, at most once a minute. It contains neither the endpoint nor secrets. */
  readonly onTrouble: (error: Error) => void;
}

const noChatSpan: ChatSpan = { firstPart: () => {}, end: () => {} };
const noToolSpan: ToolSpan = { traceParent: undefined, end: () => {} };

/** The span of a run without traces. */
export const noRunSpan: RunSpan = {
  startChat: () => noChatSpan,
  startTool: () => noToolSpan,
  traceParent: undefined,
  end: () => {},
};

/** Traces that record nothing. */
export const noTraces: Traces = { startRun: () => noRunSpan, close: async () => {} };
