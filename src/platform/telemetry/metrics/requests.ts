// Metrics of requests: HTTP requests by status, calls by gRPC code, refusals, readers.

import type { EventListeners } from "../events.ts";
import { durationBuckets, type Figures } from "./figures.ts";

/** The signature window of the Agent Runner document ends at 120 s. */
const skewBuckets = [0.5, 1, 2.5, 5, 10, 30, 60, 90, 120, 300, 3_600];
/**
 * The maximum measured skew, in seconds. A client may claim any time; without a maximum, one client could make the sum
 * meaningless.
 */
const skewSecondsMax = 3_600;

/** Registers the metrics of requests. */
export function countRequests(figures: Figures): EventListeners {
  return { ...countHttp(figures), ...countCalls(figures), ...countReaders(figures), ...countRefusals(figures) };
}

function countHttp(figures: Figures): Pick<EventListeners, "requestStarted" | "requestFinished"> {
  const requests = figures.counter(
    "http_requests_total",
    "Requests that are over, by RPC and HTTP status; status 0 means that the caller left before there was one.",
    ["rpc", "status"],
  );
  const durations = figures.histogram(
    "http_request_duration_seconds",
    "From a request's head to the end of its answer; streams last as long as they are read.",
    { buckets: durationBuckets, labelNames: ["rpc"] },
  );
  const inFlight = figures.gauge("http_in_flight", "Number of requests in progress.");
  const failures = figures.counter(
    "auth_failures_total",
    "Number of requests refused before their handler, by reason.",
    ["reason"],
  );
  const replays = figures.counter(
    "nonce_replays_total",
    "Number of signed requests with a used nonce: captured, or sent twice.",
  );
  return {
    requestStarted: () => inFlight.inc(),
    requestFinished: ({ rpc, status, durationMs, reason }) => {
      inFlight.dec();
      requests.inc({ rpc, status: String(status) });
      durations.observe({ rpc }, durationMs / 1_000);
      if (reason !== undefined) {
        failures.inc({ reason });
      }
      if (reason === "NONCE_REPLAYED") {
        replays.inc();
      }
    },
  };
}

function countCalls(figures: Figures): Pick<EventListeners, "callStarted" | "callFinished" | "callRefused"> {
  const calls = figures.counter(
    "rpc_server_requests_total",
    "Number of finished calls by gRPC code, on all surfaces, including refused ones.",
    ["service", "method", "code"],
  );
  const durations = figures.histogram(
    "rpc_server_duration_seconds",
    "From the start of a call to its end; streams last as long as they are read.",
    { buckets: durationBuckets, labelNames: ["service", "method"] },
  );
  const inFlight = figures.gauge("rpc_server_in_flight", "Number of calls in progress.", {
    labelNames: ["service", "method"],
  });
  return {
    callStarted: ({ service, method }) => inFlight.inc({ service, method }),
    callFinished: ({ service, method, code, durationMs }) => {
      inFlight.dec({ service, method });
      calls.inc({ service, method, code });
      durations.observe({ service, method }, durationMs / 1_000);
    },
    callRefused: ({ service, method, code }) => calls.inc({ service, method, code }),
  };
}

function countReaders(figures: Figures): Pick<EventListeners, "readerJoined" | "readerLeft" | "readerDropped"> {
  const readers = figures.gauge("readers", "Streams that follow a run or a session, by how they came.", {
    labelNames: ["transport"],
  });
  const dropped = figures.counter(
    "reader_dropped_total",
    "Streams that the service ended before their end; RESUME asks the reader to come again.",
    ["reason"],
  );
  return {
    readerJoined: ({ transport }) => readers.inc({ transport }),
    readerLeft: ({ transport }) => readers.dec({ transport }),
    readerDropped: ({ reason }) => dropped.inc({ reason }),
  };
}

function countRefusals(figures: Figures): Pick<EventListeners, "signatureTimed"> {
  const skew = figures.histogram(
    "clock_skew_seconds",
    "How far the time of a signed request was from ours, either way; more than an hour counts as an hour.",
    { buckets: skewBuckets },
  );
  return { signatureTimed: ({ skewSeconds }) => skew.observe(Math.min(Math.abs(skewSeconds), skewSecondsMax)) };
}
