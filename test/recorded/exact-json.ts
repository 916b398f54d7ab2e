// Reads JSON with every digit of its numbers, and finds values in it. Shares no code with `src`, because it judges that code.

/**
 * Parses JSON. A number becomes an object that prints as it was written.
 * @throws SyntaxError for invalid JSON.
 */
export function readExact(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" ? JSON.rawJSON(context?.source ?? String(value)) : value,
  );
}

/** Returns JSON without white space, with every digit; any other text unchanged. */
export function toCanonical(text: string): string {
  try {
    return JSON.stringify(readExact(text));
  } catch {
    return text;
  }
}

/** Returns the value at a path, or undefined. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (holder, step) =>
      typeof holder === "object" && holder !== null ? (holder as Record<string | number, unknown>)[step] : undefined,
    value,
  );
}

/** Returns the text at a path; an empty text for any other value. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

/** Returns the number at a path, or undefined. */
export function countAt(value: unknown, ...path: readonly (string | number)[]): number | undefined {
  const found = at(value, ...path);
  return JSON.isRawJSON(found) ? Number(found.rawJSON) : undefined;
}

/** Returns the list at a path; an empty list for any other value. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Returns whether there is a value other than null at a path. */
export function hasAt(value: unknown, ...path: readonly (string | number)[]): boolean {
  return (at(value, ...path) ?? null) !== null;
}

/** Returns the latest number at a path of any of the values, or undefined. */
export function latestCount(values: readonly unknown[], ...path: readonly (string | number)[]): number | undefined {
  return values.map((value) => countAt(value, ...path)).findLast((count) => count !== undefined);
}
