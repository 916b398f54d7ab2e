// Traces with OpenTelemetry. Loaded only when an endpoint is configured.

import {
  type Context,
  type HrTime,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import { RandomIdGenerator, TracerProvider } from "@opentelemetry/sdk-trace";
import { newUuid } from "../../base/ids.ts";
import { parseTraceParent } from "../../base/trace-parent.ts";
import type { RunSpanFields, Traces, TracesOptions } from "../traces.ts";
import { createExport, exportTimeoutMs } from "./export.ts";
import { names, operations, schemaUrl, scopeName } from "./names.ts";
import { RecordedRun } from "./recorded-run.ts";
import { ChosenIds, hashPrefix, spanIdOf, traceIdOf } from "./span-ids.ts";
import { startTime } from "./span-time.ts";
import { cutName, spanName } from "./text.ts";

/** The maximum time of closing: one batch may be in progress, and the waiting spans are sent beside it. */
const closeTimeoutMs = exportTimeoutMs;

/** Returns traces that are sent to the collector of the options. */
export function recordTraces(options: TracesOptions): Traces {
  const { clock, recordsContent, version } = options;
  const ids = new ChosenIds(new RandomIdGenerator());
  const provider = new TracerProvider({
    resource: describeService(options),
    idGenerator: ids,
    spanProcessors: [createExport(options)],
  });
  const tracer = provider.getTracer(scopeName, version, { schemaUrl });
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    const flushed = new AbortController();
    // Lost spans have already been reported.
    const shutdown = provider.shutdown().then(
      () => flushed.abort(),
      () => flushed.abort(),
    );
    await Promise.race([shutdown, clock.sleep(closeTimeoutMs, flushed.signal)]);
  };
  return {
    startRun: (run) => {
      const now = startTime(clock);
      const span = startRunSpan(run, { tracer, ids, startTime: now() });
      return new RecordedRun(span, {
        tracer,
        now,
        clock,
        recordsContent: recordsContent && span.isRecording(),
      });
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function describeService({ version, clock }: TracesOptions): Resource {
  return resourceFromAttributes({
    [names.serviceName]: "runnel",
    [names.serviceVersion]: version,
    [names.serviceInstanceId]: newUuid(clock.nowMs()),
  });
}

interface SpanStart {
  readonly tracer: Tracer;
  readonly ids: ChosenIds;
  readonly startTime: HrTime;
}

function startRunSpan(run: RunSpanFields, { tracer, ids, startTime }: SpanStart): Span {
  const caller = parseTraceParent(run.traceParent);
  const traceId = caller?.traceId ?? traceIdOf(run.runId);
  const parent: Context =
    caller === undefined
      ? ROOT_CONTEXT
      : trace.setSpanContext(ROOT_CONTEXT, elsewhere(caller.traceId, caller.spanId, caller.isSampled));
  const attributes = {
    [names.operation]: operations.run,
    [names.agent]: cutName(run.agentName),
    [names.model]: cutName(run.model),
    [names.conversation]: cutName(run.sessionId),
    [names.runId]: run.runId,
    [names.runEpoch]: run.epoch,
    [names.clientHash]: hashPrefix(run.client),
  };
  const span = { attributes, startTime, links: linksOf(run, traceId) };
  return ids.startWith({ traceId, spanId: spanIdOf(run.runId, run.epoch) }, () =>
    tracer.startSpan(spanName(operations.run, run.agentName), span, parent),
  );
}

/** The epoch of a run's first owner, which continues no earlier span. */
const firstEpoch = 1;

function linksOf({ runId, epoch }: RunSpanFields, traceId: string): Link[] {
  return epoch > firstEpoch ? [{ context: elsewhere(traceId, spanIdOf(runId, epoch - 1), true) }] : [];
}

function elsewhere(traceId: string, spanId: string, isSampled: boolean): SpanContext {
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}
