// Calls to hosts that clients name. A call is one POST or GET with one bounded answer, over a connection that may serve several
// calls in a row. Or it opens a connection for HTTP/2, or an answer that its caller reads piece by piece and bounds itself.
//
// E1  The dialer allows every connection, and no redirect is followed: a redirect is the answer. Each call resolves the name
//     and checks all its addresses, even when a connection is kept.
// E2  Regardless of the host's behaviour, a call ends within its timeout and stores at most `responseBytesMax` of the answer.
// E3  An abort closes the connection at once.

import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from "node:http";
import type { Socket } from "node:net";
import { over } from "../base/clock.ts";
import { version } from "../base/version.ts";
import { createAddressPolicy } from "./address.ts";
import { Connections, type Route } from "./connections.ts";
import { type DialerOptions, dial, findAddresses } from "./dialer.ts";
import { describeTrouble, EgressFailure, refuse } from "./failure.ts";
import { type Called, findUrlProblem } from "./url.ts";

/** The only way to call hosts that clients name. */
export interface Egress {
  /** Returns the problem of a URL that can be found without resolving its host; otherwise undefined. */
  findProblem(url: string, what?: Called): string | undefined;
  /** Sends a POST. Throws an EgressFailure without an answer, or the signal's reason. */
  post(request: EgressPost): Promise<EgressAnswer>;
  /** Loads a file. Throws an EgressFailure without an answer, or the signal's reason. */
  get(request: EgressGet): Promise<EgressFile>;
  /**
   * Sends a request and resolves with the head of its answer; the caller reads and bounds the body. The timeout ends with the head,
   * the signal counts until the end of the body. Throws an EgressFailure without an answer, or the signal's reason.
   */
  open(request: EgressOpen): Promise<EgressStream>;
  /**
   * Opens a connection for HTTP/2, which the caller uses and closes. Throws an EgressFailure when it fails, or the signal's
   * reason; the signal only counts until the connection is open.
   */
  connect(request: EgressConnect): Promise<Socket>;
  /** Ends the calls in progress. */
  close(): void;
}

/** A POST request. */
export interface EgressPost {
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The maximum time of the whole call, from resolving the host to the last byte. */
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
  readonly signal: AbortSignal;
}

/** A GET request. */
export interface EgressGet extends Omit<EgressPost, "headers" | "body"> {
  readonly what: Called;
}

/** A request whose answer the caller reads. */
export interface EgressOpen extends Omit<EgressPost, "body" | "responseBytesMax"> {
  readonly method: "GET" | "POST" | "DELETE";
  readonly what: Called;
  readonly body: string | undefined;
}

