// The way out, as deliveries see it.

export interface PostRequest {
  /** Whose secret signs it. */
  readonly client: string;
  readonly sessionName: string;
  readonly url: string;
  /** JSON. */
  readonly body: string;
  /** From the start to the end of the answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Signs and sends a request and resolves with the status of the answer. Rejects when there is none within the time, or when
 * the address is not one that may be called. Follows no redirect, and reads no more of an answer than it has to.
 */
export type Post = (request: PostRequest) => Promise<{ readonly status: number }>;
