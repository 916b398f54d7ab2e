// The listening sockets of a port. A turn of Node's event loop accepts one connection of each. A process that streams to hundreds
// of readers has 30 turns a second, so with one socket a readiness probe behind 500 new connections would wait 16 s (measured).

import { createServer, type Server, type ServerOpts, type Socket } from "node:net";
import { bind } from "./bind.ts";

/** Enough to empty a full backlog, 511 connections, in 64 turns: two seconds of a busy process. */
export const listenersMax = 8;

/** Where and how to listen. */
export interface ListenersOptions {
  readonly host: string;
  readonly port: number;
  /** The number of sockets. Systems other than Linux do not divide connections between sockets, and get one. */
  readonly count: number;
  /** The options of the accepted connections. */
  readonly connections: ServerOpts;
  /** Takes a connection that the first server did not accept. */
  readonly accept: (socket: Socket) => void;
}

/** The open sockets. */
export interface Listeners {
  readonly address: { readonly host: string; readonly port: number };
  /** Stops listening. */
  close(): void;
  /** Resolves when the sockets are closed, and every connection that they accepted. */
  readonly closed: Promise<void>;
}

/**
 * Opens the sockets; the first server has one of them.
 * @throws Fault CONFIG_INVALID when the port cannot be opened.
 */
export async function openListeners(first: Server, options: ListenersOptions): Promise<Listeners> {
  const { host, connections, accept } = options;
  const reusePort = options.count > 1 && process.platform === "linux";
  const { port } = options;
  if (reusePort && port !== 0) {
    await expectFreePort(host, port);
  }
  const others = reusePort ? options.count - 1 : 0;
  const servers = [first, ...Array.from({ length: others }, () => createServer(connections, accept))];
  const close = (): void => {
    for (const server of servers) {
      server.close();
    }
  };
  const closed = Promise.all(servers.map(untilClosed)).then(() => {});
  try {
    // One after the other: when one fails, none of the others is still on its way.
    const address = await bind(first, { host, port, reusePort });
    for (const server of servers.slice(1)) {
      await bind(server, { host, port: address.port, reusePort });
    }
    // From now on an error concerns one connection that could not be accepted (no descriptors left): its peer sees it.
    for (const server of servers) {
      server.on("error", () => {});
    }
    return { address: { host: address.address, port: address.port }, close, closed };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * Sockets that share a port share it with every program of their user. This one fails when another program has the port. Port 0 needs
 * no such check: the system chooses a port that no socket has. A port that was found and then opened again may have got another
 * program in between, and both would answer its callers.
 */
async function expectFreePort(host: string, port: number): Promise<void> {
  const server = createServer();
  await bind(server, { host, port });
  server.close();
  await untilClosed(server);
}

function untilClosed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.once("close", () => resolve());
  });
}
