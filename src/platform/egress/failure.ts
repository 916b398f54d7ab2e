// Why a call to somebody else's host came to nothing, in words that may be shown to whoever asked for the call.

export class EgressFailure extends Error {
  override readonly name = "EgressFailure";
  /** True for what may be different the next time; a refused target stays refused. */
  readonly isRetryable: boolean;

  constructor(message: string, options: { readonly isRetryable: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.isRetryable = options.isRetryable;
  }
}

/** What speaks against a target: how its URL is written, a name of this machine, or an address that is not for callers. */
export type DeniedKind = "url" | "name" | "address";

export function refuse(message: string): EgressFailure {
  return new EgressFailure(message, { isRetryable: false });
}

/** Whatever went wrong on the way. Node's own messages name addresses, which are nobody's business but the operator's. */
export function describeTrouble(error: unknown): EgressFailure {
  if (error instanceof EgressFailure) {
    return error;
  }
  const { code } = error as { code?: unknown };
  const words = typeof code === "string" ? (troubles[code] ?? describeCode(code)) : "connection failed";
  return new EgressFailure(words, { isRetryable: true, cause: error });
}

/** A certificate that is wrong now may be right after its owner has looked at it, but not within seconds. */
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
