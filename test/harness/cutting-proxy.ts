// A wire between us and Postgres that a test can cut: at the worst moment, after the server has done what it was asked
// and before its answer arrives, or altogether.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import pg from "pg";
import { onTestFinished } from "vitest";

export interface CuttingProxy {
  /** The database behind the proxy. */
  readonly url: string;
  /** How many answers were cut off. */
  readonly cuts: number;
  /** Cuts the connection that next says this, when the server answers. */
  cutAnswerTo(words: string): void;
  /** Cuts every connection and lets no other one through, until it is mended. */
  breakDown(): void;
  mend(): void;
}

export async function openCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const target = new pg.Client({ connectionString: databaseUrl });
  const sockets = new Set<Socket>();
  let wanted: string | undefined;
  let cuts = 0;
  let isBroken = false;

  const server = createServer((near) => {
    if (isBroken) {
      near.destroy();
      return;
    }
    const far = target.host.startsWith("/")
      ? connect(`${target.host}/.s.PGSQL.${target.port}`)
      : connect(target.port, target.host);
    let isMarked = false;
    near.on("data", (data) => {
      if (wanted !== undefined && data.includes(wanted)) {
        wanted = undefined;
        isMarked = true;
      }
      far.write(data);
    });
    far.on("data", (data) => {
      if (!isMarked) {
        near.write(data);
        return;
      }
      cuts++;
      near.destroy();
      far.destroy();
    });
    join(near, far);
    join(far, near);
  });

  /** What ends on one side ends on the other. */
  function join(socket: Socket, other: Socket): void {
    sockets.add(socket);
    socket.on("error", () => other.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
  }

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
    get cuts() {
      return cuts;
    },
    cutAnswerTo: (words) => {
      wanted = words;
    },
    breakDown: () => {
      isBroken = true;
      for (const socket of sockets) {
        socket.destroy();
      }
    },
    mend: () => {
      isBroken = false;
    },
  };
}
