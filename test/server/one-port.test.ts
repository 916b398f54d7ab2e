// The one cleartext port, from outside and over real sockets: both protocols in every way clients open them, every limit
// against a peer that exceeds it, and a shutdown that ends whatever the peers do. O1 to O4 are in src/server/one-port.ts.

import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { Duplex, type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Client, credentials } from "@grpc/grpc-js";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Fault } from "../../src/base/fault.ts";
import {
  listenOnePort,
  type OnePortHandler,
  type OnePortOptions,
  type OnePortServer,
  onePortLimits,
} from "../../src/server/one-port.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";

/** The client preface with its empty SETTINGS frame: all that a server needs to open a session. */
const h2Hello = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from("000000040000000000", "hex"),
]);

/** What `curl --http2` adds to a request in the clear. */
const h2cUpgrade = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";

/** Quick limits for what Node times by itself, which no clock of ours can move. */
const quickH1 = { checkIntervalMs: 10, h1HeadersTimeoutMs: 40, h1RequestTimeoutMs: 60 };

const servers: OnePortServer[] = [];
const clients: { destroy(): void }[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) {
    client.destroy();
  }
  await Promise.all(servers.splice(0).map((server) => server.shutdown(0)));
  await waitForTcpHandles(0);
});

describe("both protocols", () => {
  test("HTTP/1.1 is served", async () => {
    const server = await start(describeRequest);
    expect(await get(server)).toMatchObject({ status: 200, body: "GET / over 1.1: 0 bytes" });
  });

  test("HTTP/2 with prior knowledge is served", async () => {
    const server = await start(describeRequest);
    expect(await request2(connect2(server))).toBe("GET / over 2.0: 0 bytes");
  });

  test("a gRPC client gets its message and its trailers", async () => {
    const server = await start((request, response) => {
      if (!(response instanceof http2.Http2ServerResponse)) {
        throw new Error("gRPC came over HTTP/1.1");
      }
      response.setHeader("content-type", "application/grpc+proto");
      response.addTrailers({ "grpc-status": "0" });
      request.pipe(response);
    });
    const client = new Client(`127.0.0.1:${server.address.port}`, credentials.createInsecure(), {
      "grpc.enable_http_proxy": 0,
    });
    clients.push({ destroy: () => client.close() });
    const identity = (bytes: Buffer): Buffer => bytes;
    const answer = await new Promise((resolve, reject) => {
      client.makeUnaryRequest("/test.Echo/Echo", identity, identity, Buffer.from("hello"), (error, bytes) =>
        error ? reject(error) : resolve(bytes?.toString()),
      );
    });
    expect(answer).toBe("hello");
  });

  test("an upgrade to h2c is ignored: the request, body included, is served over HTTP/1.1", async () => {
    const server = await start(describeRequest);
    const peer = await connectRaw(server);
    peer.socket.write(`POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n${h2cUpgrade}\r\nabc`);
    await peer.received("POST / over 1.1: 3 bytes");
    expect(peer.text()).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("data behind an ignored upgrade is not waited for: the connection closes after the answer", async () => {
    const server = await start(describeRequest);
    const peer = await connectRaw(server);
    peer.socket.write(
      `GET /first HTTP/1.1\r\nHost: test\r\n${h2cUpgrade}\r\nGET /second HTTP/1.1\r\nHost: test\r\n\r\n`,
    );
    await peer.closed;
    expect(peer.text()).toMatch(/Connection: close.*GET \/first over 1.1/is);
  });

  test("a body of 100 KB waits for 100 Continue", async () => {
    const server = await start(describeRequest);
    const peer = await connectRaw(server);
    peer.socket.write("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 102400\r\nExpect: 100-continue\r\n\r\n");
    await peer.received("HTTP/1.1 100 Continue\r\n\r\n");
    peer.socket.write(Buffer.alloc(102_400));
    await peer.received("POST / over 1.1: 102400 bytes");
  });

  test("a kept-alive connection serves again", async () => {
    const server = await start((request, response) => response.end(String(request.socket.remotePort)));
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    clients.push(agent);
    const first = await get(server, { agent });
    expect((await get(server, { agent })).body).toBe(first.body);
  });

  test("pipelined HTTP/1.1 that arrives byte by byte is served in order", async () => {
    const server = await start(describeRequest);
    const peer = await connectRaw(server);
    const post = "POST /one HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc";
    await writeByBytes(peer.socket, Buffer.from(`${post}GET /two HTTP/1.1\r\nHost: test\r\n\r\n`));
    await peer.received("GET /two over 1.1: 0 bytes");
    expect(peer.text()).toMatch(/POST \/one over 1.1: 3 bytes.*GET \/two/s);
  });

  test("HTTP/2 that arrives byte by byte is served", async () => {
    const server = await start(describeRequest);
    const peer = await connectRaw(server);
    const session = connect2(server, { createConnection: () => trickle(peer.socket) });
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
  });

  test.each(["PROPFIND", "PUT", "PATCH", "POST"])("%s is not mistaken for the preface", async (method) => {
    const server = await start(describeRequest);
    const peer = await connectRaw(server);
    await writeByBytes(peer.socket, Buffer.from(`${method} / HTTP/1.1\r\nHost: test\r\n\r\n`));
    await peer.received(`${method} / over 1.1`);
  });
});

describe("limits", () => {
  test("O2: a peer that sends one byte and falls silent is closed by the preface timeout", async () => {
    const { server, clock } = await startWithClock();
    const peer = await connectRaw(server);
    peer.socket.write("P");
    await get(server);
    await sweep(clock, onePortLimits.prefaceTimeoutMs);
    await get(server);
    expect(peer.socket.closed).toBe(false);
    await sweep(clock, onePortLimits.checkIntervalMs);
    await peer.closed;
  });

  test("O2: a peer that stops in the middle of the h2 preface is closed by the preface timeout", async () => {
    const { server, clock } = await startWithClock();
    const peer = await connectRaw(server);
    peer.socket.write(h2Hello.subarray(0, 12));
    // The server's SETTINGS: it took the connection for h2.
    await peer.receivedBytes(9);
    await sweep(clock, onePortLimits.prefaceTimeoutMs + onePortLimits.checkIntervalMs);
    await peer.closed;
  });

  test("a peer that hangs up before it showed its protocol leaves nothing behind", async () => {
    const server = await start(describeRequest);
    const peer = await connectRaw(server);
    peer.socket.end("PR");
    await peer.closed;
    await waitForTcpHandles(1);
  });

  test("O3: a broken preface ends its connection only", async () => {
    const server = await start(describeRequest);
    const bystander = connect2(server);
    await request2(bystander);
    const peer = await connectRaw(server);
    peer.socket.write("PRI * HTTP/1.0\r\nHost: test\r\n\r\n");
    await peer.closed;
    expect(await request2(bystander)).toBe("GET / over 2.0: 0 bytes");
  });

  test("O3: 300 connections that are reset while the protocol is guessed leave nothing behind", async () => {
    const server = await start(describeRequest);
    for (let index = 0; index < 300; index++) {
      const { socket } = await connectRaw(server);
      socket.write("PRI * HT".slice(0, index % 9));
      if (index % 2 === 0) {
        await nextTurn();
      }
      socket.resetAndDestroy();
    }
    expect((await get(server)).status).toBe(200);
    await waitForTcpHandles(1);
  });

  test("O2: headers that trickle in get 408", async () => {
    const { checkIntervalMs, h1HeadersTimeoutMs } = quickH1;
    const server = await start(describeRequest, { limits: { checkIntervalMs, h1HeadersTimeoutMs } });
    const peer = await connectRaw(server);
    peer.socket.write("GET / HTTP/1.1\r\nHost: test\r\n");
    await peer.received("HTTP/1.1 408 ");
    await peer.closed;
  });

  test("O2: a body that never arrives gets 408", async () => {
    const server = await start(describeRequest, { limits: quickH1 });
    const peer = await connectRaw(server);
    peer.socket.write("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nabc");
    await peer.received("HTTP/1.1 408 ");
    await peer.closed;
  });

  test("a response may last longer than a request may take to arrive", async () => {
    const opened = Promise.withResolvers<HeldResponse>();
    const server = await start(
      (_request, response) => {
        writePart(response, ": open\n\n");
        opened.resolve(response);
      },
      { limits: quickH1 },
    );
    const reader = await connectRaw(server);
    reader.socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    await reader.received(": open");
    // A later request that is cut shows that the limit has passed.
    const late = await connectRaw(server);
    late.socket.write("POST / HTTP/1.1\r\n");
    await late.received("HTTP/1.1 408 ");
    writePart(await opened.promise, "data: still here\n\n");
    await reader.received("data: still here");
  });

  test("O2: a response whose reader stopped reading is given up", async () => {
    const cut = Promise.withResolvers<void>();
    const server = await start(
      (_request, response) => {
        response.once("close", cut.resolve);
        writePart(response, Buffer.alloc(64 * 1024 * 1024));
      },
      { limits: { h1StallTimeoutMs: 100 } },
    );
    const peer = await connectRaw(server);
    peer.socket.pause();
    peer.socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    await cut.promise;
    await waitForTcpHandles(2);
  });

  test("17 KB of headers are refused on both protocols, 12 KB pass on both", async () => {
    const server = await start(describeRequest);
    const session = connect2(server);
    await request2(session);
    const fits = { "x-large": "a".repeat(12 * 1024) };
    const exceeds = { "x-large": "a".repeat(17 * 1024) };
    expect((await get(server, { headers: fits })).status).toBe(200);
    expect((await get(server, { headers: exceeds })).status).toBe(431);
    expect(await request2(session, fits)).toContain("GET /");
    await expect(request2(session, exceeds)).rejects.toThrow("NGHTTP2_ENHANCE_YOUR_CALM");
  });

  test("connections beyond the limit are closed at once", async () => {
    const server = await start(describeRequest, { limits: { connectionsMax: 1 } });
    const session = connect2(server);
    await request2(session);
    await (await connectRaw(server)).closed;
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
  });

  test("O2: a peer that resets streams in a flood loses its session, and nobody else does", async () => {
    const server = await start(describeRequest);
    const bystander = connect2(server);
    await request2(bystander);
    const attacker = await connectRaw(server);
    attacker.socket.write(h2Hello);
    for (let count = 0; count < 400; count++) {
      attacker.socket.write(requestAndReset(2 * count + 1));
    }
    await attacker.closed;
    expect(await request2(bystander)).toBe("GET / over 2.0: 0 bytes");
  });
});

describe("h2 sessions over time", () => {
  const { checkIntervalMs, h2IdleTimeoutMs, h2LingerTimeoutMs, h2PingIntervalMs, h2PingTimeoutMs } = onePortLimits;

  test("O2: a peer that no longer answers PING is found within 30 s", async () => {
    const { server, clock } = await startWithClock();
    const peer = await connectRaw(server);
    peer.socket.write(h2Hello);
    await peer.receivedBytes(9);
    await get(server);
    await sweep(clock, h2PingIntervalMs + h2PingTimeoutMs);
    await get(server);
    expect(peer.socket.closed).toBe(false);
    await sweep(clock, checkIntervalMs);
    await peer.closed;
    expect(h2PingIntervalMs + h2PingTimeoutMs + 2 * checkIntervalMs).toBeLessThanOrEqual(30_000);
  });

  test("a peer that answers PING keeps its session", async () => {
    const { server, clock } = await startWithClock();
    const session = connect2(server);
    await request2(session);
    for (let round = 0; round < 3; round++) {
      const pinged = once(session, "ping");
      await sweep(clock, h2PingIntervalMs);
      await pinged;
      // The answer to the PING is before this request on the wire.
      await request2(session);
    }
    await sweep(clock, h2PingTimeoutMs + checkIntervalMs);
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
  });

  test("a process that was stopped for a minute does not blame its peers", async () => {
    const { server, clock } = await startWithClock();
    const session = connect2(server);
    await request2(session);
    await sweep(clock, h2PingIntervalMs);
    clock.advance(60_000);
    await sweep(clock, checkIntervalMs);
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
  });

  test("a session without streams is told to go after the idle timeout", async () => {
    const { server, clock } = await startWithClock({ limits: { h2PingIntervalMs: Number.POSITIVE_INFINITY } });
    const session = connect2(server);
    await request2(session);
    const told = once(session, "goaway");
    const ended = once(session, "close");
    await sweep(clock, h2IdleTimeoutMs);
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
    await sweep(clock, h2IdleTimeoutMs + checkIntervalMs);
    expect((await told)[0]).toBe(http2.constants.NGHTTP2_NO_ERROR);
    await ended;
  });

  test("O2: a peer that was told to go and stays is destroyed", async () => {
    const { server, clock } = await startWithClock({ limits: { h2IdleTimeoutMs: 1_000 } });
    const peer = await connectRaw(server, { allowHalfOpen: true });
    const hungUp = once(peer.socket, "end");
    peer.socket.write(h2Hello);
    await peer.receivedBytes(9);
    await get(server);
    await sweep(clock, 1_000 + checkIntervalMs);
    await hungUp;
    // Its own socket, the server's end of it, and the port.
    await waitForTcpHandles(3);
    await sweep(clock, h2LingerTimeoutMs + checkIntervalMs);
    await waitForTcpHandles(2);
  });

  test("an aged session takes no new streams, lets the running one finish, and ends", async () => {
    const held = holdResponses();
    const { server, clock } = await startWithClock({
      handler: held.handler,
      limits: { h2SessionAgeMs: 10_000, h2RetiredAgeMs: 60_000 },
    });
    const session = connect2(server);
    const told = once(session, "goaway");
    const ended = once(session, "close");
    const running = request2(session);
    const response = await held.next();
    await sweep(clock, 12_000);
    await told;
    await expect(request2(session)).rejects.toThrow("GOAWAY");
    response.end("finished");
    expect(await running).toBe("finished");
    await ended;
  });

  test("O2: a stream that outlives its aged session is cut", async () => {
    const held = holdResponses();
    const { server, clock } = await startWithClock({
      handler: held.handler,
      limits: { h2PingIntervalMs: Number.POSITIVE_INFINITY, h2RetiredAgeMs: 5_000, h2SessionAgeMs: 10_000 },
    });
    const session = connect2(server);
    const cut = expect(request2(session)).rejects.toThrow("the stream was cut");
    await held.next();
    await sweep(clock, 17_000);
    await cut;
  });
});

describe("shutdown", () => {
  /** Longer than a test may take: what ends sooner did not wait for it. */
  const endlessMs = 3_600_000;

  test("a running h2 stream may finish, and is told by GOAWAY to open no other", async () => {
    const held = holdResponses();
    const server = await start(held.handler);
    const session = connect2(server);
    const told = once(session, "goaway");
    const running = request2(session);
    const response = await held.next();
    const done = server.shutdown(endlessMs);
    await told;
    response.end("finished");
    expect(await running).toBe("finished");
    await done;
  });

  test("idle and undecided connections close at once, and the port refuses new ones", async () => {
    const server = await start(describeRequest);
    const idle = await connectRaw(server);
    idle.socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    const undecided = await connectRaw(server);
    undecided.socket.write("PR");
    const session = connect2(server);
    await idle.received("0 bytes");
    await request2(session);
    const done = server.shutdown(endlessMs);
    await Promise.all([idle.closed, undecided.closed, once(session, "close"), done]);
    await expect(get(server)).rejects.toThrow("ECONNREFUSED");
  });

  test("a running h1 request is answered with Connection: close", async () => {
    const held = holdResponses();
    const server = await start(held.handler);
    const answer = get(server, { agent: new http.Agent({ keepAlive: true }) });
    const response = await held.next();
    const done = server.shutdown(endlessMs);
    response.end("finished");
    expect(await answer).toMatchObject({ body: "finished", headers: { connection: "close" } });
    await done;
  });

  test("an h1 response that had promised keep-alive finishes, then its connection closes", async () => {
    const held = holdResponses();
    const server = await start(held.handler);
    const peer = await connectRaw(server);
    peer.socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    const response = await held.next();
    writePart(response, "begun");
    await peer.received("begun");
    const done = server.shutdown(endlessMs);
    response.end("finished");
    await peer.received("finished");
    await done;
  });

  test("O4: clients that never close are destroyed after the grace", async () => {
    const held = holdResponses();
    const server = await start(held.handler);
    const waiting = await connectRaw(server);
    waiting.socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    await held.next();
    const halfSent = await connectRaw(server);
    halfSent.socket.write("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nabc");
    await held.next();
    const silent = await connectRaw(server, { allowHalfOpen: true });
    silent.socket.write(h2Hello);
    await silent.receivedBytes(9);
    const session = connect2(server);
    const cut = expect(request2(session)).rejects.toThrow("the stream was cut");
    await held.next();
    await server.shutdown(50);
    await Promise.all([waiting.closed, halfSent.closed, cut]);
    // What is left is the one end that the silent peer holds.
    silent.socket.destroy();
    await waitForTcpHandles(0);
  });

  test("a second shutdown with a shorter grace forces the first, and a third finds nothing to do", async () => {
    const held = holdResponses();
    const server = await start(held.handler);
    const peer = await connectRaw(server);
    peer.socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    await held.next();
    const patient = server.shutdown(endlessMs);
    await server.shutdown(0);
    await patient;
    await peer.closed;
    await server.shutdown(endlessMs);
  });
});

describe("the port", () => {
  test("a busy port is refused with the port and what to do", async () => {
    const { address } = await start(describeRequest);
    const refused = await listenOnePort({ ...address, handler: describeRequest }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Fault);
    expect(refused).toMatchObject({ reason: "CONFIG_INVALID" });
    expect((refused as Fault).message).toContain(`port ${address.port} on 127.0.0.1 is already in use`);
    expect((refused as Fault).message).toContain("RUNNEL_SERVER_PORT");
  });

  test("an address of another machine is refused with what to do", async () => {
    const refused = listenOnePort({ host: "192.0.2.1", port: 0, handler: describeRequest });
    await expect(refused).rejects.toThrow("set RUNNEL_SERVER_HOST");
  });
});

async function start(handler: OnePortHandler, options: Partial<OnePortOptions> = {}): Promise<OnePortServer> {
  const server = await listenOnePort({ host: "127.0.0.1", port: 0, handler, ...options });
  servers.push(server);
  return server;
}

async function startWithClock(
  options: Partial<OnePortOptions> = {},
): Promise<{ readonly server: OnePortServer; readonly clock: ManualClock }> {
  const clock = createManualClock();
  return { server: await start(describeRequest, { clock, ...options }), clock };
}

/** Lets the server see `durationMs` pass, one check after the other. */
async function sweep(clock: ManualClock, durationMs: number): Promise<void> {
  for (let passedMs = 0; passedMs < durationMs; passedMs += onePortLimits.checkIntervalMs) {
    const sleeps = clock.delaysMs.length;
    clock.advance(onePortLimits.checkIntervalMs);
    await clock.slept(sleeps + 1);
  }
}

function describeRequest(...[request, response]: Parameters<OnePortHandler>): void {
  const body: Readable = request;
  let bytes = 0;
  body.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  body.on("end", () => {
    response.end(`${request.method} ${request.url} over ${request.httpVersion}: ${bytes} bytes`);
  });
  // The peer or a limit ended the request: there is nobody to answer.
  body.on("error", () => {});
}

type HeldResponse = http.ServerResponse | http2.Http2ServerResponse;

/** A handler that answers nothing by itself; `next` gives the responses in the order of their requests. */
function holdResponses(): { readonly handler: OnePortHandler; readonly next: () => Promise<HeldResponse> } {
  const arrived: HeldResponse[] = [];
  return {
    handler: (_request, response) => arrived.push(response),
    next: () =>
      vi.waitFor(() => {
        const response = arrived.shift();
        expect(response).toBeDefined();
        return response as HeldResponse;
      }),
  };
}

interface RawPeer {
  readonly socket: net.Socket;
  readonly closed: Promise<void>;
  text(): string;
  received(part: string): Promise<void>;
  receivedBytes(count: number): Promise<void>;
}

async function connectRaw(server: OnePortServer, options: { allowHalfOpen?: boolean } = {}): Promise<RawPeer> {
  const socket = net.connect({ ...server.address, noDelay: true, ...options });
  clients.push(socket);
  let seen = "";
  socket.on("data", (chunk) => {
    seen += chunk.toString("latin1");
  });
  // A reset is one of the ways to be closed.
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
  await once(socket, "connect");
  return {
    socket,
    closed,
    text: () => seen,
    received: (part) => vi.waitFor(() => expect(seen).toContain(part), { timeout: 5_000, interval: 5 }),
    receivedBytes: (count) =>
      vi.waitFor(() => expect(seen.length).toBeGreaterThanOrEqual(count), { timeout: 5_000, interval: 5 }),
  };
}

/** One byte per turn of the event loop, so that the server, in the same loop, reads each by itself. */
async function writeByBytes(socket: net.Socket, bytes: Buffer): Promise<void> {
  for (const byte of bytes) {
    socket.write(Buffer.of(byte));
    await nextTurn();
    await nextTurn();
  }
}

/** A connection that sends whatever is written to it byte by byte. */
function trickle(socket: net.Socket): Duplex {
  const connection = new Duplex({
    read: () => {},
    write: (chunk: Buffer, _encoding, done) => {
      void writeByBytes(socket, chunk).then(() => done(), done);
    },
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (chunk) => connection.push(chunk));
  socket.on("end", () => connection.push(null));
  return connection;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

async function get(server: OnePortServer, options: http.RequestOptions = {}): Promise<Answer> {
  const request = http.get({ ...server.address, agent: false, ...options });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

function connect2(server: OnePortServer, options: http2.ClientSessionOptions = {}): http2.ClientHttp2Session {
  const session = http2.connect(`http://127.0.0.1:${server.address.port}`, options);
  // Expected where a test ends the session; its requests fail too, and tell.
  session.on("error", () => {});
  clients.push(session);
  return session;
}

async function request2(session: http2.ClientHttp2Session, headers: http2.OutgoingHttpHeaders = {}): Promise<string> {
  const stream = session.request({ ":path": "/", ...headers });
  const body = await text(stream);
  // A stream whose connection is lost ends without an error of its own.
  if (stream.rstCode !== http2.constants.NGHTTP2_NO_ERROR) {
    throw new Error(`the stream was cut with code ${stream.rstCode}`);
  }
  return body;
}

/** A GET and its cancellation at once, as frames. */
function requestAndReset(streamId: number): Buffer {
  // :method GET, :scheme http and :path / by their numbers in the static table, and :authority "test".
  const headers = Buffer.concat([Buffer.from([0x82, 0x86, 0x84, 0x41, 4]), Buffer.from("test")]);
  const endStreamAndHeaders = 0x5;
  const cancel = Buffer.from([0, 0, 0, http2.constants.NGHTTP2_CANCEL]);
  return Buffer.concat([frame(0x1, endStreamAndHeaders, streamId, headers), frame(0x3, 0, streamId, cancel)]);
}

function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

/** The overloads of the two kinds of response do not unify, though each takes a chunk. */
function writePart(response: HeldResponse, part: Buffer | string): void {
  (response as http.ServerResponse).write(part);
}

/** Counts the sockets and listeners of this process, whoever opened them: the server's and those of the running test. */
function waitForTcpHandles(count: number): Promise<void> {
  const countHandles = (): number => process.getActiveResourcesInfo().filter((name) => name.startsWith("TCP")).length;
  return vi.waitFor(() => expect(countHandles()).toBe(count), { timeout: 5_000, interval: 5 });
}
