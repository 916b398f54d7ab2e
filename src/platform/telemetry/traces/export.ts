// Sends spans to a collector with OTLP over HTTP. Bounded in memory and time; a failing collector costs the spans and one
// report a minute. Its headers come from the environment (OTEL_EXPORTER_OTLP_HEADERS), which the library reads by itself. They
// may be secret, and so may the endpoint, so neither is ever reported.

import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from "@opentelemetry/sdk-trace";
import type { Clock } from "../../base/clock.ts";
import { Fault } from "../../base/fault.ts";

/** Options of the export. */
export interface ExportOptions {
  readonly endpoint: string;
  readonly clock: Clock;
  readonly onTrouble: (error: Error) => void;
}

/** The maximum time of one batch including retries, in milliseconds. */
export const exportTimeoutMs = 5_000;
/** The maximum number of waiting spans; further ones are lost. */
const queueSpansMax = 2_048;
const batchSpansMax = 512;
const scheduleMs = 1_000;
const reportEveryMs = 60_000;

/** Returns the processor that exports spans in batches. Throws CONFIG_INVALID when the endpoint is not an HTTP URL. */
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

/** Appends the path of spans to the endpoint, unless the endpoint already has it. */
function tracesUrl(endpoint: string): string {
  const url = URL.parse(endpoint);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    const description = "must be the http or https URL of a collector, such as http://localhost:4318";
    throw new Fault("CONFIG_INVALID", `invalid configuration: tracing.endpoint ${description}`, {
      violations: [{ field: "tracing.endpoint", description }],
    });
  }
  const path = url.pathname.replace(/(?<!\/)\/+$/, "");
  url.pathname = path.endsWith(signalPath) ? path : `${path}${signalPath}`;
  return url.href;
}

const signalPath = "/v1/traces";

type Export = SpanExporter["export"];
/** ExportResultCode.SUCCESS of a package that is not our dependency. */
const succeeded = 0;

/** Reports lost batches. */
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

/** Returns only the code, such as ECONNREFUSED or 401: the collector's own message may contain anything. */
function describeFailure(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^\w{1,64}$/.test(code) ? code : "no answer in time, or none that could be used";
}
