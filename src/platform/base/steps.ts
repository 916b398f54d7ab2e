// Long work in steps: a generator that gives others their turn wherever it yields, for those who let it.

/** Does all of it at once, for whoever has nothing else to do. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) {
      return value;
    }
  }
}

/** Lets everything else of this process have its turn between two steps. */
export async function byTurns<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) {
      return value;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
