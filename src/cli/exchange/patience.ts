// Calls that outlast a service that goes away, as a followed run does. All of them may be repeated: an inbox is named with the
// sequence that it answers.

import { Code, ConnectError } from "@connectrpc/connect";
import { isExplained } from "../connect.ts";
import { follow, patienceMs } from "../follow.ts";

export interface Patience {
  readonly signal: AbortSignal;
  /** Told once each time that the service goes away. */
  readonly onAway: (why: string) => void;
}

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

/** Commands may run for longer than a call may take; they go on, and the same call again waits for them. */
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
