// One cleartext port for HTTP/1.1 and HTTP/2 with prior knowledge (h2c). It promises:
// O1  Every accepted socket is known until it has closed, and is in one state: undecided, h1 or h2.
// O2  A peer that stalls, vanishes or misbehaves loses its socket in bounded time, whatever it sends or omits.
// O3  No error of a socket, a session or a stream reaches the process.
// O4  shutdown() ends: at the latest after its grace no socket is left.

import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { type Clock, systemClock } from "../base/clock.ts";
import { Fault } from "../base/fault.ts";
import { sniffProtocol } from "./preface.ts";

export type OnePortHandler = (
  request: http.IncomingMessage | http2.Http2ServerRequest,
  response: http.ServerResponse | http2.Http2ServerResponse,
) => void;

export interface OnePortOptions {
  readonly host: string;
  /** 0 lets the system choose; `address` then tells the choice. */
  readonly port: number;
  readonly handler: OnePortHandler;
  readonly clock?: Clock;
  readonly limits?: Partial<OnePortLimits>;
}

export interface OnePortServer {
  readonly address: { readonly host: string; readonly port: number };
  /**
   * Stops listening at once, tells every peer to go and lets running requests finish for `graceMs`; then destroys what
   * is left. Resolves when no socket is left. A later call with a shorter grace ends the shutdown sooner.
   */
  shutdown(graceMs: number): Promise<void>;
}

export interface OnePortLimits {
  readonly connectionsMax: number;
  /** How often the limits below are looked at: each may be exceeded by this much. */
  readonly checkIntervalMs: number;
  /** Until a connection shows its protocol, and an h2 peer has also sent its SETTINGS. */
  readonly prefaceTimeoutMs: number;
  readonly headerBytesMax: number;
  readonly h1HeadersTimeoutMs: number;
  /** For receiving a request, body included; a response may take longer. */
  readonly h1RequestTimeoutMs: number;
  readonly h1KeepAliveTimeoutMs: number;
  /** For an open response that moves no byte: its reader stopped reading, or is gone. */
  readonly h1StallTimeoutMs: number;
  readonly h2StreamsMax: number;
  readonly h2SessionMemoryMaxMiB: number;
  /** Streams that a peer may reset at once, and then per second, before its session is ended. */
  readonly h2ResetBurst: number;
  readonly h2ResetsPerSecond: number;
  readonly h2PingIntervalMs: number;
  readonly h2PingTimeoutMs: number;
  /** For a session without streams. */
  readonly h2IdleTimeoutMs: number;
  /** After this, give or take a tenth, a session takes no new streams. */
  readonly h2SessionAgeMs: number;
  /** What the streams of such a session still get, before it is destroyed. */
  readonly h2RetiredAgeMs: number;
  /** For a session without streams that was told to go: the peer has this long to close its side. */
  readonly h2LingerTimeoutMs: number;
}

export const onePortLimits: OnePortLimits = {
  // Five times what one process is measured to serve (1000 gRPC and 1000 SSE readers); a flood stops here.
  connectionsMax: 10_000,
  // Fine enough for limits of seconds, and cheap: one pass over the connections.
  checkIntervalMs: 1_000,
  // A client speaks first and at once; this leaves room for a slow mobile network.
  prefaceTimeoutMs: 10_000,
  // Node's own default for h1; metadata that passes on one protocol passes on the other.
  headerBytesMax: 16 * 1024,
  // Headers fit a few packets, so only an attack or a dead peer needs longer.
  h1HeadersTimeoutMs: 5_000,
  // 10 MiB, the largest body, at 3 Mbit/s.
  h1RequestTimeoutMs: 30_000,
  // Longer than the 60 s for which common proxies keep idle connections, so that they close first and never race us.
  h1KeepAliveTimeoutMs: 120_000,
  // Eight missed heartbeats of 15 s, and twice the 60 s that a unary call may take.
  h1StallTimeoutMs: 120_000,
  // Enough for a client library's one connection; more streams open another connection.
  h2StreamsMax: 100,
  // 100 streams with half a MiB each waiting for their readers, and some room. Beyond it Node refuses new streams.
  h2SessionMemoryMaxMiB: 64,
  // A page that closes all its streams at once stays far below; thousands of resets in a row are an attack.
  h2ResetBurst: 200,
  h2ResetsPerSecond: 20,
  // Interval, timeout and two checks: a peer that vanished is found within 30 s.
  h2PingIntervalMs: 20_000,
  h2PingTimeoutMs: 8_000,
  // As long as an idle h1 connection.
  h2IdleTimeoutMs: 120_000,
  // Connections move to new replicas within the half hour, not all at the same moment.
  h2SessionAgeMs: 30 * 60_000,
  // The hour that a stream may last, and five minutes for it to end by itself.
  h2RetiredAgeMs: 65 * 60_000,
  // As the preface: one exchange with a peer that is willing.
  h2LingerTimeoutMs: 10_000,
};

