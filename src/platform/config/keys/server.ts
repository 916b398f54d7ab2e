// Settings of the port and its requests: `server`, `server.tls`, `console`, `rate_limit`.

import { choice, flag, integer, list, optional, publicPath, text } from "../kinds.ts";

const documented = true;
const notNegative = "must not be negative";
const portMax = 65_535;
const portWords = `must be between 1 and ${portMax}`;
/** A day is as good as no limit. */
const timeoutSecMax = 86_400;

/** The settings of the server. */
export const serverKeys = {
  serverHost: text({ path: "server.host", fallback: "0.0.0.0", about: "Address to listen on.", documented }),
  serverPort: integer({
    path: "server.port",
    fallback: 8090,
    min: 1,
    max: portMax,
    belowMin: portWords,
    aboveMax: portWords,
    about: "Port to listen on; `--port 0` picks a free one.",
    documented,
  }),
  serverH2Port: optional(
    integer({
      path: "server.h2_port",
      fallback: 0,
      fallbackAbout: "the same port",
      min: 0,
      max: portMax,
      about: "Port for HTTP/2 only; `server.port` then accepts only HTTP/1.1. 0 picks a free one.",
    }),
  ),
  serverProcesses: optional(
    integer({
      path: "server.processes",
      fallback: 1,
      fallbackAbout: "the number of cores less one, 1 to 4; 1 for `dev`",
      min: 1,
      max: 64,
      about:
        "Number of worker processes that share the port. Each is a replica with its own lease, slots, limits and connections.",
    }),
  ),
  serverDrainSeconds: integer({
    path: "server.drain_seconds",
    fallback: 25,
    min: 0,
    max: 3_600,
    about:
      "Maximum time that a stop waits for open calls. After `SIGTERM`, the service is not ready for a fifth of it, at most 5 s, before it drains.",
  }),
  serverMaxBodyBytes: integer({
    path: "server.max_body_bytes",
    fallback: 10 * 1_048_576,
    min: 1_024,
    max: 64 * 1_048_576,
    about: "Maximum size of a REST body in bytes; gRPC and Connect messages have 4 MiB.",
    documented,
  }),
  serverReadHeaderTimeoutSec: integer({
    path: "server.read_header_timeout_sec",
    fallback: 5,
    min: 0,
    max: timeoutSecMax,
    belowMin: notNegative,
    about: "Timeout for receiving the head of a request; 0 means no limit.",
    documented,
  }),
  serverReadTimeoutSec: integer({
    path: "server.read_timeout_sec",
    fallback: 30,
    min: 0,
    max: timeoutSecMax,
    belowMin: notNegative,
    about: "Timeout for receiving a request with its body; 0 means no limit.",
    documented,
  }),
  serverWriteTimeoutSec: integer({
    path: "server.write_timeout_sec",
    fallback: 65,
    min: 0,
    max: timeoutSecMax,
    belowMin: notNegative,
    about: "Timeout for answering a request that is not a stream; 0 means no limit.",
    documented,
  }),
  serverIdleTimeoutSec: integer({
    path: "server.idle_timeout_sec",
    fallback: 120,
    min: 0,
    max: timeoutSecMax,
    belowMin: notNegative,
    about: "Idle timeout of a connection; 0 means no limit.",
    documented,
  }),
  serverConnectionsMax: integer({
    path: "server.connections_max",
    fallback: 10_000,
    min: 1,
    max: 1_000_000,
    about: "Maximum number of open connections.",
  }),
  serverConnectionsPerAddressMax: integer({
    path: "server.connections_per_address_max",
    fallback: 2_500,
    min: 1,
    max: 1_000_000,
    about: "Maximum number of open connections of one address; a proxy counts as one address.",
  }),
  serverStreamsPerConnectionMax: integer({
    path: "server.streams_per_connection_max",
    fallback: 100,
    min: 1,
    max: 10_000,
    about: "Maximum number of concurrent streams of one HTTP/2 connection; 250 suits a proxy.",
  }),
  serverCorsOrigins: list({
    path: "server.cors_origins",
    item: /^(?:\*|https?:\/\/[^\s/?#@]+)$/,
    expected: "origins such as https://app.example, separated by commas, or *",
    about: "Origins of web pages that may call (CORS), separated by commas, or `*`.",
  }),
  serverPublicPath: publicPath({
    path: "server.public_path",
    about:
      "Path under which a proxy publishes the service, such as `/runnel`, when the proxy removes it from requests.",
  }),
  consoleEnabled: flag({
    path: "console.enabled",
    fallback: false,
    about: "Whether `/console` serves the console for browsers; `dev` turns it on.",
  }),
  serverHealthCounts: choice({
    path: "server.health_counts",
    words: ["authenticated", "always"],
    fallback: "authenticated",
    about:
      "Which callers of `/health` see the numbers of sessions: those with valid credentials, or all. Without configured credentials all do.",
  }),
  serverReflection: flag({
    path: "server.reflection",
    fallback: true,
    about: "Whether gRPC reflection is on, for callers with valid credentials.",
  }),
  tlsCertFile: text({
    path: "server.tls.cert_file",
    variable: "TLS_CERT_FILE",
    about: "PEM file with the server's certificate chain; it turns TLS on.",
    documented,
  }),
  tlsKeyFile: text({
    path: "server.tls.key_file",
    variable: "TLS_KEY_FILE",
    about: "PEM file with the certificate's private key.",
    documented,
  }),
  tlsClientCaFile: text({
    path: "server.tls.client_ca_file",
    variable: "TLS_CLIENT_CA_FILE",
    about: "PEM file with the authorities of client certificates; it requires one on every connection.",
  }),
  rateLimitRps: integer({
    path: "rate_limit.requests_per_second",
    variable: "RATELIMIT_RPS",
    fallback: 20,
    min: 0,
    max: 1_000_000,
    about: "Maximum requests per second of one client; 0 means no limit.",
    documented,
  }),
  rateLimitBurst: integer({
    path: "rate_limit.burst",
    variable: "RATELIMIT_BURST",
    fallback: 40,
    min: 1,
    max: 1_000_000,
    about: "Maximum burst of requests of one client.",
    documented,
  }),
  rateLimitFailuresRps: integer({
    path: "rate_limit.failures_per_second",
    variable: "RATELIMIT_FAILURES_RPS",
    fallback: 20,
    min: 0,
    max: 1_000_000,
    about: "Maximum failed authentications per second of one network; further ones get 429. 0 means no limit.",
  }),
} as const;
