// An error as fields of a log line: its message, the chain of causes and the stack, which stay in the log.

/** Enough to reach the socket below a failed call; a chain that leads back to itself ends too. */
const causesMax = 5;

export interface ErrorFields {
  readonly error: string;
  readonly causes?: readonly string[];
  readonly stack?: string;
}

export function describeError(error: unknown): ErrorFields {
  if (!(error instanceof Error)) {
    return { error: String(error) };
  }
  const causes: string[] = [];
  for (let { cause } = error; cause !== undefined && causes.length < causesMax; ) {
    causes.push(cause instanceof Error ? cause.message : String(cause));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return {
    error: error.message,
    ...(causes.length > 0 && { causes }),
    ...(error.stack !== undefined && { stack: error.stack }),
  };
}
