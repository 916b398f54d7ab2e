// One question at a time, however many ask it.

/** The same question, except that whoever asks while an answer is on its way gets that one. */
export function joined<T>(ask: () => Promise<T>): () => Promise<T> {
  let asking: Promise<T> | undefined;
  return () => {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}
