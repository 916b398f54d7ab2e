// The changes of files that a tool call makes.

/** A changed file, or a part of one. */
export interface FileChange {
  readonly path: string;
  /** Undefined where the call does not say what was there before: for a new file, and for one that is replaced. */
  readonly before: string | undefined;
  readonly after: string;
}

/**
 * Returns the changes that a tool call makes, from its arguments and its result. Coding agents send `diffs`; of the built-in tools
 * `edit_file` has both sides, and `write_file` the new one.
 */
export function changesOf(
  given: Readonly<Record<string, unknown>>,
  result: Readonly<Record<string, unknown>> = {},
): readonly FileChange[] {
  const diffs = [result.diffs, given.diffs].find((each) => Array.isArray(each) && each.length > 0);
  if (Array.isArray(diffs)) {
    return diffs.flatMap(readDiff);
  }
  const { file_path: path = given.path, old_string: before, new_string: after, content } = given;
  if (typeof path !== "string") {
    return [];
  }
  if (typeof before === "string" && typeof after === "string") {
    return [{ path, before, after }];
  }
  return typeof content === "string" ? [{ path, before: undefined, after: content }] : [];
}

function readDiff(value: unknown): readonly FileChange[] {
  const { path, old_text: before, new_text: after } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof path === "string" && typeof after === "string"
    ? [{ path, before: typeof before === "string" ? before : undefined, after }]
    : [];
}
