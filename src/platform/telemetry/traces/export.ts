// Sends spans to a collector, by OTLP over HTTP. Bounded in memory and time; a collector that does not take them costs the
// spans and one report a minute. Headers for it come from the environment (OTEL_EXPORTER_OTLP_HEADERS), which the
// library reads by itself: they may be secret, and so may the endpoint, so neither is ever told.

import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from "@opentelemetry/sdk-trace";
import type { Clock } from "../../base/clock.ts";
import { Fault } from "../../base/fault.ts";

export interface ExportOptions {
  readonly endpoint: string;
  readonly clock: Clock;
  readonly onTrouble: (error: Error) => void;
}

/** Longest that one batch may take, tries included. */
export const exportTimeoutMs = 5_000;
/** Spans that wait; those that come when it is full are lost. */
const queueSpansMax = 2_048;
const batchSpansMax = 512;
const scheduleMs = 1_000;
const reportEveryMs = 60_000;

export function createExport(options: ExportOptions): SpanProcessor {
  const exporter = new OTLPTraceExporter({ url: tracesUrl(options.endpoint), timeoutMillis: exportTimeoutMs });
  return new BatchSpanProcessor({
    exporter: new WatchedExporter(exporter, options),
    maxQueueSize: queueSpansMax,
    maxExportBatchSize: batchSpansMax,
    scheduledDelayMillis: scheduleMs,
    exportTimeoutMillis: exportTimeoutMs,
  });
}

/** Spans have a path of their own below the endpoint; naming it is no mistake. */
function tracesUrl(endpoint: string): string {
  const url = URL.parse(endpoint);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    const description = "must be the http or https URL of a collector, such as http://localhost:4318";
    throw new Fault("CONFIG_INVALID", `invalid configuration: tracing.endpoint ${description}`, {
      violations: [{ field: "tracing.endpoint", description }],
    });
  }
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith(signalPath) ? path : `${path}${signalPath}`;
  return url.href;
}

const signalPath = "/v1/traces";

type Export = SpanExporter["export"];
/** ExportResultCode.SUCCESS of a package that is not a dependency of ours. */
const succeeded = 0;

/** Tells of batches that were lost. */
class WatchedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #clock: Clock;
  readonly #onTrouble: (error: Error) => void;
  #silentUntilMs = Number.NEGATIVE_INFINITY;

  constructor(exporter: SpanExporter, { clock, onTrouble }: ExportOptions) {
    this.#exporter = exporter;
    this.#clock = clock;
    this.#onTrouble = onTrouble;
  }

  export(spans: Parameters<Export>[0], done: Parameters<Export>[1]): void {
    this.#exporter.export(spans, (result) => {
      if (result.code !== succeeded) {
        this.#report(result.error);
      }
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  #report(error: unknown): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#silentUntilMs) {
      return;
    }
    this.#silentUntilMs = nowMs + reportEveryMs;
    this.#onTrouble(new Error(`spans do not reach the collector: ${describeFailure(error)}`));
  }
}

/** The code alone, such as ECONNREFUSED or 401: the collector's own words may hold anything. */
function describeFailure(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^\w{1,64}$/.test(code) ? code : "no answer in time, or none that could be used";
}
