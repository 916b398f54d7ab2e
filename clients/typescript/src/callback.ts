// Status callbacks: whether a request comes from the service. docs/status-callbacks.md.

import { encodeText, isHmacSha256, join } from "./crypto.ts";
import { RunnelError } from "./error.ts";

/** A request that claims to be a status callback. */
export interface ReceivedCallback {
  /** The secret of this client. */
  readonly secret: string;
  /** The headers as received; names in any case. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as received, before any parsing. */
  readonly body: string | Uint8Array;
  /** The current time; unset means that of this machine. */
  readonly nowMs?: number;
}

/** The body of a status callback. */
export interface CallbackBody {
  readonly session_id: string;
  readonly client_id: string;
  readonly status: "created" | "running" | "completed" | "failed" | "cancelled";
  readonly error?: string;
  readonly output?: string;
  readonly turns?: number;
  readonly duration_ms?: number;
  readonly run_id?: string;
  readonly sequence: number;
  /** The same for each attempt to deliver the callback. */
  readonly callback_id: string;
}

const toleranceSeconds = 120;

/**
 * Returns the body of a callback that the service has signed. Throws a RunnelError INVALID_ARGUMENT for any other request. The
 * caller remembers nonces (`X-Nonce`) for two minutes, or `callback_id`, to notice a request that is sent again.
 */
export async function verifyCallback({
  secret,
  headers,
  body,
  nowMs = Date.now(),
}: ReceivedCallback): Promise<CallbackBody> {
  const [signature, timestamp, nonce] = ["x-signature", "x-timestamp", "x-nonce"].map((name) =>
    readHeader(headers, name),
  );
  if (!signature || !timestamp || !nonce) {
    throw refuse("CREDENTIALS_MISSING", "missing signature, timestamp, or nonce");
  }
  if (!/^[1-9]\d{0,15}$/.test(timestamp)) {
    throw refuse("TIMESTAMP_INVALID", "invalid timestamp");
  }
  if (Math.abs(Number(timestamp) - Math.floor(nowMs / 1_000)) > toleranceSeconds) {
    throw refuse("TIMESTAMP_EXPIRED", `the timestamp is more than ${toleranceSeconds} seconds from the current time`);
  }
  const hex = /^sha256=([0-9a-f]{64})$/.exec(signature)?.[1];
  const bytes = typeof body === "string" ? encodeText(body) : body;
  const signed = join([encodeText(`${timestamp}.${nonce}.`), bytes]);
  if (hex === undefined || !(await isHmacSha256(secret, fromHex(hex), signed))) {
    throw refuse("SIGNATURE_INVALID", "invalid signature: the body was changed, or another secret has signed it");
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw refuse("BODY_INVALID", "the body is not JSON", cause);
  }
}

function readHeader(headers: ReceivedCallback["headers"], name: string): string | undefined {
  if (headers instanceof Headers) {
    return headers.get(name) ?? undefined;
  }
  const values = Object.entries(headers).flatMap(([each, value]) => (each.toLowerCase() === name ? (value ?? []) : []));
  // A header that came twice is not the service's.
  return values.length === 1 ? values[0] : undefined;
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

function refuse(reason: string, message: string, cause?: unknown): RunnelError {
  return new RunnelError("INVALID_ARGUMENT", message, { reason, cause });
}
