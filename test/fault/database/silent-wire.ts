// A wire to Postgres on which connections can fall silent: they stay open and nothing passes any more, in either direction,
// as when a firewall forgets them or a cable is pulled. New connections pass.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import pg from "pg";
import { onTestFinished } from "vitest";

export interface SilentWire {
  /** The database behind the wire. */
  readonly url: string;
  /** How many connections are open and pass what is said. */
  readonly passing: number;
  /** Silences every connection that is open now: its ends are not even told when the other one leaves. */
  silence(): void;
}

export async function openSilentWire(databaseUrl: string): Promise<SilentWire> {
  const target = new pg.Client({ connectionString: databaseUrl });
  const sockets = new Set<Socket>();
  const passing = new Map<Socket, Socket>();
  const server = createServer((near) => {
    const far = target.host.startsWith("/")
      ? connect(`${target.host}/.s.PGSQL.${target.port}`)
      : connect(target.port, target.host);
    passing.set(near, far);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("data", (data) => other.write(data));
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        if (passing.delete(near)) {
          other.destroy();
        }
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) {
      socket.destroy();
    }
  });
  const url = new URL(`postgres://127.0.0.1:${(server.address() as AddressInfo).port}`);
  url.username = encodeURIComponent(target.user ?? "");
  url.password = encodeURIComponent(target.password ?? "");
  url.pathname = `/${target.database}`;
  return {
    url: url.href,
    get passing() {
      return passing.size;
    },
    silence: () => {
      for (const [near, far] of passing) {
        // What nobody reads any more is still accepted by the system, until its buffers are full.
        near.pause();
        far.pause();
      }
      passing.clear();
    },
  };
}
