// Which language code is in, by where it comes from.

/** Returns the end of the name of a file, which tells its language. Example: `ts` of `src/main.ts`. */
export function languageOfPath(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("."), path.lastIndexOf("/")) + 1);
}

/** Returns JSON for an object or a list, and no language for other texts. */
export function languageOfJson(text: string): string {
  return /^\s*[{[]/.test(text) ? "json" : "";
}
