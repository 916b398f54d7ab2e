// Calls that survive an absence of the service, as a followed run does. Each may be repeated, because an inbox is sent with the
// sequence that it answers.

import { Code, ConnectError } from "@connectrpc/connect";
import { isExplained } from "../connect.ts";
import { follow, patienceMs } from "../follow.ts";

/** How to wait for the service. */
export interface Patience {
  readonly signal: AbortSignal;
  /** Called once each time that the service goes away. */
  readonly onAway: (why: string) => void;
}

/** Repeats a call while the service is away. Throws the reason of the signal when it aborts. */
export async function callPatiently<T>({ signal, onAway }: Patience, call: () => Promise<T>): Promise<T> {
  const answers = follow<T>({
    open: async function* () {
      yield [await untilDone(call)];
    },
    patienceMs,
    signal,
    onReconnect: (_last, why) => onAway(why),
  });
  for await (const answer of answers) {
    return answer;
  }
  throw signal.reason;
}

/** Repeats a call after its deadline: commands may run longer than a call, they continue, and the next call waits for them. */
async function untilDone<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ConnectError && error.code === Code.DeadlineExceeded && isExplained(error))) {
        throw error;
      }
    }
  }
}
