// One HTTP/1.1 request written byte by byte as a test wants it, and the raw answer: for requests that no client library sends.

import { connect } from "node:net";

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** In order; a name may occur twice. Host, Content-Length and Connection are added. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Uint8Array;
}

export interface RawAnswer {
  readonly status: number;
  /** Keyed by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Sends the whole request even when the server answers before its end, and reads until the server closes the connection. */
export async function sendRaw(url: string, { method, path, headers, body }: RawRequest): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  const received: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => received.push(chunk));
  // A refused request may be followed by a reset, once the answer is out.
  socket.on("error", () => {});
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`Content-Length: ${body.byteLength}`]),
    "Connection: close",
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  if (body !== undefined) {
    socket.write(body);
  }
  await new Promise((resolve) => socket.once("close", resolve));
  return parseAnswer(Buffer.concat(received).toString());
}

function parseAnswer(text: string): RawAnswer {
  const headEnd = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, headEnd).split("\r\n");
  const headers = new Map(
    lines.map((line) => {
      const colonAt = line.indexOf(":");
      return [line.slice(0, colonAt).toLowerCase(), line.slice(colonAt + 1).trim()] as const;
    }),
  );
  return { status: Number(statusLine.split(" ")[1]), headers, body: text.slice(headEnd + 4) };
}