/** An answer whose body the caller reads. */
export interface EgressStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Throws an EgressFailure when the connection breaks, or the signal's reason. Breaking off closes the connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** A request for a connection. */
export interface EgressConnect {
  readonly url: string;
  readonly what: Called;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The answer to a POST. */
export interface EgressAnswer {
  readonly status: number;
  /** Decoded as UTF-8, without a byte order mark. */
  readonly text: string;
  /** True when the answer was longer; the rest was not read. */
  readonly isCut: boolean;
}

/** The answer to a GET. */
export interface EgressFile {
  readonly status: number;
  readonly bytes: Uint8Array;
  /** True when the answer was longer; the rest was not read. */
  readonly isCut: boolean;
}

/** Options of the egress. */
export interface EgressOptions extends Omit<DialerOptions, "policy"> {
  /** True when clients may name hosts of private networks. */
  readonly allowsPrivate: boolean;
  /** `host@network`: private hosts that clients may name in any case. */
  readonly exceptions: readonly string[];
}

/** Returns the egress with the policy of the settings. */
export function createEgress(options: EgressOptions): Egress {
  const policy = createAddressPolicy(options);
  const dialer = { ...options, policy };
  const connections = new Connections();
  const closing = new AbortController();
  const findProblem = (url: string, what: Called = "callback"): string | undefined => {
    const problem = findUrlProblem(url, policy, what);
    if (problem !== undefined) {
      options.onDenied?.(problem.kind);
    }
    return problem?.words;
  };
  const parse = (text: string, what: Called): URL => {
    const problem = findProblem(text, what);
    if (problem !== undefined) {
      throw refuse(problem);
    }
    return new URL(text);
  };
  const openCall = async (url: URL, stop: AbortSignal): Promise<Call> => {
    const route = await findRoute(url, stop, dialer);
    stop.throwIfAborted();
    return { url, route, connections, stop };
  };
  return {
    findProblem,
    post: async (request) => {
      const url = parse(request.url, "callback");
      const { timeoutMs, signal } = request;
      return await withinTime({ ...options, timeoutMs, signals: [signal, closing.signal] }, async (stop) => {
        const call = await openCall(url, stop);
        const { bytes, ...answer } = await exchange(call, { method: "POST", ...request });
        return { ...answer, text: new TextDecoder().decode(bytes) };
      });
    },
    get: async ({ what, ...request }) => {
      const url = parse(request.url, what);
      const { timeoutMs, signal } = request;
      return await withinTime({ ...options, timeoutMs, signals: [signal, closing.signal] }, async (stop) =>
        exchange(await openCall(url, stop), { method: "GET", ...request }),
      );
    },
    open: async ({ what, timeoutMs, signal, ...request }) => {
      const url = parse(request.url, what);
      const life = AbortSignal.any([signal, closing.signal]);
      const response = await withinTime({ ...options, timeoutMs, signals: [life] }, async (stop) => {
        const call = await openCall(url, stop);
        // After the head only `life` aborts: `stop` belongs to the time of the head.
        return await send({ ...call, stop: AbortSignal.any([life, stop]) }, request);
      });
      const { statusCode = 0, headers } = response;
      return { status: statusCode, headers, body: readPieces(response, life) };
    },
    connect: async ({ url: text, what, timeoutMs, signal }) => {
      const url = parse(text, what);
      return await withinTime(
        { ...options, timeoutMs, signals: [signal, closing.signal] },
        async (stop) => await dial({ url, addresses: await findAddresses(url, dialer), protocol: "h2" }, stop, dialer),
      );
    },
    close: () => {
      closing.abort(new EgressFailure("the service is stopping", { isRetryable: false }));
      connections.destroy();
    },
  };
}

interface Limits extends Pick<DialerOptions, "clock"> {
  readonly timeoutMs: number;
  readonly signals: readonly AbortSignal[];
}

/**
 * Ends with the job, at the timeout, or with one of the signals, whichever comes first. Later outcomes of the job are ignored.
 */
async function withinTime<T>(
  { clock, timeoutMs, signals }: Limits,
  job: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const done = new AbortController();
  const late = new EgressFailure(`no complete answer within ${timeoutMs / 1_000} s`, { isRetryable: true });
  for (const signal of signals) {
    signal.addEventListener("abort", () => stop.abort(signal.reason), { once: true, signal: done.signal });
  }
  const stopped = new Promise<never>((_, reject) => {
    stop.signal.addEventListener("abort", () => reject(stop.signal.reason), { once: true });
  });
  void clock.sleep(timeoutMs, done.signal).then(() => {
    if (!done.signal.aborted) {
      stop.abort(late);
    }
  });
  const aborted = signals.find((signal) => signal.aborted);
  if (aborted !== undefined) {
    stop.abort(aborted.reason);
  }
  try {
    return await Promise.race([stopped, attempt(job, stop.signal)]);
  } finally {
    done.abort(over);
  }
}

async function attempt<T>(job: (stop: AbortSignal) => Promise<T>, stop: AbortSignal): Promise<T> {
  try {
    stop.throwIfAborted();
    return await job(stop);
  } catch (error) {
    throw stop.aborted ? stop.reason : describeTrouble(error);
  }
}

async function findRoute(url: URL, stop: AbortSignal, dialer: DialerOptions): Promise<Route> {
  const addresses = await findAddresses(url, dialer);
  return {
    name: [url.protocol, url.host, ...addresses.toSorted()].join(" "),
    connect: () => dial({ url, addresses, protocol: "http/1.1" }, stop, dialer),
  };
}

interface Call {
  readonly url: URL;
  readonly route: Route;
  readonly connections: Connections;
  readonly stop: AbortSignal;
}

interface Outgoing {
  readonly method: string;
  readonly headers?: EgressPost["headers"];
  readonly body?: string | undefined;
}

async function exchange(call: Call, request: Outgoing & Pick<EgressPost, "responseBytesMax">): Promise<EgressFile> {
  const response = await send(call, request);
  return { status: response.statusCode ?? 0, ...(await readBody(response, request.responseBytesMax)) };
}

const userAgent = `Runnel/${version}`;

function send({ url, route, connections, stop }: Call, exchange: Outgoing): Promise<IncomingMessage> {
  const { method, headers, body } = exchange;
  return new Promise((resolve, reject) => {
    const options = { agent: connections, route, signal: stop };
    const request = requestHttp({
      ...options,
      method,
      path: url.pathname + url.search,
      setHost: false,
      headers: {
        host: url.host,
        ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
        // The answer is not decompressed.
        "accept-encoding": "identity",
        "user-agent": userAgent,
        ...headers,
      },
    });
    // Stays attached: errors of a started response are reported by its own stream.
    request.on("error", reject);
    request.once("close", () => reject(new EgressFailure("what came back is no HTTP", { isRetryable: true })));
    request.once("response", resolve);
    request.end(body);
  });
}

async function* readPieces(response: IncomingMessage, life: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* response as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw life.aborted ? life.reason : describeTrouble(error);
  }
}

async function readBody(response: IncomingMessage, bytesMax: number): Promise<Omit<EgressFile, "status">> {
  const pieces: Uint8Array[] = [];
  let leftBytes = bytesMax;
  for await (const piece of response as AsyncIterable<Uint8Array>) {
    pieces.push(piece.subarray(0, leftBytes));
    leftBytes -= piece.byteLength;
    if (leftBytes < 0) {
      break;
    }
  }
  return { bytes: Buffer.concat(pieces), isCut: leftBytes < 0 };
}
