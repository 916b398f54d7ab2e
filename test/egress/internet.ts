// The internet of a test: the names and addresses that the test sets, and behind every address the same loopback server.
// Records lookups and dials.

import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/platform/base/clock.ts";
import {
  createEgress,
  type Egress,
  type EgressAnswer,
  type EgressOptions,
  type EgressPost,
} from "../../src/platform/egress/post.ts";
import type { KeyPair } from "../harness/certificates.ts";
import { listenLocally } from "../harness/listen.ts";

export interface Internet {
  /** The names that were looked up. */
  readonly lookups: readonly string[];
  /** `address:port`, in the order in which they were dialled. */
  readonly dials: readonly string[];
  readonly options: Pick<EgressOptions, "resolve" | "connect">;
}

/** The answers to successive lookups; the last one repeats. */
export type Answers = readonly string[] | { readonly seq: readonly (readonly string[])[] };

export interface Servers {
  readonly http: number;
  readonly https?: number;
}

export function createInternet(dns: Readonly<Record<string, Answers>>, servers: Servers): Internet {
  const lookups: string[] = [];
  const dials: string[] = [];
  const resolve = async (name: string): Promise<readonly string[]> => {
    const count = lookups.filter((each) => each === name).length;
    lookups.push(name);
    const answers = dns[name];
    if (answers === undefined) {
      throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" });
    }
    return "seq" in answers ? (answers.seq[Math.min(count, answers.seq.length - 1)] ?? []) : answers;
  };
  return {
    lookups,
    dials,
    options: {
      resolve,
      connect: (address, port) => {
        dials.push(`${address}:${port}`);
        return connect({ host: "127.0.0.1", port: (port === 443 ? servers.https : servers.http) ?? servers.http });
      },
    },
  };
}

/** Returns the port. The server closes with the test. */
export async function listen(listener: RequestListener, tls?: KeyPair): Promise<number> {
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  return await listenLocally(server);
}

/** A server that writes raw bytes instead of HTTP. */
export async function listenRaw(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onSocket(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    for (const socket of sockets) {
      socket.destroy();
    }
    await once(server, "close");
  });
  return (server.address() as AddressInfo).port;
}

export function openEgress(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({ clock: systemClock, allowsPrivate: false, exceptions: [], ...options });
  onTestFinished(() => egress.close());
  return egress;
}

export function post(egress: Egress, url: string, request: Partial<EgressPost> = {}): Promise<EgressAnswer> {
  const { signal } = new AbortController();
  return egress.post({ url, headers: {}, body: "{}", timeoutMs: 20_000, responseBytesMax: 1_024, signal, ...request });
}
