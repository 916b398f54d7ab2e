// A wire on this machine between those who connect to it and somebody else. It passes on what is said, both ways, until a
// test wants otherwise: a link can be cut, which both ends see, or fall silent, which neither of them does.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import pg from "pg";
import { onTestFinished } from "vitest";

export interface Wire {
  readonly host: string;
  readonly port: number;
  /** Those that are open and pass what is said. */
  readonly links: ReadonlySet<Link>;
}

export interface WireOptions {
  /** The other end for somebody who connects; undefined turns them away. */
  readonly connectFar: () => Socket | undefined;
  /** Sees everything before it is passed on; false keeps it. */
  readonly inspect?: (link: Link, data: Buffer, from: "near" | "far") => boolean;
}

/** Is gone with the test. */
export async function openWire({ connectFar, inspect = () => true }: WireOptions): Promise<Wire> {
  const links = new Set<Link>();
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connectFar();
    if (far === undefined) {
      near.destroy();
      return;
    }
    const link = new Link(near, far, links);
    for (const [from, socket, other] of [
      ["near", near, far],
      ["far", far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("data", (data: Buffer) => inspect(link, data, from) && other.write(data));
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        link.lose();
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
  const { address, port } = server.address() as AddressInfo;
  return { host: address, port, links };
}

/** One connection, from the one who made it (near) to where it leads (far). */
export class Link {
  readonly near: Socket;
  readonly far: Socket;
  readonly #links: Set<Link>;

  constructor(near: Socket, far: Socket, links: Set<Link>) {
    this.near = near;
    this.far = far;
    this.#links = links;
    links.add(this);
  }

  cut(): void {
    this.near.destroy();
    this.far.destroy();
  }

  /** Nothing passes any more, not even that an end has left. */
  silence(): void {
    this.#links.delete(this);
    // What nobody reads any more is still accepted by the system, until its buffers are full.
    this.near.pause();
    this.far.pause();
  }

  /** An end has left: so does the other, if it is told. */
  lose(): void {
    if (this.#links.delete(this)) {
      this.cut();
    }
  }
}

/** How a wire leads to a database, and the URL of the database at the wire's near end. */
export function wireToDatabase(databaseUrl: string): { connectFar: () => Socket; urlAt: (wire: Wire) => string } {
  const target = new pg.Client({ connectionString: databaseUrl });
  return {
    connectFar: () =>
      target.host.startsWith("/")
        ? connect(`${target.host}/.s.PGSQL.${target.port}`)
        : connect(target.port, target.host),
    urlAt: ({ host, port }) => {
      const url = new URL(`postgres://${host}:${port}`);
      url.username = encodeURIComponent(target.user ?? "");
      url.password = encodeURIComponent(target.password ?? "");
      url.pathname = `/${target.database}`;
      return url.href;
    },
  };
}
