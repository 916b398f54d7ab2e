// Converts an error to fields of a log line: its message, its chain of causes and its stack, which stay in the log.

/** The maximum number of causes: enough to reach the socket below a failed call. It also ends a circular chain. */
const causesMax = 5;

/** An error as log fields. */
export interface ErrorFields {
  readonly error: string;
  readonly causes?: readonly string[];
  readonly stack?: string;
}

/** Returns the fields of an error, or of any thrown value. */
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
