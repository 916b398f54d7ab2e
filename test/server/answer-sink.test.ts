// The sink of an answer beside the answer itself: the writes of both form one body in order, and a reader that does not read
// makes the sink refuse.

import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net, { type AddressInfo } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Sink } from "../../src/platform/base/sink.ts";
import { openAnswerSink } from "../../src/surfaces/http/answer-sink.ts";
import type { Request, Response } from "../../src/surfaces/http/message.ts";
import { until } from "../harness/wait.ts";

interface Call {
  /** An HTTP/2 response is written in the same way. */
  readonly response: http.ServerResponse;
  readonly sink: Sink<Uint8Array>;
}

type Protocol = "HTTP/1.1" | "HTTP/2";
const protocols: readonly Protocol[] = ["HTTP/1.1", "HTTP/2"];

/** Opens a server that passes each call to the test. */
async function openServer(protocol: Protocol): Promise<{ port: number; calls: Call[] }> {
  const calls: Call[] = [];
  const listener = (_: Request, response: Response): void => {
    calls.push({ response: response as http.ServerResponse, sink: openAnswerSink(response) });
  };
  const server = protocol === "HTTP/2" ? http2.createServer(listener) : http.createServer(listener);
  const sockets = new Set<net.Socket>();
  server.on("connection", (socket: net.Socket) => sockets.add(socket));
  onTestFinished(async () => {
    for (const socket of sockets) {
      socket.destroy();
    }
    server.close();
    await once(server, "close");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, calls };
}

interface Asked {
  readonly call: Call;
  readonly body: Promise<string>;
}

async function ask(protocol: Protocol): Promise<Asked> {
  const { port, calls } = await openServer(protocol);
  const body = (protocol === "HTTP/2" ? askH2 : askH1)(port);
  await until("the call", () => calls.length === 1);
  return { call: calls[0] as Call, body };
}

async function askH1(port: number): Promise<string> {
  const request = http.get({ port, host: "127.0.0.1", agent: false });
  const [response] = await once(request, "response");
  return await text(response);
}

async function askH2(port: number): Promise<string> {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  try {
    return await text(session.request({ ":path": "/" }));
  } finally {
    session.destroy();
  }
}

const signal = new AbortController().signal;

describe.each(protocols)("over %s", (protocol) => {
  test("bytes arrive in the order in which they were written, by the sink or by the response", async () => {
    const { call, body } = await ask(protocol);
    const { sink, response } = call;
    expect(sink.take(Buffer.from("too early"))).toBe(false);
    response.writeHead(200, { "content-type": "text/plain" });
    response.write("a");
    expect(sink.take(Buffer.from("b"))).toBe(true);
    expect(sink.take(Buffer.from("c"))).toBe(true);
    response.write("d");
    await nextTurn();
    const long = "e".repeat(1_000);
    expect(sink.take(Buffer.from(long))).toBe(true);
    await nextTurn();
    expect(sink.take(Buffer.from("f"))).toBe(true);
    response.end("g");
    expect(sink.take(Buffer.from("too late"))).toBe(false);
    expect(await body).toBe(`abcd${long}fg`);
    expect(sink.take(Buffer.from("far too late"))).toBe(false);
    await sink.drained(signal);
  });

  test("the sink refuses while the reader does not read, and later the reader gets everything the sink took", async () => {
    const { port, calls } = await openServer(protocol);
    const { arrived, read } = protocol === "HTTP/2" ? idleH2(port) : idleH1(port);
    await until("the call", () => calls.length === 1);
    const { response, sink } = calls[0] as Call;
    response.writeHead(200);
    (response as http.ServerResponse).write("head");
    await arrived;
    const piece = Buffer.alloc(10_000, "x");
    let taken = 0;
    for (let turn = 0; turn < 2_000; turn += 1) {
      taken += sink.take(piece) ? 1 : 0;
      await nextTurn();
    }
    expect(sink.take(piece)).toBe(false);
    // No more than the buffers of the system and of the stream hold.
    expect(taken * piece.length).toBeLessThan(10_000_000);
    let isDrained = false;
    const drained = sink.drained(signal).then(() => {
      isDrained = true;
    });
    await nextTurn();
    expect(isDrained).toBe(false);
    const body = read();
    await drained;
    expect(sink.take(Buffer.from("tail"))).toBe(true);
    response.end();
    expect((await body).length).toBe("head".length + taken * piece.length + "tail".length);
  });

  test("a wait for room ends when the reader leaves, and when it is no longer needed", async () => {
    const { port, calls } = await openServer(protocol);
    const { arrived, leave } = protocol === "HTTP/2" ? idleH2(port) : idleH1(port);
    await until("the call", () => calls.length === 1);
    const { response, sink } = calls[0] as Call;
    response.on("error", () => {});
    response.writeHead(200);
    (response as http.ServerResponse).write("head");
    await arrived;
    while (sink.take(Buffer.alloc(100_000))) {
      await nextTurn();
    }
    const over = new AbortController();
    const ended = sink.drained(over.signal);
    const left = sink.drained(signal);
    over.abort();
    await ended;
    leave();
    await left;
    expect(sink.take(Buffer.from("to nobody"))).toBe(false);
  });
});

interface Idle {
  readonly arrived: Promise<unknown>;
  read(): Promise<Buffer>;
  leave(): void;
}

/** A client that reads the head and then nothing until the test lets it. */
function idleH1(port: number): Idle {
  const request = http.get({ port, host: "127.0.0.1", agent: false });
  request.on("error", () => {});
  const arrived = once(request, "response");
  return {
    arrived,
    read: async () => await buffer((await arrived)[0]),
    leave: () => request.destroy(),
  };
}

function idleH2(port: number): Idle {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  const stream = session.request({ ":path": "/" });
  stream.on("error", () => {});
  return { arrived: once(stream, "response"), read: () => buffer(stream), leave: () => session.destroy() };
}

test("a chunk has the form of HTTP/1.1", async () => {
  const { call, raw } = await askRaw(["GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n"]);
  const { response, sink } = call(0);
  response.writeHead(200);
  response.write("a");
  expect(sink.take(Buffer.from("x".repeat(26)))).toBe(true);
  response.end();
  const told = await raw;
  expect(told.slice(told.indexOf("\r\n\r\n"))).toBe(`\r\n\r\n1\r\na\r\n1a\r\n${"x".repeat(26)}\r\n0\r\n\r\n`);
});

test("the sink of a body without chunks refuses", async () => {
  const { call, raw } = await askRaw(["GET / HTTP/1.0\r\n\r\n"]);
  const { response, sink } = call(0);
  response.writeHead(200);
  response.write("a");
  expect(sink.take(Buffer.from("b"))).toBe(false);
  response.end("c");
  expect((await raw).endsWith("\r\n\r\nac")).toBe(true);
});

test("the sink refuses while its body is corked, or before its turn on the connection", async () => {
  const { call, raw } = await askRaw([
    "GET /first HTTP/1.1\r\nhost: here\r\n\r\n",
    "GET /second HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n",
  ]);
  const [first, second] = [call(0), call(1)];
  second.response.writeHead(200);
  second.response.write("second");
  expect(second.sink.take(Buffer.from(" too early"))).toBe(false);
  first.response.writeHead(200);
  first.response.write("first");
  first.response.cork();
  first.response.write(" corked");
  expect(first.sink.take(Buffer.from(" before it"))).toBe(false);
  first.response.uncork();
  expect(first.sink.take(Buffer.from(" after it"))).toBe(true);
  first.response.end();
  await until("its turn", () => second.sink.take(Buffer.from(" in turn")));
  second.response.end();
  const words = (await raw).match(/first|second| corked| before it| too early| after it| in turn/g);
  expect(words).toEqual(["first", " corked", " after it", "second", " in turn"]);
});

/** Sends requests on one connection and returns everything that is answered until it closes. */
async function askRaw(requests: readonly string[]): Promise<{ call: (index: number) => Call; raw: Promise<string> }> {
  const { port, calls } = await openServer("HTTP/1.1");
  const socket = net.connect(port, "127.0.0.1");
  socket.write(requests.join(""));
  const raw = text(socket);
  await until("the calls", () => calls.length === requests.length);
  return { call: (index) => calls[index] as Call, raw };
}
