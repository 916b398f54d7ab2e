// One port for HTTP/1.1 and HTTP/2. In cleartext the first bytes show the protocol; over TLS, ALPN does.
// O1  Every accepted socket is tracked until it closes, and is in one state: undecided, h1 or h2.
// O2  A peer that stalls, vanishes or misbehaves loses its socket in bounded time, regardless of the bytes it sends or omits.
// O3  No error of a socket, a handshake, a session or a stream reaches the process.
// O4  shutdown() ends: no socket is left after its grace period.

import type http from "node:http";
import type http2 from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type Clock, systemClock } from "../../platform/base/clock.ts";
import { Loop } from "../../platform/base/loop.ts";
import { AddressCounts } from "./port/addresses.ts";
import { Handshakes } from "./port/handshakes.ts";
import { type OnePortLimits, onePortLimits } from "./port/limits.ts";
import { type Listeners, openListeners } from "./port/listeners.ts";
import { connectionOptions, createH1Server, createH2Server, type H1Server } from "./port/node-servers.ts";
import { type Protocol, sniffProtocol } from "./port/preface.ts";
import { refuseH1 } from "./port/refusal.ts";
import { RequestRests } from "./port/request-rests.ts";
import { H2Connection } from "./port/session.ts";
import { type OnePortProtocols, type OnePortTls, tlsOptions } from "./port/tls.ts";

export { type OnePortLimits, type OnePortProtocols, type OnePortTls, onePortLimits };

/** Handles one request of either protocol. */
export type OnePortHandler = (
  request: http.IncomingMessage | http2.Http2ServerRequest,
  response: http.ServerResponse | http2.Http2ServerResponse,
) => void;

/** Options of the port. */
export interface OnePortOptions {
  readonly host: string;
  /** 0 lets the system choose; `address` then has the chosen port. */
  readonly port: number;
  readonly handler: OnePortHandler;
  /** The number of listening sockets; 1 by default. */
  readonly listeners?: number;
  /** Makes the port speak TLS only. A client without ALPN speaks HTTP/1.1. */
  readonly tls?: OnePortTls;
  /** Both by default. A client of the other protocol gets an error, as far as its protocol can express one. */
  readonly protocols?: OnePortProtocols;
  readonly clock?: Clock;
  readonly limits?: Partial<OnePortLimits>;
}

/** An open port. */
export interface OnePortServer {
  readonly address: { readonly host: string; readonly port: number };
  /**
   * Stops listening at once, asks every peer to close and lets running requests finish for `graceMs`; then destroys the
   * remaining sockets. Resolves when no socket is left. A later call with a shorter grace period ends the shutdown sooner.
   */
  shutdown(graceMs: number): Promise<void>;
}

/**
 * Opens the port and serves `handler` on its protocols.
 * @throws Fault CONFIG_INVALID when the port cannot be opened or the certificates cannot be used.
 */
export async function listenOnePort(options: OnePortOptions): Promise<OnePortServer> {
  const port = new OnePort(options);
  const address = await port.open(options);
  return { address, shutdown: (graceMs) => port.shutdown(graceMs) };
}

interface Undecided {
  readonly protocol: "undecided";
  readonly sinceMs: number;
}

interface H1Connection {
  readonly protocol: "h1";
}

type Connection = Undecided | H1Connection | H2Connection;

class OnePort {
  readonly #limits: OnePortLimits;
  readonly #protocols: OnePortProtocols;
  readonly #clock: Clock;
  readonly #h1: H1Server;
  readonly #h2: http2.Http2Server;
  readonly #addresses: AddressCounts;
  readonly #handshakes = new Handshakes();
  /** By the accepted socket, also when a TLS socket wraps it. */
  readonly #connections = new Map<Socket, Connection>();
  readonly #h1Responses = new Set<http.ServerResponse>();
  readonly #h1Rests: RequestRests;
  readonly #sweeps: Loop;
  /** Aborts when the port is closed and no socket is left. */
  readonly #closed = new AbortController();
  #listeners: Listeners | undefined;
  #draining = false;
  #sessionsOpened = 0;
  /**
   * The time that sweeps have counted. It stops while the process is suspended or busy, so that a late wake-up does not punish
   * peers whose bytes are still unread.
   */
  #sweptMs = 0;

