// How property tests keep to a time on a slow machine.

/**
 * Tries examples until the time is over and passes the rest unseen. The example under way comes to its end: with fast-check's
 * `interruptAfterTimeLimit` it would go on behind the test's back.
 */
export function inTime<Values extends readonly unknown[]>(
  limitMs: number,
  tryOut: (...values: Values) => Promise<void>,
): (...values: Values) => Promise<void> {
  const startedMs = performance.now();
  return async (...values) => {
    if (performance.now() - startedMs < limitMs) {
      await tryOut(...values);
    }
  };
}
