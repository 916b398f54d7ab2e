// Merges concurrent calls of one function.

/** Returns the same function, except that a call during a pending one gets the pending one's answer. */
export function joined<T>(ask: () => Promise<T>): () => Promise<T> {
  let asking: Promise<T> | undefined;
  return () => {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}