/** Opens the port and serves `handler` on both protocols. A port that cannot be opened is a CONFIG_INVALID that says why. */
export async function listenOnePort(options: OnePortOptions): Promise<OnePortServer> {
  const limits = { ...onePortLimits, ...options.limits };
  const port = new OnePort(options.handler, options.clock ?? systemClock, limits);
  const address = await port.open(options.host, options.port);
  return { address, shutdown: (graceMs) => port.shutdown(graceMs) };
}

interface Undecided {
  readonly protocol: "undecided";
  readonly sinceMs: number;
}

interface H1Connection {
  readonly protocol: "h1";
}

interface H2Connection {
  readonly protocol: "h2";
  readonly session: http2.ServerHttp2Session;
  readonly sinceMs: number;
  readonly ageMaxMs: number;
  /** The peer's SETTINGS have arrived, which completes its preface. */
  settled: boolean;
  openStreams: number;
  /** When the last stream ended, or when the session without streams was told to go. */
  quietSinceMs: number;
  pingedMs: number;
  pingPending: boolean;
}

type Connection = Undecided | H1Connection | H2Connection;

class OnePort {
  readonly #limits: OnePortLimits;
  readonly #clock: Clock;
  readonly #h1: http.Server;
  readonly #h2: http2.Http2Server;
  /** What the http.Server does with a socket; it is called once a socket has turned out to be h1. */
  readonly #serveH1Socket: readonly ((socket: Socket) => void)[];
  readonly #connections = new Map<Socket, Connection>();
  readonly #h1Responses = new Set<http.ServerResponse>();
  /** Aborted when the port is closed and no socket is left. */
  readonly #closed = new AbortController();
  readonly #closing: Promise<void>;
  #sweeping: Promise<void> | undefined;
  #draining = false;
  #sessionsOpened = 0;
  /**
   * Time as the sweeps count it. It stands still while the process is stopped or busy, so that a late wake-up does not
   * blame peers whose bytes wait unread.
   */
  #sweptMs = 0;

