// Runs a computation on input of others, such as the check of a client's schema, with a time limit. It blocks the process
// meanwhile, so the limits are short.

import { createContext, Script } from "node:vm";

/** Returns the result, or undefined when the time was over. Rethrows what the computation throws. */
export function runInTime<T>(timeoutMs: number, compute: () => T): { readonly result: T } | undefined {
  let ended: { readonly result: T } | undefined;
  ground.compute = () => {
    ended = { result: compute() };
  };
  try {
    script.runInContext(context, { timeout: Math.max(1, Math.ceil(timeoutMs)) });
    return ended;
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") {
      return undefined;
    }
    throw error;
  } finally {
    ground.compute = idle;
  }
}

// Node can interrupt everything that a script calls. The computation itself belongs to this realm.
const idle = (): void => {};
const ground: { compute: () => void } = { compute: idle };
const context = createContext(ground);
const script = new Script("compute()");
