// Whose JobSpecs count: the keys of the settings, read again from time to time, beside those of the database.

import { readConfiguredKeys } from "../protocols/jobspec/jobs/configured-keys.ts";
import { Trust } from "../protocols/jobspec/jobs/trust.ts";
import type { TrustedKey } from "../protocols/jobspec/spec/trust-list.ts";
import type { Ground } from "./ground.ts";

/** `configured` are the settings' keys as they were at the start. */
export function openTrust(
  {
    config,
    clock,
    connections,
    events,
    closers,
  }: Pick<Ground, "config" | "clock" | "connections" | "events" | "closers">,
  configured: readonly TrustedKey[],
): Trust {
  const trust = new Trust({
    db: connections.db,
    clock,
    events,
    configured,
    reread: () => readConfiguredKeys(config),
    // The text of the settings does not change.
    reloadMs: config.trustKeysFile === "" ? 0 : config.trustReloadSeconds * 1_000,
  });
  closers.defer(() => trust.close());
  trust.open();
  return trust;
}
