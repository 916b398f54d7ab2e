// The failure of a call to a client's host, in words that the client may see.

/** A call without a usable answer. */
export class EgressFailure extends Error {
  override readonly name = "EgressFailure";
  /** True when a retry may succeed; a refused target stays refused. */
  readonly isRetryable: boolean;

  constructor(message: string, options: { readonly isRetryable: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.isRetryable = options.isRetryable;
  }
}

/** The reason of a refusal: the form of the URL, a name of this machine, or an address that clients may not reach. */
export type DeniedKind = "url" | "name" | "address";

/** Returns the failure of a refused target, which is not retryable. */
export function refuse(message: string): EgressFailure {
  return new EgressFailure(message, { isRetryable: false });
}

/** Converts any connection error. Node's own messages contain addresses, which only the operator may see. */
export function describeTrouble(error: unknown): EgressFailure {
  if (error instanceof EgressFailure) {
    return error;
  }
  const { code } = error as { code?: unknown };
  const words = typeof code === "string" ? (troubles[code] ?? describeCode(code)) : "connection failed";
  return new EgressFailure(words, { isRetryable: true, cause: error });
}

/** Converts a TLS error. Certificate errors are not retryable: their owner may fix them, but not within seconds. */
export function describeTlsTrouble(error: unknown): EgressFailure {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code !== "string" || code in troubles) {
    return describeTrouble(error);
  }
  return new EgressFailure(`no trust in the TLS of the host: ${String(message)}`, { isRetryable: false, cause: error });
}

const troubles: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset: it was closed before the answer was complete",
  EPIPE: "connection reset: it was closed before the answer was complete",
  ETIMEDOUT: "connection timed out",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the host",
  ENOTFOUND: "no such host",
  ENODATA: "no such host",
  EAI_AGAIN: "the name of the host could not be resolved",
};

function describeCode(code: string): string {
  return code.startsWith("HPE_") ? "what came back is no HTTP" : `connection failed (${code})`;
}
