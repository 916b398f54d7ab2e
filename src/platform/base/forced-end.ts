// What a process stops before it ends at once, because it would otherwise outlive the process: Postgres, or a child service.
// The code that starts it registers a stop function. The command that ends the process runs the registered functions.

import { systemClock } from "./clock.ts";

type Stop = () => Promise<unknown>;

/** The registered functions of this process, which ends once. */
const stops = new Set<Stop>();

/** Registers `stop` until the returned handle is disposed. */
export function beforeForcedEnd(stop: Stop): Disposable {
  stops.add(stop);
  return { [Symbol.dispose]: () => void stops.delete(stop) };
}

/** Runs all registered functions concurrently and waits at most `timeoutMs`. Never rejects: the process ends anyway. */
export async function stopBeforeForcedEnd(timeoutMs: number): Promise<void> {
  const stopped = Promise.allSettled([...stops].map((stop) => stop()));
  await Promise.race([stopped, systemClock.sleep(timeoutMs)]);
}
