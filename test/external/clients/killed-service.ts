// A service that a test kills with -9 while it answers, and starts again at the same address: what a client library has to survive.

import { expect } from "vitest";
import { answer, hangAfter, type Script } from "../../fakes/provider.ts";
import { openCluster, openProvider } from "../../fault/cluster.ts";
import { findFreePorts } from "../../harness/free-ports.ts";
import { until } from "../../harness/wait.ts";

/** What the run says in the end. */
export const wholeText = "A whole answer, said once.";

/** A service and its death. */
export interface MortalService {
  readonly url: string;
  /** Waits until the reader shows what was said so far, kills the service, and starts another one there. */
  killWhen(what: string, isSeen: () => boolean | Promise<boolean>): Promise<void>;
}

/** Starts the service, whose first answer stops in the middle. `later` are the scripts of the model after that. */
export async function startMortalService(
  settings: Readonly<Record<string, string>> = {},
  ...later: readonly Script[]
): Promise<MortalService> {
  const { provider, environment } = await openProvider();
  provider.respond(hangAfter("A whole answer, that nobody"), answer(wholeText), ...later);
  const [port] = await findFreePorts(1);
  const cluster = await openCluster({ ...environment, RUNNEL_SERVER_PORT: String(port), ...settings });
  const first = await cluster.start();
  return {
    url: first.url,
    killWhen: async (what, isSeen) => {
      await until(what, isSeen);
      await first.kill();
      const { url } = await cluster.start();
      expect(url).toBe(first.url);
    },
  };
}
