// A mutex by key. The calls of one turn run in parallel, and two edits of one file must not both start from the same old text.

const lastByKey = new Map<string, Promise<void>>();

/** Runs `action` after all earlier actions under the same key. Works within this process only. */
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
