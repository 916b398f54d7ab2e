// HTTP/1.1 calls as cheaply as Node can make them: plain sockets that are kept open, requests as prepared bytes, answers cut
// out by their length. For loads where node:http's own client would be the bottleneck.

import { connect, type Socket } from "node:net";
import { benchAuthorization } from "../harness/credentials.ts";

export interface H1Answer {
  readonly status: number;
  /** The bytes as received; the body of a chunked answer still has its chunk marks. */
  readonly body: Buffer;
}

export interface H1Request {
  /** Default: POST. */
  readonly method?: "GET" | "POST";
  readonly path: string;
  readonly body: string;
  /** Sent instead of the bearer token. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Each call takes a free connection, or opens one. */
export class H1Client implements Disposable {
  readonly #address: { readonly host: string; readonly port: number };
  readonly #free: Socket[] = [];
  readonly #all = new Set<Socket>();

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#address = { host: hostname, port: Number(port) };
  }

  send(request: H1Request): Promise<H1Answer> {
    const socket = this.#free.pop() ?? this.#open();
    return new Promise((resolve, reject) => {
      let received: Buffer = Buffer.alloc(0);
      const read = (piece: Buffer): void => {
        received = received.length === 0 ? piece : Buffer.concat([received, piece]);
        const answer = parseAnswer(received);
        if (answer !== undefined) {
          socket.removeAllListeners();
          this.#free.push(socket);
          resolve(answer);
        }
      };
      socket.on("data", read).once("error", reject);
      socket.once("close", () => reject(new Error(`${request.path}: the connection was closed`)));
      socket.write(this.#format(request));
    });
  }

  post(request: Omit<H1Request, "method">): Promise<H1Answer> {
    return this.send(request);
  }

  [Symbol.dispose](): void {
    for (const socket of this.#all) {
      socket.destroy();
    }
  }

  #open(): Socket {
    const socket = connect({ ...this.#address, noDelay: true });
    this.#all.add(socket);
    return socket;
  }

  #format({ method = "POST", path, body, headers = { authorization: benchAuthorization } }: H1Request): string {
    const lines = Object.entries({
      ...headers,
      host: `${this.#address.host}:${this.#address.port}`,
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
  }
}

/** Returns undefined while the answer is incomplete. */
function parseAnswer(received: Buffer): H1Answer | undefined {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd < 0) {
    return undefined;
  }
  const head = received.toString("latin1", 0, headEnd).toLowerCase();
  const start = headEnd + 4;
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
  const end = length === undefined ? endOfChunks(received, head) : start + Number(length);
  if (end > received.length) {
    return undefined;
  }
  return { status: Number(head.slice("http/1.1 ".length, "http/1.1 200".length)), body: received.subarray(start, end) };
}

/** The end of the last chunk is also the end of the answer, because the client sends nothing before it has read the answer. */
function endOfChunks(received: Buffer, head: string): number {
  if (!head.includes("\r\ntransfer-encoding: chunked")) {
    throw new Error(`an answer without a content-length:\n${head}`);
  }
  return received.subarray(-lastChunk.length).equals(lastChunk) ? received.length : Number.POSITIVE_INFINITY;
}

const lastChunk = Buffer.from("\r\n0\r\n\r\n");
