// What workers and the runs that they have are brought together by.

import { RunTokens } from "../platform/auth/run-token.ts";
import { loadSecret } from "../platform/auth/storage/secret.ts";
import { Forwarding } from "../protocols/langbot/runners/forwarding.ts";
import { Mailboxes } from "../protocols/langbot/runners/mailbox.ts";
import type { Ground } from "./ground.ts";
import type { Runlog } from "./open-log.ts";

export interface Runners {
  readonly mailboxes: Mailboxes;
  readonly forwarding: Forwarding;
  /** What runners call their host with. */
  readonly runTokens: RunTokens;
}

export async function openRunners(
  { clock, events, connections, closers }: Ground,
  { wakeup }: Runlog,
): Promise<Runners> {
  const mailboxes = new Mailboxes();
  const forwarding = new Forwarding({ db: connections.db, clock, wakeup, events, mailboxes });
  closers.defer(() => forwarding.close());
  forwarding.open();
  const runTokens = new RunTokens(await loadSecret(connections.db, "run token"));
  return { mailboxes, forwarding, runTokens };
}
