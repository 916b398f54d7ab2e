// The spans of one run: one for the run, and below it one for each model response and each tool call.

import {
  type Attributes,
  type Context,
  type HrTime,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { Clock } from "../../base/clock.ts";
import { printTraceParent } from "../../base/trace-parent.ts";
import type {
  ChatSpan,
  ChatSpanEnd,
  ChatSpanFields,
  RunSpan,
  RunSpanEnd,
  SpanUsage,
  ToolSpan,
  ToolSpanEnd,
  ToolSpanFields,
} from "../traces.ts";
import { names, operations, toolType } from "./names.ts";
import { contentBytesMax, cutName, cutText, failureOfCode, failureOfText, type SpanFailure, spanName } from "./text.ts";

/** Dependencies of a run's spans. */
export interface Recording {
  readonly tracer: Tracer;
  /** Returns the time in the format of spans. */
  readonly now: () => HrTime;
  readonly clock: Clock;
  readonly recordsContent: boolean;
}

/** A run whose spans are recorded. */
export class RecordedRun implements RunSpan {
  readonly traceParent: string;
  readonly #span: Span;
  readonly #context: Context;
  readonly #recording: Recording;
  /** The open spans. Those that a stopped driver leaves open end with the run. */
  readonly #open = new Set<Span>();

  constructor(span: Span, recording: Recording) {
    this.traceParent = traceParentOf(span);
    this.#span = span;
    this.#context = trace.setSpan(ROOT_CONTEXT, span);
    this.#recording = recording;
  }

  startChat({ provider, model, maxTokens, temperature, turn, input }: ChatSpanFields): ChatSpan {
    const { clock } = this.#recording;
    const startMs = clock.monotonicMs();
    const span = this.#start(spanName(operations.chat, model), SpanKind.CLIENT, {
      [names.operation]: operations.chat,
      [names.provider]: cutName(provider),
      [names.model]: cutName(model),
      [names.maxTokens]: maxTokens,
      [names.temperature]: temperature,
      [names.turn]: turn,
      [names.inputMessages]: this.#content(input),
    });
    let hasPart = false;
    return {
      firstPart: () => {
        if (!hasPart && this.#open.has(span)) {
          hasPart = true;
          span.setAttribute(names.firstPart, (clock.monotonicMs() - startMs) / 1_000);
        }
      },
      end: ({ finishReason, failureCode, usage, output }: ChatSpanEnd) => {
        const reason = cutName(finishReason ?? "");
        const failure = failureCode === undefined ? undefined : failureOfCode(failureCode);
        this.#end(span, failure, () => ({
          ...usageOf(usage),
          [names.finishReasons]: reason && [reason],
          [names.outputMessages]: this.#content(output),
        }));
      },
    };
  }

  startTool({ name, callId, arguments: input }: ToolSpanFields): ToolSpan {
    const span = this.#start(spanName(operations.tool, name), SpanKind.INTERNAL, {
      [names.operation]: operations.tool,
      [names.tool]: cutName(name),
      [names.toolType]: toolType,
      [names.toolCall]: cutName(callId),
      [names.toolArguments]: this.#content(input),
    });
    return {
      traceParent: traceParentOf(span),
      end: ({ error, result }: ToolSpanEnd) => {
        const failure = error === undefined ? undefined : failureOfText(error);
        this.#end(span, failure, () => ({ [names.toolResult]: this.#content(result) }));
      },
    };
  }

  end({ status, code, usage }: RunSpanEnd): void {
    for (const span of this.#open) {
      this.#end(span, { errorType: status }, () => ({}));
    }
    if (!this.#span.isRecording()) {
      return;
    }
    this.#span.setAttributes({ [names.runStatus]: status, ...usageOf(usage) });
    if (status === "failed" || status === "lost") {
      this.#fail(this.#span, failureOfCode(code ?? status));
    }
    this.#span.end(this.#recording.now());
  }

  #start(name: string, kind: SpanKind, attributes: Attributes): Span {
    const { tracer, now } = this.#recording;
    const span = tracer.startSpan(name, { kind, attributes, startTime: now() }, this.#context);
    this.#open.add(span);
    return span;
  }

  #end(span: Span, failure: SpanFailure | undefined, attributes: () => Attributes): void {
    if (!this.#open.delete(span)) {
      return;
    }
    span.setAttributes(attributes());
    if (failure !== undefined) {
      this.#fail(span, failure);
    }
    span.end(this.#recording.now());
  }

  #fail(span: Span, { errorType, text }: SpanFailure): void {
    span.setAttribute(names.errorType, errorType);
    const message = text === undefined ? undefined : this.#content(() => text);
    span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
  }

  /** Returns undefined unless content is recorded. A text that cannot be created never fails a run. */
  #content(text: (() => string) | undefined): string | undefined {
    if (text === undefined || !this.#recording.recordsContent) {
      return undefined;
    }
    try {
      return cutText(text(), contentBytesMax);
    } catch {
      return undefined;
    }
  }
}

function usageOf({ promptTokens, completionTokens }: SpanUsage = {}): Attributes {
  return { [names.inputTokens]: promptTokens, [names.outputTokens]: completionTokens };
}

/** Tells called hosts when nothing is recorded because the client does not sample. */
function traceParentOf(span: Span): string {
  return printTraceParent({ ...span.spanContext(), isSampled: span.isRecording() });
}
