// Failures of calls: those that pass, after which the same call is made again, and those that end the attempt.

export interface ChatErrorOptions {
  /** Whether the same call may succeed later. */
  readonly isTransient?: boolean;
  /** How long the callee wants the caller to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** What the site says to the visitor. */
  readonly forVisitor?: string | undefined;
}

export class ChatError extends Error {
  override readonly name = "ChatError";
  readonly isTransient: boolean;
  readonly retryAfterMs: number | undefined;
  readonly forVisitor: string | undefined;

  constructor(message: string, { isTransient = false, retryAfterMs, forVisitor }: ChatErrorOptions = {}) {
    super(message);
    this.isTransient = isTransient;
    this.retryAfterMs = retryAfterMs;
    this.forVisitor = forVisitor;
  }
}

/** Returns whether a failed call may succeed later. What `fetch` throws is a lost connection. */
export function isTransient(error: unknown): boolean {
  return !(error instanceof ChatError) || error.isTransient;
}

/** Returns whether the same request may get another status later. */
export function isTransientStatus(status: number): boolean {
  return status >= 500 ? status !== 501 : [408, 425, 429].includes(status);
}

/** Returns the header `Retry-After` in milliseconds; undefined without one, or with a date. */
export function readRetryAfterMs(response: Response): number | undefined {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1_000 : undefined;
}
