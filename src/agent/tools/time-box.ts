// Runs a computation that others have shaped, such as the check of a schema that a caller sent, and ends it when it takes too
// long. It blocks the process while it runs, so the limits are short.

import { createContext, Script } from "node:vm";

/** The result, or undefined when the time was over. What the computation throws is thrown. */
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

// Node can end what a script does, whatever it calls; the computation itself belongs to this realm and knows no other.
const idle = (): void => {};
const ground: { compute: () => void } = { compute: idle };
const context = createContext(ground);
const script = new Script("compute()");
