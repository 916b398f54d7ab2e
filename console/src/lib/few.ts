// Many calls, few at the same time.

const parallelMax = 4;

/** Does the work for each item, and resolves when all is done. The first error ends it. */
export async function eachOfFew<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const rest = [...items];
  const workOff = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) {
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: parallelMax }, workOff));
}
