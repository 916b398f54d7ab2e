// gRPC as cheaply as Node can do it: node:http2 alone, messages as bytes. For loads where a library's client would be the
// bottleneck.

import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from "node:http2";
import { benchAuthorization } from "../harness/credentials.ts";
import { envelope, envelopeReader } from "./envelopes.ts";

/** The window to which libraries of other languages grow by themselves. Node's own 64 KB would slow down a fast stream. */
const windowBytes = 4 * 1_048_576;

/** One connection. */
export class H2Client implements Disposable {
  readonly #session: ClientHttp2Session;

  readonly #headers: Readonly<Record<string, string>>;

  /** Calls as the benches' client by default. */
  constructor(target: string, authorization: string = benchAuthorization) {
    this.#headers = { ...headers, authorization };
    this.#session = connect(`http://${target}`, { settings: { initialWindowSize: windowBytes, enablePush: false } });
    this.#session.once("connect", () => this.#session.setLocalWindowSize(windowBytes));
    // The pending call fails with the same error.
    this.#session.on("error", () => {});
  }

  /** Resolves with the one message of the answer. */
  async call(path: string, message: Uint8Array): Promise<Buffer> {
    let answer: Buffer | undefined;
    await this.stream(path, message, (bytes) => {
      answer = bytes;
    });
    if (answer === undefined) {
      throw new Error(`${path}: OK without a message`);
    }
    return answer;
  }

  /** Passes on each message and resolves when the call ended with OK. */
  stream(path: string, message: Uint8Array, onMessage: (bytes: Buffer) => void): Promise<void> {
    const stream = this.#session.request({ ...this.#headers, ":path": path });
    stream.end(envelope(message));
    return new Promise((resolve, reject) => readAnswer(stream, path, { onMessage, resolve, reject }));
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }
}

const headers = {
  ":method": "POST",
  "content-type": "application/grpc",
  te: "trailers",
};

interface Listener {
  readonly onMessage: (bytes: Buffer) => void;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

function readAnswer(stream: ClientHttp2Stream, path: string, { onMessage, resolve, reject }: Listener): void {
  let status: string | undefined;
  const noteStatus = (fields: IncomingHttpHeaders): void => {
    status = (fields["grpc-status"] as string | undefined) ?? status;
  };
  stream
    .once("response", noteStatus)
    .once("trailers", noteStatus)
    .on("data", envelopeReader(onMessage))
    .once("error", reject)
    .once("close", () => {
      if (status === "0") {
        resolve();
      } else {
        reject(new Error(`${path}: ended with grpc-status ${status ?? "missing"}`));
      }
    });
}
