// The port that clients see. It passes on all bytes to the service behind it, until a script cuts or freezes a connection, or
// refuses new ones.

import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** How a connection is cut: the peer sees a reset, or an orderly end. */
export type Cut = "reset" | "end";

interface Link {
  readonly near: Socket;
  readonly far: Socket;
  isFrozen: boolean;
}

/**
 * Ports that no system gives to a program that asks for any port. While a service is away, no other program gets its port then.
 */
const [portMin, portMax] = [20_000, 30_000];
const triesMax = 50;

/** A port of loopback in front of another one. */
export class Relay {
  readonly #targetPort: number;
  readonly #server: Server;
  /** By the port of the connection to the service, which the service sees as its peer. */
  readonly #links = new Map<number, Link>();
  #port = 0;

  constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer((near) => this.#accept(near));
  }

  get port(): number {
    return this.#port;
  }

  /** Opens the port: the same one again after `refuse`. */
  async open(): Promise<void> {
    if (this.#port !== 0) {
      await this.#listen(this.#port);
      return;
    }
    for (let tries = 0; this.#port === 0; tries += 1) {
      const port = randomInt(portMin, portMax);
      try {
        await this.#listen(port);
        this.#port = port;
      } catch (error) {
        // Another program has it. Any other error stays.
        if (tries === triesMax || !(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) {
          throw error;
        }
      }
    }
  }

  /** Closes the port and cuts all connections: new ones are refused. */
  async refuse(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const link of this.#links.values()) {
      cutLink(link, "reset");
    }
    await closed;
  }

  /** Cuts the connection that the service sees as `peerPort`. */
  cut(peerPort: number, how: Cut): void {
    const link = this.#links.get(peerPort);
    if (link !== undefined) {
      cutLink(link, how);
    }
  }

  /** Passes on nothing any more, in either direction. The peer sees no end. */
  freeze(peerPort: number): void {
    const link = this.#links.get(peerPort);
    if (link !== undefined) {
      link.isFrozen = true;
      link.near.pause();
      link.far.pause();
    }
  }

  /** Cuts everything. */
  async close(): Promise<void> {
    if (this.#server.listening) {
      await this.refuse();
    }
  }

  async #listen(port: number): Promise<void> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  #accept(near: Socket): void {
    const far = connect(this.#targetPort, "127.0.0.1");
    const link: Link = { near, far, isFrozen: false };
    near.setNoDelay(true);
    far.setNoDelay(true);
    // Bytes that arrive before the far side is connected wait in the socket's buffer.
    near.pause();
    near.on("error", () => {});
    far.on("error", () => {});
    far.once("connect", () => {
      const peerPort = far.localPort ?? 0;
      this.#links.set(peerPort, link);
      const forget = (): void => {
        if (near.destroyed && far.destroyed) {
          this.#links.delete(peerPort);
        }
      };
      near.on("data", (bytes: Buffer) => pass(link, far, bytes)).on("close", forget);
      far.on("data", (bytes: Buffer) => pass(link, near, bytes)).on("close", forget);
      near.resume();
    });
    const leave = (other: Socket) => (): void => {
      if (!link.isFrozen) {
        other.destroySoon();
      }
    };
    near.once("close", leave(far));
    far.once("close", leave(near));
  }
}

function pass(link: Link, to: Socket, bytes: Buffer): void {
  if (!link.isFrozen && to.writable) {
    to.write(bytes);
  }
}

function cutLink({ near, far }: Link, how: Cut): void {
  if (how === "reset") {
    near.resetAndDestroy();
  } else {
    near.destroySoon();
  }
  far.destroy();
}
