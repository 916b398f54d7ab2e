// Settings of storage and observability: `database`, `metrics`, `tracing`, `log`, `trust.audience`.

import type { Key } from "../key.ts";
import { baseUrl, choice, flag, integer, optional, secret, text } from "../kinds.ts";

/** The settings of operation. */
export const operationKeys = {
  // Secret because it usually contains a password.
  databaseUrl: secret({
    path: "database.url",
    also: ["DATABASE_URL"],
    fallbackAbout: "the embedded Postgres",
    about: "Postgres 15 or newer to use instead of the embedded one.",
  }),
  databaseDir: text({
    path: "database.dir",
    fallback: "./.runnel",
    about: "Where the embedded Postgres keeps its data.",
  }),
  databasePoolSize: integer({
    path: "database.pool_size",
    fallback: 8,
    min: 2,
    max: 100,
    about: "Connections for queries; ten more are used.",
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
      about: "Port where Prometheus reads `/metrics`, without credentials; 0 picks a free one.",
    }),
  ),
  tracingEndpoint: baseUrl({
    path: "tracing.endpoint",
    also: ["OTEL_EXPORTER_OTLP_ENDPOINT"],
    fallbackAbout: "no traces",
    about: "Base URL of OTLP over HTTP that traces are sent to, such as `http://127.0.0.1:4318`.",
  }),
  tracingContent: flag({
    path: "tracing.content",
    fallback: false,
    about: "Whether traces carry what was said and what tools were given and answered.",
  }),
  logLevel: choice({
    path: "log.level",
    words: ["debug", "info", "warn", "error", "silent"],
    fallback: "info",
    about: "Least important line of the log, which is JSON on standard error.",
  }),
  // A core setting: receipts name their issuer.
  trustAudience: text({
    path: "trust.audience",
    fallback: "runnel",
    about: "Name of this service in receipts, and in JobSpecs of version 2, which have it in `aud`.",
  }),
} as const satisfies Record<string, Key<unknown>>;