  constructor(handler: OnePortHandler, clock: Clock, limits: OnePortLimits) {
    this.#limits = limits;
    this.#clock = clock;
    // The http.Server itself listens: only then does it track connections and keep its timeouts. It has no `upgrade`
    // listener on purpose, since without one Node serves a request with `Upgrade: h2c` as the plain h1 request it is.
    this.#h1 = http.createServer(h1Options(limits), (request, response) => {
      this.#trackH1Response(response);
      // Node drops what the peer sent right behind an upgrade that it ignores, so the connection cannot go on.
      if (this.#draining || request.headers.upgrade !== undefined) {
        announceClose(response);
      }
      handler(request, response);
    });
    this.#h1.maxConnections = limits.connectionsMax;
    this.#h1.timeout = limits.h1StallTimeoutMs;
    this.#serveH1Socket = this.#h1.listeners("connection").map((listener) => listener.bind(this.#h1));
    this.#h1.removeAllListeners("connection");
    this.#h1.on("connection", (socket) => this.#accept(socket));
    this.#h2 = http2.createServer(h2Options(limits), handler);
    this.#closing = new Promise((resolve) => {
      this.#h1.once("close", () => {
        this.#closed.abort();
        resolve();
      });
    });
  }

  async open(host: string, port: number): Promise<OnePortServer["address"]> {
    const address = await bind(this.#h1, host, port);
    // From here on an error is one connection that could not be accepted (no descriptors left): its peer sees it.
    this.#h1.on("error", () => {});
    this.#sweeping = this.#sweepUntilClosed();
    return { host: address.address, port: address.port };
  }

  async shutdown(graceMs: number): Promise<void> {
    if (!this.#draining) {
      this.#drain();
    }
    await this.#clock.sleep(graceMs, this.#closed.signal);
    // Not closeAllConnections(): it knows neither h2 nor undecided sockets.
    for (const socket of this.#connections.keys()) {
      socket.destroy();
    }
    await this.#closing;
    await this.#sweeping;
  }

  #drain(): void {
    this.#draining = true;
    // Also closes the idle h1 connections.
    this.#h1.close();
    for (const response of this.#h1Responses) {
      announceClose(response);
    }
    for (const [socket, connection] of this.#connections) {
      if (connection.protocol === "undecided") {
        socket.destroy();
      } else if (connection.protocol === "h2") {
        this.#retire(connection);
      }
    }
  }

  #accept(socket: Socket): void {
    if (this.#draining) {
      socket.destroy();
      return;
    }
    this.#connections.set(socket, { protocol: "undecided", sinceMs: this.#sweptMs });
    socket.once("close", () => this.#connections.delete(socket));
    sniffProtocol(socket, (protocol) => {
      if (protocol === "h1") {
        this.#takeH1(socket);
      } else {
        this.#takeH2(socket);
      }
    });
  }

  #takeH1(socket: Socket): void {
    this.#connections.set(socket, { protocol: "h1" });
    for (const serve of this.#serveH1Socket) {
      serve(socket);
    }
  }

  #takeH2(socket: Socket): void {
    // An http.Server accepts half-open sockets; an h2 session has no use for one.
    socket.allowHalfOpen = false;
    // Emitted within the next call, so the session is this socket's.
    this.#h2.once("session", (session) => this.#connections.set(socket, this.#watchSession(session)));
    this.#h2.emit("connection", socket);
  }

  #watchSession(session: http2.ServerHttp2Session): H2Connection {
    const connection: H2Connection = {
      protocol: "h2",
      session,
      sinceMs: this.#sweptMs,
      ageMaxMs: spreadAge(this.#limits.h2SessionAgeMs, this.#sessionsOpened),
      settled: false,
      openStreams: 0,
      quietSinceMs: this.#sweptMs,
      pingedMs: this.#sweptMs,
      pingPending: false,
    };
    this.#sessionsOpened += 1;
    session.once("remoteSettings", () => {
      connection.settled = true;
    });
    session.on("stream", (stream) => {
      connection.openStreams += 1;
      stream.once("close", () => {
        connection.openStreams -= 1;
        connection.quietSinceMs = this.#sweptMs;
      });
    });
    return connection;
  }

  #trackH1Response(response: http.ServerResponse): void {
    this.#h1Responses.add(response);
    response.once("close", () => {
      this.#h1Responses.delete(response);
      if (this.#draining) {
        // Its headers may have promised keep-alive before the shutdown began.
        this.#h1.closeIdleConnections();
      }
    });
  }

  async #sweepUntilClosed(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      await this.#clock.sleep(this.#limits.checkIntervalMs, signal);
      this.#sweptMs += this.#limits.checkIntervalMs;
      for (const [socket, connection] of this.#connections) {
        this.#check(socket, connection);
      }
    }
  }

  /** h1 connections are not looked at here: Node keeps their limits. */
  #check(socket: Socket, connection: Connection): void {
    if (connection.protocol === "undecided") {
      if (this.#sweptMs - connection.sinceMs > this.#limits.prefaceTimeoutMs) {
        socket.destroy();
      }
    } else if (connection.protocol === "h2") {
      const verdict = judgeSession(connection, this.#sweptMs, this.#limits);
      if (verdict === "destroy") {
        // The socket, not the session: that would first try to flush to a peer that no longer reads.
        socket.destroy();
      } else if (verdict === "retire") {
        this.#retire(connection);
      } else if (verdict === "ping") {
        this.#ping(connection);
      }
    }
  }

  /** Sends GOAWAY: running streams may finish, new ones are refused in a way that tells clients to go elsewhere. */
  #retire(connection: H2Connection): void {
    connection.quietSinceMs = this.#sweptMs;
    connection.session.close();
  }

  #ping(connection: H2Connection): void {
    connection.pingedMs = this.#sweptMs;
    connection.pingPending = true;
    connection.session.ping((error) => {
      // The error says that the session is gone; its socket is about to close.
      connection.pingPending = error !== null;
    });
  }
}

