// What a process stops before it ends at once, because it would run on without the process: Postgres, or a service of its own.
// The code that starts it registers how to stop it. The command that ends the process runs what is registered.

import { systemClock } from "./clock.ts";

type Stop = () => Promise<unknown>;

/** Of this process, which ends once. */
const stops = new Set<Stop>();

/** Registers `stop` until the returned handle is disposed. */
export function beforeForcedEnd(stop: Stop): Disposable {
  stops.add(stop);
  return { [Symbol.dispose]: () => void stops.delete(stop) };
}

/** Runs everything that is registered, side by side, and waits at most `timeoutMs`. Never rejects: the process ends anyway. */
export async function stopBeforeForcedEnd(timeoutMs: number): Promise<void> {
  const stopped = Promise.allSettled([...stops].map((stop) => stop()));
  await Promise.race([stopped, systemClock.sleep(timeoutMs)]);
}
