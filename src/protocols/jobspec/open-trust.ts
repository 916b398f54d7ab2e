// Opens the trusted keys: those of the settings, reloaded from time to time, and those of the database.

import type { AppContext } from "../../platform/context.ts";
import { loadConfiguredKeys, readConfiguredKeys } from "./jobs/configured-keys.ts";
import { Trust } from "./jobs/trust.ts";

/** Opens the trusted keys, and closes them with the service. Throws CONFIG_INVALID. */
export function openTrust({ config, clock, connections, events, closers }: AppContext): Trust {
  const trust = new Trust({
    db: connections.db,
    clock,
    events,
    configured: loadConfiguredKeys(config),
    reread: () => readConfiguredKeys(config),
    // Only the file can change while the service runs.
    reloadMs: config.trustKeysFile === "" ? 0 : config.trustReloadSeconds * 1_000,
  });
  closers.defer(() => trust.close());
  trust.open();
  return trust;
}
