// Figures for Prometheus. Names and labels stand here alone; no label ever holds a client, a session, a run or a nonce.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export interface RequestFigures {
  /** Name of the RPC, whatever the surface; empty for what is none. */
  readonly rpc: string;
  readonly status: number;
  readonly durationMs: number;
  /** Why the caller was refused. */
  readonly reason?: string | undefined;
}

export interface Metrics {
  readonly contentType: string;
  requestStarted(): void;
  requestFinished(figures: RequestFigures): void;
  /** The text that Prometheus reads. */
  print(): Promise<string>;
}

/** From an answer out of memory to the minute that a unary call may take. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

export function createMetrics(options: { readonly version: string; readonly countReaders: () => number }): Metrics {
  const registry = new Registry();
  const registers = [registry];
  // Event-loop lag, heap, descriptors and the like.
  collectDefaultMetrics({ register: registry, prefix: "runnel_" });
  const requests = new Counter({
    name: "runnel_http_requests_total",
    help: "Requests that are over, by RPC and HTTP status; status 0 means that the caller left before there was one.",
    labelNames: ["rpc", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "runnel_http_request_duration_seconds",
    help: "From a request's head to the end of its answer; streams last as long as they are read.",
    labelNames: ["rpc"],
    buckets: durationBuckets,
    registers,
  });
  const inFlight = new Gauge({ name: "runnel_http_in_flight", help: "Requests that are not over.", registers });
  const refusals = new Counter({
    name: "runnel_auth_failures_total",
    help: "Callers that were refused at the door, by reason; NONCE_REPLAYED is a captured request that came again.",
    labelNames: ["reason"],
    registers,
  });
  new Gauge({
    name: "runnel_readers",
    help: "Readers that follow a run.",
    registers,
    collect() {
      this.set(options.countReaders());
    },
  });
  new Gauge({ name: "runnel_build_info", help: "What runs here.", labelNames: ["version"], registers }).set(
    { version: options.version },
    1,
  );
  return {
    contentType: registry.contentType,
    requestStarted: () => inFlight.inc(),
    requestFinished: ({ rpc, status, durationMs, reason }) => {
      inFlight.dec();
      requests.inc({ rpc, status: String(status) });
      durations.observe({ rpc }, durationMs / 1_000);
      if (reason !== undefined) {
        refusals.inc({ reason });
      }
    },
    print: () => registry.metrics(),
  };
}
