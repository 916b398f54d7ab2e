// Keeps property tests within a time on a slow machine.

/**
 * Tries examples until the time is over and passes the rest unseen. The current example runs to its end. With fast-check's
 * `interruptAfterTimeLimit` it would continue after the end of the test.
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
