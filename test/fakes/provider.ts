// A model provider on a real socket: node:http on 127.0.0.1 that speaks the Chat Completions stream. Each request takes the
// next script that a test queued, or else the one that its last user message describes. Scripts write frames, bytes and
// cuts one by one and wait for whatever the test lets them wait for, so no test needs a timer.

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

export interface FakeProvider extends AsyncDisposable {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** In the order in which their bodies were complete. */
  readonly requests: readonly RecordedRequest[];
  /** Sockets accepted so far. */
  readonly connections: number;
  /** Queues one script per coming request. */
  respond(...scripts: readonly Script[]): void;
  /** Resolves with the request number `index` (from 0) once it has arrived. */
  request(index: number): Promise<RecordedRequest>;
  /** Closes every socket, whatever is under way. */
  close(): Promise<void>;
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: ChatBody;
  /** True when the response ended, false when the client closed the socket before that. */
  readonly closed: Promise<boolean>;
}

/** What tests look at in a request body; the rest is there as well. */
export interface ChatBody {
  readonly [field: string]: unknown;
  readonly messages: readonly {
    readonly role: string;
    readonly content?: unknown;
    readonly [field: string]: unknown;
  }[];
}

/** Writes one response. A response that a script leaves open is ended for it. */
export type Script = (wire: Wire, request: RecordedRequest) => Promise<void> | void;

/** A piece of a tool call; the first one of an index brings id and name. */
export interface ToolCallPiece {
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: string;
}

export interface Wire {
  text(content: string): void;
  reasoning(content: string): void;
  toolCalls(...pieces: readonly ToolCallPiece[]): void;
  finish(reason: string): void;
  usage(usage: object): void;
  done(): void;
  /** Any object as one frame. */
  frame(value: unknown): void;
  /** Bytes as they are, in one write each. */
  raw(...pieces: readonly (string | Uint8Array)[]): void;
  /** A whole response that is no stream. */
  reply(status: number, body: string, headers?: Readonly<Record<string, string>>): void;
  /** Ends the response in the proper way of HTTP. */
  end(): void;
  /** Destroys the socket, once all written so far has left. Before the first write the client gets no byte at all. */
  cut(): Promise<void>;
  /** Writes nothing more, not even headers, and resolves when the client closes the socket. */
  hang(): Promise<void>;
}

export async function startFakeProvider(): Promise<FakeProvider> {
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
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await record(incoming, outgoing);
    const script = scripts.shift() ?? describedScript(request);
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
    }
  }

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
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

/** The text in one delta, then a proper end. */
export function answer(text: string): Script {
  return (wire) => {
    wire.text(text);
    wire.finish("stop");
    wire.done();
  };
}

/** Whole calls, each in one piece and with the index of its place, then a proper end. */
export function callTools(...calls: readonly ToolCallPiece[]): Script {
  return (wire) => {
    for (const [index, call] of calls.entries()) {
      wire.toolCalls({ index, ...call });
    }
    wire.finish("tool_calls");
    wire.done();
  };
}

export function fail(status: number, body: string, headers?: Readonly<Record<string, string>>): Script {
  return (wire) => wire.reply(status, body, headers);
}

/** Every byte of the text as a piece of its own, for `Wire.raw`. */
export function splitBytes(text: string): Uint8Array[] {
  return Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte));
}

async function record(incoming: IncomingMessage, outgoing: ServerResponse): Promise<RecordedRequest> {
  const closed = once(outgoing, "close").then(() => outgoing.writableFinished);
  const pieces: Buffer[] = [];
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    pieces.push(piece);
  }
  return {
    method: incoming.method ?? "",
    path: incoming.url ?? "",
    headers: incoming.headers,
    body: JSON.parse(Buffer.concat(pieces).toString()) as ChatBody,
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
  const frame: Wire["frame"] = (value) => raw(`data: ${JSON.stringify(value)}\n\n`);
  const choice = (delta: object, reason: string | null = null): void =>
    frame({ ...chunkHead, choices: [{ index: 0, delta, finish_reason: reason }] });
  return {
    text: (content) => choice({ content }),
    reasoning: (content) => choice({ reasoning_content: content }),
    toolCalls: (...pieces) => choice({ tool_calls: pieces.map(toWireCall) }),
    finish: (reason) => choice({}, reason),
    usage: (usage) => frame({ ...chunkHead, choices: [], usage }),
    done: () => raw("data: [DONE]\n\n"),
    frame,
    raw,
    reply: (status, body, headers = {}) => {
      outgoing.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
    },
    end: () => {
      outgoing.end();
    },
    cut: async () => {
      if (outgoing.headersSent) {
        // A comment, whose callback tells that everything before it has left.
        await new Promise((resolve) => outgoing.write(": cut\n\n", resolve));
      }
      outgoing.destroy();
    },
    hang: async () => {
      await once(outgoing, "close");
    },
  };
}

const chunkHead = { id: "chatcmpl-fake", object: "chat.completion.chunk", created: 1, model: "fake" };

function toWireCall(piece: ToolCallPiece): object {
  return {
    ...(piece.index === undefined ? {} : { index: piece.index }),
    ...(piece.id === undefined ? {} : { id: piece.id, type: "function" }),
    function: {
      ...(piece.name === undefined ? {} : { name: piece.name }),
      ...(piece.arguments === undefined ? {} : { arguments: piece.arguments }),
    },
  };
}

// Without a queued script the last user message decides, as in "n=20 gap=5 tools=2 tool=read_file args={...}":
// n text deltas, gap ms between them, tools = turns with calls before the text, par = calls per turn, status = HTTP error,
// cut=1 = no end. This serves runs that are started by hand or by a benchmark.
function describedScript({ body }: RecordedRequest): Script {
  const userText = String(body.messages.findLast((message) => message.role === "user")?.content ?? "");
  const settings = new Map(
    Array.from(userText.matchAll(/(\w+)=(\{.*\}|\S+)/g), ([, key, value]) => [key, value ?? ""]),
  );
  const setting = (name: string, otherwise: number): number => Number(settings.get(name) ?? otherwise);
  const lastUser = body.messages.findLastIndex((message) => message.role === "user");
  const turn = body.messages.slice(lastUser).filter((message) => message.role === "assistant").length;

  if (settings.has("status")) {
    return fail(setting("status", 500), '{"error":{"message":"as the message asked"}}');
  }
  if (turn < setting("tools", 0)) {
    return callTools(
      ...Array.from({ length: setting("par", 1) }, (_, index) => ({
        id: `call_${turn}_${index}`,
        name: settings.get("tool") ?? "read_file",
        arguments: settings.get("args") ?? JSON.stringify({ file_path: `file-${turn}-${index}.txt` }),
      })),
    );
  }
  return async (wire) => {
    for (let index = 0; index < setting("n", 3); index++) {
      if (index > 0 && settings.has("gap")) {
        await delay(setting("gap", 0));
      }
      wire.text(`word${index} `);
    }
    if (setting("cut", 0) === 1) {
      return wire.cut();
    }
    wire.finish("stop");
    wire.usage({ prompt_tokens: 10, completion_tokens: setting("n", 3), total_tokens: 10 + setting("n", 3) });
    wire.done();
  };
}
