// Settings of storage and observability: `database`, `metrics`, `tracing`, `log`, `trust.audience`.

import type { Key } from "../key.ts";
import { baseUrl, choice, databaseUrl, flag, integer, optional, text } from "../kinds.ts";

/** The settings of operation. */
export const operationKeys = {
  databaseUrl: databaseUrl({
    path: "database.url",
    also: ["DATABASE_URL"],
    fallbackAbout: "the embedded Postgres",
    about: "URL of a Postgres 15 or newer, to use instead of the embedded one. One host, and no pooler.",
  }),
  databaseDir: text({
    path: "database.dir",
    fallback: "./.runnel",
    about: "Directory of the embedded Postgres.",
  }),
  databasePoolSize: integer({
    path: "database.pool_size",
    fallback: 8,
    min: 2,
    max: 100,
    about: "Number of connections for queries; the service uses ten more.",
  }),
  databaseFailoverSeconds: integer({
    path: "database.failover_seconds",
    fallback: 0,
    min: 0,
    max: 600,
    about:
      "How long the database is away in a failover; 0 when it has none. `serve` and `doctor` warn when `runs.lease_ms` is shorter " +
      "than a third of it.",
  }),
  metricsHost: text({
    path: "metrics.host",
    fallback: "127.0.0.1",
    about: "Address that `metrics.port` listens on. Set `0.0.0.0` in a container, so that other machines reach it.",
  }),
  metricsPort: optional(
    integer({
      path: "metrics.port",
      fallback: 0,
      fallbackAbout: "none",
      min: 0,
      max: 65_535,
      about: "Port of `/metrics` for Prometheus, without credentials; 0 picks a free one.",
    }),
  ),
  tracingEndpoint: baseUrl({
    path: "tracing.endpoint",
    also: ["OTEL_EXPORTER_OTLP_ENDPOINT"],
    fallbackAbout: "no traces",
    about: "Base URL of an OTLP collector over HTTP for traces, such as `http://127.0.0.1:4318`.",
  }),
  tracingContent: flag({
    path: "tracing.content",
    fallback: false,
    about: "Whether traces contain messages, and arguments and results of tools.",
  }),
  logLevel: choice({
    path: "log.level",
    words: ["debug", "info", "warn", "error", "silent"],
    fallback: "info",
    about: "Lowest level of the log, which is JSON on standard error.",
  }),
  // A core setting: receipts name their issuer.
  trustAudience: text({
    path: "trust.audience",
    fallback: "runnel",
    about: "Name of this service in receipts, and in `aud` of JobSpecs of version 2.",
  }),
} as const satisfies Record<string, Key<unknown>>;
