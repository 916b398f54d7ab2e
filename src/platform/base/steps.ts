// Slices work that takes much CPU: a generator yields where other work may run in between.

/** Does all steps at once, for a caller without other work. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) {
      return value;
    }
  }
}

/** Lets the event loop run all other work between two steps. */
export async function byTurns<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) {
      return value;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
