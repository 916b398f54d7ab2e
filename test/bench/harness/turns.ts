// Pieces of work in this process, measured so that they can be compared.

import { measure } from "./meter.ts";

/** The number of slices of a piece of work, so that all pieces meet the same moments of the machine. */
const slices = 5;

/** Returns the CPU seconds of one call of each work, from `count` calls in each of their turns. */
export async function takeTurns<const Works extends readonly (() => void)[]>(
  count: number,
  works: Works,
): Promise<{ [Index in keyof Works]: number }> {
  const seconds = works.map(() => 0);
  for (let slice = 0; slice < slices; slice += 1) {
    for (const [index, work] of works.entries()) {
      const { cost } = await measure({}, async () => {
        for (let call = 0; call < count; call += 1) {
          work();
        }
      });
      seconds[index] = (seconds[index] ?? 0) + cost.client;
    }
  }
  return seconds.map((each) => each / slices / count) as { [Index in keyof Works]: number };
}
