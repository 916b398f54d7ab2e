// A model provider's HTTP side on a real socket: node:http on 127.0.0.1. Each request takes the next script that a test queued.
// Scripts write frames, bytes and cuts one by one and wait for what the test decides, so no test needs a timer. The payloads
// are in the file of each provider; the HTTP part is here.

import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

export interface WireServer extends AsyncDisposable {
  /** Without a path. */
  readonly origin: string;
  /** In the order in which their bodies were complete. */
  readonly requests: readonly RecordedRequest[];
  /** The number of accepted sockets so far. */
  readonly connections: number;
  /** Queues one script for each of the next requests. */
  respond(...scripts: readonly Script[]): void;
  /** Resolves with the request number `index` (from 0) once it has arrived. */
  request(index: number): Promise<RecordedRequest>;
  /** Closes every socket, also with a response in progress. */
  close(): Promise<void>;
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: RecordedBody;
  /** The body as it is written. */
  readonly text: string;
  /** Resolves with true when the response ended, with false when the client closed the socket before that. */
  readonly closed: Promise<boolean>;
}

/** The fields of a request body that tests look at; the others exist at run time as well. Some formats have no messages. */
export interface RecordedBody {
  readonly [field: string]: unknown;
  readonly messages: readonly {
    readonly role: string;
    readonly content?: unknown;
    readonly [field: string]: unknown;
  }[];
}

/** Writes one response. The server ends a response that a script leaves open. */
export type Script = (wire: Wire, request: RecordedRequest) => Promise<void> | void;

export interface Wire {
  /** Writes any object as one frame of a stream: `data: {…}`, after `event: <name>` if there is a name. */
  frame(value: unknown, event?: string): void;
  /** Writes these bytes unchanged, each piece in one write. */
  raw(...pieces: readonly (string | Uint8Array)[]): void;
  /** Sends a whole response that is no stream. */
  reply(status: number, body: string, headers?: Readonly<Record<string, string>>): void;
  /** Ends the response properly, as HTTP has it. */
  end(): void;
  /** Destroys the socket once all written bytes have left. Before the first write the client gets no byte at all. */
  cut(): Promise<void>;
  /** Writes nothing more, not even headers, and resolves when the client closes the socket. */
  hang(): Promise<void>;
}

/** `describe` makes the script for a request without a queued one; without it such a request gets 500. */
export async function startWireServer(describe?: (request: RecordedRequest) => Script): Promise<WireServer> {
  const scripts: Script[] = [];
  const requests: RecordedRequest[] = [];
  const arrivals: PromiseWithResolvers<RecordedRequest>[] = [];
  let connections = 0;

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: unknown) => outgoing.destroy(error as Error));
  });
  server.on("connection", () => {
    connections += 1;
  });
  await listen(server);

  const { port } = server.address() as AddressInfo;

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await record(incoming, outgoing);
    const script = scripts.shift() ?? describe?.(request) ?? fail(500, "the test queued no script");
    arrivalOf(requests.push(request) - 1).resolve(request);
    await script(createWire(outgoing), request);
    if (!outgoing.writableEnded && !outgoing.destroyed) {
      outgoing.end();
    }
  }

  function arrivalOf(index: number): PromiseWithResolvers<RecordedRequest> {
    arrivals[index] ??= Promise.withResolvers();
    return arrivals[index];
  }

  async function close(): Promise<void> {
    if (server.listening) {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
      freePorts.push(port);
    }
  }

  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    get connections() {
      return connections;
    },
    respond: (...more) => {
      scripts.push(...more);
    },
    request: (index) => arrivalOf(index).promise,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Ports of servers of earlier tests: a service that knows such an address may serve the next test too. */
const freePorts: number[] = [];

async function listen(server: Server): Promise<void> {
  try {
    server.listen(freePorts.pop() ?? 0, "127.0.0.1");
    await once(server, "listening");
  } catch {
    // Another process uses this port now.
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }
}

export function fail(status: number, body: string, headers?: Readonly<Record<string, string>>): Script {
  return (wire) => wire.reply(status, body, headers);
}

/** Returns every byte of the text as a piece of its own, for `Wire.raw`. */
export function splitBytes(text: string): Uint8Array[] {
  return Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte));
}

async function record(incoming: IncomingMessage, outgoing: ServerResponse): Promise<RecordedRequest> {
  const closed = once(outgoing, "close").then(() => outgoing.writableFinished);
  const pieces: Buffer[] = [];
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    pieces.push(piece);
  }
  const text = Buffer.concat(pieces).toString();
  return {
    method: incoming.method ?? "",
    path: incoming.url ?? "",
    headers: incoming.headers,
    body: JSON.parse(text === "" ? "{}" : text) as RecordedBody,
    text,
    closed,
  };
}

function createWire(outgoing: ServerResponse): Wire {
  const raw: Wire["raw"] = (...pieces) => {
    if (!outgoing.headersSent) {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
    }
    for (const piece of pieces) {
      outgoing.write(piece);
    }
  };
  return {
    raw,
    frame: (value, event) => raw(`${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`),
    reply: (status, body, headers = {}) => {
      outgoing.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
    },
    end: () => {
      outgoing.end();
    },
    cut: async () => {
      if (outgoing.headersSent) {
        // A comment whose callback shows that everything before it has left.
        await new Promise((resolve) => outgoing.write(": cut\n\n", resolve));
      }
      outgoing.destroy();
    },
    hang: async () => {
      await once(outgoing, "close");
    },
  };
}
