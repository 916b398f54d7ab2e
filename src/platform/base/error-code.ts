// Reads the `code` of errors from the system and from Postgres.

/** Returns true when `error` is an Error with one of the codes: `hasErrorCode(error, "ENOENT")`. */
export function hasErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
