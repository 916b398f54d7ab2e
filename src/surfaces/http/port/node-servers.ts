// Node's servers for both protocols, with the port's limits. They do not take sockets by themselves: the port decides which
// server serves each socket.

import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import type { ServerOpts, Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import { timerMsMax } from "../../../platform/base/clock.ts";
import { type OnePortLimits, orNever } from "./limits.ts";

/** Serves a socket. */
export type ServeSocket = (socket: Socket) => void;

/** Node's HTTP/1.1 server. */
export interface H1Server {
  /**
   * The server that listens. Node tracks connections and enforces timeouts only on a listening server. It does not serve the
   * sockets that it accepts by itself.
   */
  readonly listener: http.Server | https.Server;
  readonly serve: ServeSocket;
  /** Starts the TLS handshake on an accepted socket; the listener then emits `secureConnection`. Undefined without TLS. */
  readonly secure: ServeSocket | undefined;
}

/**
 * Creates the HTTP/1.1 server. It has no `upgrade` listener on purpose: without one Node serves a request with `Upgrade: h2c`
 * as the plain h1 request it is.
 */
export function createH1Server(
  limits: OnePortLimits,
  tls: TlsOptions | undefined,
  serve: http.RequestListener,
): H1Server {
  const options = h1Options(limits);
  const listener =
    tls === undefined ? http.createServer(options, serve) : https.createServer({ ...options, ...tls }, serve);
  listener.timeout = limits.h1StallTimeoutMs;
  return {
    listener,
    serve: takeListener(listener, tls === undefined ? "connection" : "secureConnection"),
    secure: tls === undefined ? undefined : takeListener(listener, "connection"),
  };
}

/** Creates an HTTP/2 server that never listens. It serves the sockets passed to it, with or without TLS. */
export function createH2Server(
  limits: OnePortLimits,
  serve: (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse) => void,
): http2.Http2Server {
  return http2.createServer(h2Options(limits), serve);
}

function takeListener(server: http.Server | https.Server, event: "connection" | "secureConnection"): ServeSocket {
  const listeners = server.listeners(event);
  server.removeAllListeners(event);
  return (socket) => {
    for (const listener of listeners) {
      listener.call(server, socket);
    }
  };
}

/** Node adds this to the keep-alive timeout. */
const keepAliveBufferMs = 1_000;

/** The options of accepted connections. */
export function connectionOptions(limits: OnePortLimits): ServerOpts {
  return {
    // TCP keep-alive finds a vanished h1 peer as soon as PING finds an h2 peer. The exception is a peer with unconfirmed bytes,
    // such as a heartbeat: the system then retransmits for its own time, on Linux 15 minutes.
    keepAlive: true,
    keepAliveInitialDelay: limits.h2PingIntervalMs,
    noDelay: true,
  };
}

function h1Options(limits: OnePortLimits): http.ServerOptions {
  const requestMs = orNever(limits.h1RequestTimeoutMs);
  return {
    ...connectionOptions(limits),
    connectionsCheckingInterval: limits.h1CheckIntervalMs,
    // Node rejects a head timeout longer than the request timeout.
    headersTimeout: Math.min(limits.h1HeadersTimeoutMs, requestMs),
    // A timeout of 0 would leave an idle connection to the stall timeout, which is for responses.
    keepAliveTimeout: Math.min(orNever(limits.h1KeepAliveTimeoutMs), timerMsMax - keepAliveBufferMs),
    maxHeaderSize: limits.headerBytesMax,
    requestTimeout: limits.h1RequestTimeoutMs,
  };
}

function h2Options(limits: OnePortLimits): http2.ServerOptions {
  return {
    maxSessionMemory: limits.h2SessionMemoryMaxMiB,
    settings: { maxConcurrentStreams: limits.h2StreamsMax, maxHeaderListSize: limits.headerBytesMax },
    streamResetBurst: limits.h2ResetBurst,
    streamResetRate: limits.h2ResetsPerSecond,
  };
}
