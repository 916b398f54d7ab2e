// Whose JobSpecs count: the keys of the settings, read again from time to time, beside those of the database.

import type { AppContext } from "../../platform/context.ts";
import { loadConfiguredKeys, readConfiguredKeys } from "./jobs/configured-keys.ts";
import { Trust } from "./jobs/trust.ts";

/** Throws CONFIG_INVALID. */
export function openTrust({ config, clock, connections, events, closers }: AppContext): Trust {
  const trust = new Trust({
    db: connections.db,
    clock,
    events,
    configured: loadConfiguredKeys(config),
    reread: () => readConfiguredKeys(config),
    // The text of the settings does not change.
    reloadMs: config.trustKeysFile === "" ? 0 : config.trustReloadSeconds * 1_000,
  });
  closers.defer(() => trust.close());
  trust.open();
  return trust;
}
