// Traces of runs for OpenTelemetry: what the parts that work on runs may call. Nothing here waits or throws, and without an
// endpoint nothing of OpenTelemetry is loaded and every call does nothing.
//
// T1  A span never holds what a message, a tool or an error said, unless content is recorded on purpose.
// T2  Every span that was started ends, at the latest with its run.
// T3  A collector that is away or slow costs spans, never a run.

import type { Clock } from "../base/clock.ts";

export interface Traces {
  /** The time that one replica works on a run. */
  startRun(run: RunSpanFields): RunSpan;
  /** Sends what is left, within a few seconds. */
  close(): Promise<void>;
}

export interface RunSpanFields {
  readonly runId: string;
  /** Grows each time that the run is taken up; from 1 on. */
  readonly epoch: number;
  readonly sessionId: string;
  /** Goes out as a hash. */
  readonly client: string;
  readonly agentName: string;
  readonly model: string;
  /** The caller's, as it was stored with the run. */
  readonly traceParent: string | undefined;
}

export interface RunSpan {
  startChat(chat: ChatSpanFields): ChatSpan;
  startTool(tool: ToolSpanFields): ToolSpan;
  /** Belongs into the header `traceparent` of calls that the run makes; undefined without traces. */
  readonly traceParent: string | undefined;
  /** Only the first one counts. What the run still has open ends with it. */
  end(end: RunSpanEnd): void;
}

export interface RunSpanEnd {
  readonly status: "completed" | "failed" | "cancelled" | "waiting" | "handed-on" | "lost";
  readonly code?: string | undefined;
  readonly usage?: SpanUsage | undefined;
}

export interface ChatSpanFields {
  readonly provider: string;
  readonly model: string;
  readonly maxTokens: number;
  readonly temperature: number | undefined;
  readonly turn: number;
  /** Called only if content is recorded, like every function here that returns text. */
  readonly input?: () => string;
}

export interface ChatSpan {
  /** The first part of the response has arrived. */
  firstPart(): void;
  end(end: ChatSpanEnd): void;
}

export interface ChatSpanEnd {
  readonly finishReason?: string | undefined;
  /** Like the code of a run's end: what does not look like a code is recorded as content is. */
  readonly failureCode?: string | undefined;
  readonly usage?: SpanUsage | undefined;
  readonly output?: () => string;
}

export interface ToolSpanFields {
  readonly name: string;
  readonly callId: string;
  readonly arguments?: () => string;
}

export interface ToolSpan {
  /** As that of the run, for requests that the call makes. */
  readonly traceParent: string | undefined;
  end(end: ToolSpanEnd): void;
}

export interface ToolSpanEnd {
  /** What the tool said: recorded as content is; else only that it failed. */
  readonly error?: string | undefined;
  readonly result?: () => string;
}

export interface SpanUsage {
  readonly promptTokens?: number | undefined;
  readonly completionTokens?: number | undefined;
}

export interface TracesOptions {
  /** Base URL of a collector that takes OTLP over HTTP; empty means no traces. */
  readonly endpoint: string;
  readonly recordsContent: boolean;
  readonly version: string;
  readonly clock: Clock;
  /** Told why spans are lost, at most once a minute. Neither the endpoint nor anything secret is in it. */
  readonly onTrouble: (error: Error) => void;
}

export async function openTraces(options: TracesOptions): Promise<Traces> {
  if (options.endpoint === "") {
    return noTraces;
  }
  const { recordTraces } = await import("./traces/record.ts");
  return recordTraces(options);
}

const noChatSpan: ChatSpan = { firstPart: () => {}, end: () => {} };
const noToolSpan: ToolSpan = { traceParent: undefined, end: () => {} };

export const noRunSpan: RunSpan = {
  startChat: () => noChatSpan,
  startTool: () => noToolSpan,
  traceParent: undefined,
  end: () => {},
};

export const noTraces: Traces = { startRun: () => noRunSpan, close: async () => {} };
