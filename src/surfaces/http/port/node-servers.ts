// Node's servers for the two protocols, with the port's limits, and opened up so that the port decides which of its
// sockets goes to which of them.

import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import type { Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import { type OnePortLimits, orNever } from "./limits.ts";

/** What a server does with a socket that is given to it. */
export type ServeSocket = (socket: Socket) => void;

export interface H1Server {
  /**
   * The server that listens, since only then Node tracks its connections and keeps its timeouts. What it accepts goes
   * nowhere by itself.
   */
  readonly listener: http.Server | https.Server;
  readonly serve: ServeSocket;
  /** Starts the handshake on an accepted socket; the listener emits `secureConnection` after it. */
  readonly secure: ServeSocket | undefined;
}

/**
 * The HTTP/1.1 server. It has no `upgrade` listener on purpose, since without one Node serves a request with
 * `Upgrade: h2c` as the plain h1 request it is.
 */
export function createH1Server(
  limits: OnePortLimits,
  tls: TlsOptions | undefined,
  serve: http.RequestListener,
): H1Server {
  const options = h1Options(limits);
  const listener =
    tls === undefined ? http.createServer(options, serve) : https.createServer({ ...options, ...tls }, serve);
  listener.maxConnections = limits.connectionsMax;
  listener.timeout = limits.h1StallTimeoutMs;
  return {
    listener,
    serve: takeListener(listener, tls === undefined ? "connection" : "secureConnection"),
    secure: tls === undefined ? undefined : takeListener(listener, "connection"),
  };
}

/** An HTTP/2 server that never listens: it serves the sockets that it is given, TLS or not. */
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

/**
 * The longest that a timer of Node takes, 24 days. A keep-alive timeout of 0 would leave an idle connection to the stall
 * timeout, which is for responses.
 */
const timerMsMax = 2 ** 31 - 1;
/** Node adds it to the keep-alive timeout. */
const keepAliveBufferMs = 1_000;

function h1Options(limits: OnePortLimits): http.ServerOptions {
  const requestMs = orNever(limits.h1RequestTimeoutMs);
  return {
    connectionsCheckingInterval: limits.checkIntervalMs,
    // Node takes no head that may take longer than its request.
    headersTimeout: Math.min(limits.h1HeadersTimeoutMs, requestMs),
    // TCP's own probes find a vanished h1 peer as soon as PING finds an h2 peer, unless something that was sent to it is
    // unconfirmed, such as a heartbeat: then the system sends that again for its own time, on Linux 15 minutes.
    keepAlive: true,
    keepAliveInitialDelay: limits.h2PingIntervalMs,
    keepAliveTimeout: Math.min(orNever(limits.h1KeepAliveTimeoutMs), timerMsMax - keepAliveBufferMs),
    maxHeaderSize: limits.headerBytesMax,
    noDelay: true,
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
