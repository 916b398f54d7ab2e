// Errors of the system and of Postgres carry a code; this asks for it without trusting the shape.

export function hasErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
