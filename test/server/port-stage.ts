// The stage of the tests of the port: ports in the clear and over TLS, handlers that report what arrived, and peers of every
// kind, from Node's own clients to hand-written bytes. Real sockets only.

import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import net from "node:net";
import { Duplex, type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import tls from "node:tls";
import { afterEach, expect, vi } from "vitest";
import {
  listenOnePort,
  type OnePortHandler,
  type OnePortOptions,
  type OnePortServer,
  onePortLimits,
} from "../../src/surfaces/http/one-port.ts";
import { makeCertificates } from "../harness/certificates.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";

export type Transport = "cleartext" | "TLS";

/** Every promise of the port holds on both. */
export const transports: readonly Transport[] = ["cleartext", "TLS"];

export const certificates = await makeCertificates();

/** Short timeouts for what Node times by itself, which no clock of ours can move. */
export const quickH1 = { h1CheckIntervalMs: 10, h1HeadersTimeoutMs: 40, h1RequestTimeoutMs: 60 };

export interface TestPort extends OnePortServer {
  readonly isSecure: boolean;
}

export type PortOptions = Partial<OnePortOptions> & { readonly transport: Transport };

const closers: (() => Promise<void>)[] = [];
const clients: { destroy(): void }[] = [];

/** Fails a test that leaves a socket open, its own or the port's. */
export function closeAllAfterEach(): void {
  afterEach(async () => {
    for (const client of clients.splice(0)) {
      client.destroy();
    }
    await Promise.all(closers.splice(0).map((close) => close()));
    await waitForTcpHandles(0);
  });
}

export function destroyAfterTest(client: { destroy(): void }): void {
  clients.push(client);
}

export async function openPort({ transport, ...options }: PortOptions): Promise<TestPort> {
  const secure = transport === "TLS" ? { tls: certificates.server } : {};
  const port = await listenOnePort({ host: "127.0.0.1", port: 0, handler: describeRequest, ...secure, ...options });
  closers.push(() => port.shutdown(0));
  return { ...port, isSecure: transport === "TLS" };
}

export async function openPortWithClock(
  options: PortOptions,
): Promise<{ readonly port: TestPort; readonly clock: ManualClock }> {
  const clock = createManualClock();
  const port = await openPort({ clock, ...options });
  // Lets the grace of the shutdown run out.
  closers.push(async () => clock.advance(0));
  return { port, clock };
}

/** Lets the port see `durationMs` pass, one check after the other. */
export async function sweep(clock: ManualClock, durationMs: number): Promise<void> {
  for (let passedMs = 0; passedMs < durationMs; passedMs += onePortLimits.checkIntervalMs) {
    const sleeps = clock.delaysMs.length;
    clock.advance(onePortLimits.checkIntervalMs);
    await clock.slept(sleeps + 1);
  }
}

export function describeRequest(...[request, response]: Parameters<OnePortHandler>): void {
  const body: Readable = request;
  let bytes = 0;
  body.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  body.on("end", () => {
    response.end(`${request.method} ${request.url} over ${request.httpVersion}: ${bytes} bytes`);
  });
  // The peer or a limit ended the request, so no client waits for an answer.
  body.on("error", () => {});
}

export type HeldResponse = http.ServerResponse | http2.Http2ServerResponse;

/** A handler that sends no answer by itself; `next` returns the responses in the order of their requests. */
export function holdResponses(): { readonly handler: OnePortHandler; readonly next: () => Promise<HeldResponse> } {
  const arrived: HeldResponse[] = [];
  return {
    handler: (_request, response) => arrived.push(response),
    next: () =>
      eventually(() => {
        const response = arrived.shift();
        expect(response).toBeDefined();
        return response as HeldResponse;
      }),
  };
}

/** The overloads of the two kinds of response do not unify, though each takes a chunk. */
export function writePart(response: HeldResponse, part: Buffer | string): void {
  (response as http.ServerResponse).write(part);
}

export interface RawPeer {
  readonly socket: net.Socket;
  readonly closed: Promise<void>;
  bytes(): Buffer;
  text(): string;
  received(part: string): Promise<void>;
  receivedBytes(count: number): Promise<void>;
}

export interface RawOptions {
  /** The peer's ALPN protocol; nothing by default. */
  readonly alpn?: "h2" | "http/1.1";
  readonly allowHalfOpen?: boolean;
  readonly localAddress?: string;
}

/** Opens a connection and completes its TLS handshake, if the port has TLS. */
export async function connectRaw(port: TestPort, { alpn, ...options }: RawOptions = {}): Promise<RawPeer> {
  if (!port.isSecure) {
    return connectPlain(port, options);
  }
  const socket = tls.connect({
    ...port.address,
    ca: certificates.ca,
    ...(alpn && { ALPNProtocols: [alpn] }),
    ...options,
  });
  socket.setNoDelay(true);
  return watchPeer(socket, "secureConnect");
}

/** Opens a connection without TLS. */
export function connectPlain(port: OnePortServer, options: Omit<RawOptions, "alpn"> = {}): Promise<RawPeer> {
  return watchPeer(net.connect({ ...port.address, noDelay: true, ...options }), "connect");
}

async function watchPeer(socket: net.Socket, opened: "connect" | "secureConnect"): Promise<RawPeer> {
  clients.push(socket);
  const chunks: Buffer[] = [];
  let byteCount = 0;
  socket.on("data", (chunk) => {
    chunks.push(chunk);
    byteCount += chunk.length;
  });
  // A reset is one of the ways in which a connection closes.
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
  const bytes = (): Buffer => Buffer.concat(chunks);
  await Promise.race([once(socket, opened), closed]);
  return {
    socket,
    closed,
    bytes,
    text: () => bytes().toString("latin1"),
    received: (part) => eventually(() => expect(bytes().toString("latin1")).toContain(part)),
    receivedBytes: (count) => eventually(() => expect(byteCount).toBeGreaterThanOrEqual(count)),
  };
}

/** Writes one byte per turn of the event loop, so that the server, in the same loop, reads each by itself. */
export async function writeByBytes(socket: net.Socket, bytes: Buffer): Promise<void> {
  for (const byte of bytes) {
    socket.write(Buffer.of(byte));
    await nextTurn();
    await nextTurn();
  }
}

/** A connection that sends all written data byte by byte. */
export function trickle(socket: net.Socket): Duplex {
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

export type GetOptions = https.RequestOptions & Pick<tls.ConnectionOptions, "ALPNProtocols">;

export interface Answer {
  readonly status: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

export async function get(port: TestPort, options: GetOptions = {}): Promise<Answer> {
  const common = { ...port.address, agent: false as const, ...options };
  const request = port.isSecure ? https.get({ ca: certificates.ca, ...common }) : http.get(common);
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** Makes an agent that keeps one connection. */
export function createAgent(port: TestPort): http.Agent {
  const options = { keepAlive: true, maxSockets: 1 };
  const agent = port.isSecure ? new https.Agent(options) : new http.Agent(options);
  clients.push(agent);
  return agent;
}

export function connect2(
  port: TestPort,
  options: http2.ClientSessionOptions | http2.SecureClientSessionOptions = {},
): http2.ClientHttp2Session {
  const scheme = port.isSecure ? "https" : "http";
  const session = http2.connect(`${scheme}://127.0.0.1:${port.address.port}`, { ca: certificates.ca, ...options });
  // Expected where a test ends the session; its requests fail too, and show it.
  session.on("error", () => {});
  clients.push(session);
  return session;
}

export async function request2(
  session: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders = {},
  body?: Buffer,
): Promise<string> {
  const stream = session.request({ ":path": "/", ...headers }, { endStream: body === undefined });
  if (body !== undefined) {
    stream.end(body);
  }
  const answer = await text(stream);
  // A stream whose connection is lost ends without an error of its own.
  if (stream.rstCode !== http2.constants.NGHTTP2_NO_ERROR) {
    throw new Error(`the stream was cut with code ${stream.rstCode}`);
  }
  return answer;
}

/** Counts the sockets and listeners of this process, independent of their owner: the port's and those of the running test. */
export function waitForTcpHandles(count: number): Promise<void> {
  const countHandles = (): number => process.getActiveResourcesInfo().filter((name) => name.startsWith("TCP")).length;
  return eventually(() => expect(countHandles()).toBe(count));
}

/** Resolves once the check no longer throws. It takes milliseconds, and on a busy machine seconds. */
export function eventually<T>(check: () => T): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: 5 });
}
