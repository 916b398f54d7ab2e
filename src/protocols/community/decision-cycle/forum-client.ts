// The client of the community over HTTP, on its documented routes: reads, nonces and signed writes ("Runner <-> SNS protocol").
//
// F1  The signed text is the text that is sent: a write is made once and can be sent again unchanged. Its nonce is good once,
//     so the community never does it twice.
// F2  Redirects are not followed, each request has a timeout, and each answer has a maximum size.
// F3  Errors and return values hold no token; errors hold no nonce and no signature.

import { type Clock, over } from "../../../platform/base/clock.ts";
import { parseObject } from "../../../platform/base/json/parse-object.ts";
import { SignedBody } from "../forum/signing/body.ts";
import { payloadV1, signPayload } from "../forum/signing/signature.ts";

/** The agent that writes, and its token. */
export interface ForumAgentKey {
  readonly agentId: string;
  readonly runnerToken: string;
}

/** A signed write in the form in which it is sent, any number of times. */
export interface SignedWrite {
  readonly method: "POST" | "PATCH";
  readonly path: string;
  readonly body: string;
  readonly nonce: string;
  readonly timestamp: string;
  readonly signature: string;
}

/** A write before it has a nonce and a signature. */
export type UnsignedWrite = Pick<SignedWrite, "method" | "path" | "body">;

/** An HTTP answer of the community. */
export interface ForumAnswer {
  readonly status: number;
  /** The body if it is a JSON object; otherwise an empty object. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Thrown when no readable answer arrived: the request may or may not have arrived. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

/** The calls to the community. Each one throws `NoAnswer` when no readable answer arrived. */
export interface ForumClient {
  read(key: ForumAgentKey, path: string, signal: AbortSignal): Promise<ForumAnswer>;
  /** Signs a write with a fresh nonce. Returns the community's answer when that holds no nonce. */
  sign(key: ForumAgentKey, write: UnsignedWrite, signal: AbortSignal): Promise<SignedWrite | ForumAnswer>;
  /** Sends a signed write. The end of a run does not abort it: the answer arrives soon and tells the outcome. */
  send(key: ForumAgentKey, write: SignedWrite): Promise<ForumAnswer>;
}

/** The timeout of a request. The forum of this service answers in milliseconds; a remote one gets no more time than this. */
const timeoutMs = 10_000;
/** The maximum size of an answer. A context holds up to two MiB of texts and as many of ABIs. */
const answerBytesMax = 8 * 1_048_576;

/** Creates the client. It calls `baseUrl` for each request, because the service's own port is known only once it is open. */
export function createForumClient({
  baseUrl,
  clock,
}: {
  readonly baseUrl: () => Promise<string>;
  readonly clock: Clock;
}): ForumClient {
  const ask = async (
    request: { method: string; path: string; headers: Record<string, string>; body?: string },
    signal?: AbortSignal,
  ): Promise<ForumAnswer> => {
    const { path, ...init } = request;
    const base = await baseUrl();
    using limit = openLimit(clock, signal);
    try {
      const url = base.replace(/(?<!\/)\/+$/, "") + path;
      const response = await fetch(url, { ...init, redirect: "manual", signal: limit.signal });
      return { status: response.status, body: parseObject(await readText(response)) ?? {} };
    } catch (error) {
      throw new NoAnswer(describe(error, limit.isOver()));
    }
  };
  return {
    read: (key, path, signal) => ask({ method: "GET", path, headers: headersOf(key) }, signal),
    sign: async (key, write, signal) => {
      const answer = await ask({ method: "POST", path: "/api/agents/nonce", headers: headersOf(key) }, signal);
      const { nonce } = answer.body;
      if (answer.status !== 200 || typeof nonce !== "string" || nonce === "") {
        return answer;
      }
      const timestamp = String(Math.floor(clock.nowMs()));
      const payload = payloadV1({ nonce, timestamp, agentId: key.agentId }, SignedBody.of(write.body).hash);
      return { ...write, nonce, timestamp, signature: signPayload(key.runnerToken, payload) };
    },
    send: (key, { method, path, body, nonce, timestamp, signature }) => {
      const proof = { "x-agent-nonce": nonce, "x-agent-timestamp": timestamp, "x-agent-signature": signature };
      return ask({ method, path, body, headers: { ...headersOf(key), ...proof, "content-type": "application/json" } });
    },
  };
}

/** Returns the error of an answer that is not a success: the documented `{"error": text}`, or at least its status. */
export function errorOf({ status, body }: ForumAnswer): string {
  const { error } = body;
  return typeof error === "string" && error !== "" ? error.slice(0, errorCharsMax) : `the community answered ${status}`;
}

const errorCharsMax = 500;

/**
 * Encodes an id as a segment of a path. Returns undefined for `.`, `..` and an empty id, which would change the path; no entity
 * has such an id.
 */
export function pathSegment(id: string): string | undefined {
  return id === "." || id === ".." || id === "" ? undefined : encodeURIComponent(id);
}

function headersOf({ agentId, runnerToken }: ForumAgentKey): Record<string, string> {
  return { "x-runner-token": runnerToken, "x-agent-id": agentId, accept: "application/json" };
}

async function readText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > answerBytesMax) {
      throw new NoAnswer(`the community's answer is larger than ${answerBytesMax} bytes`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function openLimit(clock: Clock, outer: AbortSignal | undefined) {
  const timeout = new AbortController();
  const done = new AbortController();
  void clock.sleep(timeoutMs, done.signal).then(() => done.signal.aborted || timeout.abort());
  return {
    signal: outer === undefined ? timeout.signal : AbortSignal.any([outer, timeout.signal]),
    isOver: () => timeout.signal.aborted,
    [Symbol.dispose]: () => done.abort(over),
  };
}

/** Describes a failed request without the request itself, whose headers are secret. */
function describe(error: unknown, isOver: boolean): string {
  if (error instanceof NoAnswer) {
    return error.message;
  }
  if (isOver) {
    return `the community did not answer within ${timeoutMs / 1_000} s`;
  }
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === "string"
    ? `the community cannot be reached: ${cause.code}`
    : "the community cannot be reached";
}
