// A wire on this machine between clients and a server. It passes on all data, both ways, until a test wants otherwise: a link
// can be cut, which both ends see, or fall silent, which neither end sees.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import pg from "pg";
import { onTestFinished } from "vitest";

export interface Wire {
  readonly host: string;
  readonly port: number;
  /** The links that are open and pass on data. */
  readonly links: ReadonlySet<Link>;
}

export interface WireOptions {
  /** Returns the other end for a client that connects; undefined refuses the client. */
  readonly connectFar: () => Socket | undefined;
  /** Sees all data before it is passed on; returning false keeps it back. */
  readonly inspect?: (link: Link, data: Buffer, from: "near" | "far") => boolean;
}

/** Opens a wire that is closed with the test. */
export async function openWire(options: WireOptions): Promise<Wire> {
  const { wire, close } = await layWire(options);
  onTestFinished(close);
  return wire;
}

/** Opens a wire that the caller closes. */
export async function layWire({
  connectFar,
  inspect = () => true,
}: WireOptions): Promise<{ readonly wire: Wire; readonly close: () => void }> {
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
  const close = (): void => {
    server.close();
    for (const socket of sockets) {
      socket.destroy();
    }
  };
  const { address, port } = server.address() as AddressInfo;
  return { wire: { host: address, port, links }, close };
}

/** One connection, from the client (near) to the server (far). */
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

  /** Passes on nothing any more, not even the end of one side. */
  silence(): void {
    this.#links.delete(this);
    // The system still accepts data that the other side does not read, until its buffers are full.
    this.near.pause();
    this.far.pause();
  }

  /** Passes on again, beginning with all that was sent meanwhile: the network is back. */
  resume(): void {
    if (this.near.destroyed || this.far.destroyed) {
      this.cut();
      return;
    }
    this.#links.add(this);
    this.near.resume();
    this.far.resume();
  }

  /** One end has left: the other end leaves too, unless the link is silent. */
  lose(): void {
    if (this.#links.delete(this)) {
      this.cut();
    }
  }
}

/** Returns the connection of a wire to a database, and a function for the URL of the database at the wire's near end. */
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