function h1Options(limits: OnePortLimits): http.ServerOptions {
  return {
    connectionsCheckingInterval: limits.checkIntervalMs,
    headersTimeout: limits.h1HeadersTimeoutMs,
    // TCP's own probes find a vanished h1 reader as soon as PING finds an h2 peer.
    keepAlive: true,
    keepAliveInitialDelay: limits.h2PingIntervalMs,
    keepAliveTimeout: limits.h1KeepAliveTimeoutMs,
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

function bind(server: http.Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => reject(explainBindFailure(error, host, port));
    server.once("error", refuse);
    server.listen({ host, port }, () => {
      server.off("error", refuse);
      // A string only for pipes, null only when not listening.
      resolve(server.address() as AddressInfo);
    });
  });
}

function explainBindFailure(error: NodeJS.ErrnoException, host: string, port: number): Fault {
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} on ${host} is already in use: stop the program that holds it, or set RUNNEL_SERVER_PORT to a free port`,
    EACCES: `port ${port} on ${host} needs privileges: set RUNNEL_SERVER_PORT to 1024 or higher`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: set RUNNEL_SERVER_HOST to one that is, or to 0.0.0.0`,
    ENOTFOUND: `the host ${host} is unknown: set RUNNEL_SERVER_HOST to an address of this machine`,
  };
  const message = messages[error.code ?? ""] ?? `cannot listen on ${host}, port ${port}: ${error.message}`;
  return new Fault("CONFIG_INVALID", message, { cause: error });
}

/** So that clients do not send the next request into a connection that is about to close. */
function announceClose(response: http.ServerResponse): void {
  if (!response.headersSent) {
    response.setHeader("connection", "close");
  }
}

type Verdict = "keep" | "ping" | "retire" | "destroy";

function judgeSession(connection: H2Connection, nowMs: number, limits: OnePortLimits): Verdict {
  const { session, openStreams } = connection;
  const ageMs = nowMs - connection.sinceMs;
  const quietMs = openStreams === 0 ? nowMs - connection.quietSinceMs : 0;
  if (!connection.settled && ageMs > limits.prefaceTimeoutMs) {
    return "destroy";
  }
  if (connection.pingPending && nowMs - connection.pingedMs > limits.h2PingTimeoutMs) {
    return "destroy";
  }
  if (ageMs > connection.ageMaxMs + limits.h2RetiredAgeMs) {
    return "destroy";
  }
  if (session.destroyed || (session.closed && openStreams === 0)) {
    return quietMs > limits.h2LingerTimeoutMs ? "destroy" : "keep";
  }
  if (!session.closed && (quietMs > limits.h2IdleTimeoutMs || ageMs > connection.ageMaxMs)) {
    return "retire";
  }
  // A closed session that still has streams is pinged too: its peer may vanish like any other.
  return nowMs - connection.pingedMs >= limits.h2PingIntervalMs ? "ping" : "keep";
}

/** `ageMs` give or take a tenth, by a golden-ratio sequence: sessions opened together do not end together. */
function spreadAge(ageMs: number, ordinal: number): number {
  const goldenRatio = 0.618_034;
  return ageMs * (0.9 + 0.2 * ((ordinal * goldenRatio) % 1));
}
