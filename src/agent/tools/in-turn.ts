// One after the other for those who want the same thing: calls of one turn run together, and two edits of one file must
// not both start from the text before them.

const lastByKey = new Map<string, Promise<void>>();

/** Runs `action` after all that were asked for before under the same key. Holds within this process. */
export async function inTurn<Result>(key: string, action: () => Promise<Result>): Promise<Result> {
  const before = lastByKey.get(key);
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  lastByKey.set(key, over);
  try {
    await before;
    return await action();
  } finally {
    end();
    if (lastByKey.get(key) === over) {
      lastByKey.delete(key);
    }
  }
}