  constructor({ handler, tls, protocols = "both", clock = systemClock, limits }: OnePortOptions) {
    this.#limits = { ...onePortLimits, ...limits };
    this.#protocols = protocols;
    this.#clock = clock;
    this.#addresses = new AddressCounts(this.#limits.connectionsPerAddressMax);
    this.#h1Rests = new RequestRests(this.#limits);
    this.#sweeps = new Loop({
      clock,
      everyMs: this.#limits.checkIntervalMs,
      waitsFirst: true,
      isIdle: () => this.#connections.size === 0,
      pass: () => this.#sweep(),
      onError: (error) => {
        throw error;
      },
    });
    this.#h1 = createH1Server(this.#limits, tls && tlsOptions(tls, protocols), (request, response) => {
      this.#trackH1Response(response);
      this.#h1Rests.track(request, response, () => this.#sweptMs);
      // Node drops bytes that the peer sent right after an ignored upgrade, so the connection has to close.
      if (this.#draining || request.headers.upgrade !== undefined) {
        announceClose(response);
      }
      handler(request, response);
    });
    this.#h1.listener.on("connection", (socket: Socket) => this.#accept(socket));
    this.#h1.listener.on("secureConnection", (socket: TLSSocket) => this.#acceptSecured(socket));
    this.#h2 = createH2Server(this.#limits, handler);
  }

  async open({ host, port, listeners: count = 1 }: OnePortOptions): Promise<OnePortServer["address"]> {
    const accept = (socket: Socket): void => this.#accept(socket);
    // Node's HTTP server lets a peer close its side after its request, and its HTTPS server does not.
    const connections = { ...connectionOptions(this.#limits), allowHalfOpen: this.#h1.secure === undefined };
    this.#listeners = await openListeners(this.#h1.listener, { host, port, count, connections, accept });
    void this.#listeners.closed.then(() => this.#closed.abort());
    this.#sweeps.open();
    return this.#listeners.address;
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
    await this.#listeners?.closed;
    await this.#sweeps.close();
  }

  #drain(): void {
    this.#draining = true;
    // Also closes the idle h1 connections.
    this.#listeners?.close();
    for (const response of this.#h1Responses) {
      announceClose(response);
    }
    for (const [socket, connection] of this.#connections) {
      if (connection.protocol === "undecided") {
        socket.destroy();
      } else if (connection.protocol === "h2") {
        connection.retire();
      }
    }
  }

  #accept(socket: Socket): void {
    const isFull = this.#connections.size >= this.#limits.connectionsMax;
    if (this.#draining || isFull || !this.#addresses.admit(socket)) {
      socket.destroy();
      return;
    }
    this.#connections.set(socket, { protocol: "undecided", sinceMs: this.#sweptMs });
    this.#sweeps.resume();
    socket.once("close", () => this.#connections.delete(socket));
    if (this.#h1.secure === undefined) {
      sniffProtocol(socket, (shown) => this.#take(socket, socket, shown));
    } else {
      this.#handshakes.begin(socket);
      this.#h1.secure(socket);
    }
  }

  #acceptSecured(secured: TLSSocket): void {
    const socket = this.#handshakes.finish(secured);
    if (socket === undefined) {
      secured.destroy();
    } else if (secured.alpnProtocol === "h2") {
      this.#take(socket, secured, "h2");
    } else {
      // Only ALPN selects h2 (RFC 9113, 3.2). Until the first byte the socket stays undecided, so that a shutdown need not wait
      // for it.
      sniffProtocol(secured, () => this.#take(socket, secured, "h1"));
    }
  }

  /** Hands a socket to its server. `transport` is the accepted socket, or the TLS socket that wraps it. */
  #take(socket: Socket, transport: Socket, protocol: Protocol): void {
    if (protocol === "h2" && this.#protocols !== "h1") {
      this.#takeH2(socket, transport);
    } else if (this.#protocols === "h2") {
      // The socket remains undecided: the preface timeout ends a peer that does not leave.
      refuseH1(transport);
    } else {
      // On an h1 port Node refuses the h2 preface, as it refuses any other unknown method.
      this.#connections.set(socket, { protocol: "h1" });
      this.#h1Rests.guard(transport);
      this.#h1.serve(transport);
    }
  }

  #takeH2(socket: Socket, transport: Socket): void {
    // An http.Server accepts half-open sockets; an h2 session does not use them.
    transport.allowHalfOpen = false;
    // The event is emitted within the `emit` below, so the session belongs to this socket.
    this.#h2.once("session", (session) => {
      const connection = new H2Connection(session, {
        limits: this.#limits,
        ordinal: this.#sessionsOpened,
        nowMs: () => this.#sweptMs,
      });
      this.#connections.set(socket, connection);
    });
    this.#sessionsOpened += 1;
    this.#h2.emit("connection", transport);
  }

  #trackH1Response(response: http.ServerResponse): void {
    this.#h1Responses.add(response);
    response.once("close", () => {
      this.#h1Responses.delete(response);
      if (this.#draining) {
        // Its headers may have promised keep-alive before the shutdown began.
        this.#h1.listener.closeIdleConnections();
      }
    });
  }

  #sweep(): void {
    this.#sweptMs += this.#limits.checkIntervalMs;
    this.#h1Rests.check(this.#sweptMs);
    for (const [socket, connection] of this.#connections) {
      if (!this.#isWithinLimits(connection)) {
        // Destroys the socket, not the session: a session would first try to flush to a peer that no longer reads.
        socket.destroy();
      }
    }
  }

  #isWithinLimits(connection: Connection): boolean {
    switch (connection.protocol) {
      case "undecided":
        return this.#sweptMs - connection.sinceMs <= this.#limits.prefaceTimeoutMs;
      case "h1":
        // Node enforces the other limits of h1.
        return true;
      case "h2":
        return connection.check();
      default:
        return connection satisfies never;
    }
  }
}

/** Announces the close, so that clients do not send the next request on this connection. */
function announceClose(response: http.ServerResponse): void {
  if (!response.headersSent) {
    response.setHeader("connection", "close");
  }
}
