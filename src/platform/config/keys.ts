// The settings of the core, in one table. Protocols add their own; the loader, its messages and the documentation use the
// joined table.

import type { Key, KeyTable, ValuesOf } from "./key.ts";
import { authKeys, type ClientKey } from "./keys/auth.ts";
import { modelKeys } from "./keys/models.ts";
import { operationKeys } from "./keys/operation.ts";
import { serverKeys } from "./keys/server.ts";
import { sessionKeys } from "./keys/sessions.ts";
import { toolKeys } from "./keys/tools.ts";
import type { Problem } from "./problem.ts";

export type { ClientKey, Key, KeyTable, ValuesOf };

/** The settings of the core. */
export const keys = {
  ...serverKeys,
  ...authKeys,
  ...modelKeys,
  ...sessionKeys,
  ...toolKeys,
  ...operationKeys,
} as const satisfies Record<string, Key<unknown>>;

/** The values of all settings, by name and type. Each protocol merges its own into it. */
export interface Config extends ValuesOf<typeof keys> {}

/** The name of a setting in code. */
export type KeyName = keyof Config;

/** A setting, or one of several, without which `serve` does not start. `runnel dev` starts without it. */
export interface Requirement {
  /** Its name in the Agent Runner document. */
  readonly name: string;
  readonly isMet: (config: Config) => boolean;
  /** An invalid setting among these is reported as invalid, not as missing. */
  readonly keys: readonly KeyName[];
  readonly fix: string;
}

/** The settings of the core and of all protocols, joined by `app/settings.ts`. */
export interface SettingsTable {
  readonly keys: KeyTable;
  /**
   * Returns problems between settings that are valid one by one. `isValid` returns false for a setting that already has a
   * problem.
   */
  readonly findProblems: (config: Config, isValid: (name: KeyName) => boolean) => readonly Problem[];
  readonly requirements: readonly Requirement[];
  /** Secrets, each with the base URL of the only server that it goes to. `serve` refuses a secret without its server. */
  readonly serverKeys: readonly (readonly [secret: keyof typeof keys, baseUrl: keyof typeof keys])[];
  /** The defaults of `runnel dev` that differ. */
  readonly devDefaults: Partial<Config>;
}

/** Variables that are no settings of the service. Commands use them to call the service; tests use RUNNEL_FAILPOINT to crash it. */
export const variablesOfCommands: readonly string[] = [
  "RUNNEL_ADMIN_TOKEN",
  "RUNNEL_API_KEY",
  "RUNNEL_CLIENT_ID",
  "RUNNEL_FAILPOINT",
  "RUNNEL_PROFILE",
  "RUNNEL_URL",
];

/** Returns true when any credentials are configured. Callers must then authenticate. */
export function isAuthConfigured(config: Config): boolean {
  const { authHmacSecret, authApiKeys, authAdminToken, authAuthorizationServer } = config;
  return (
    authHmacSecret !== "" || authApiKeys.length > 0 || authAdminToken !== "" || authAuthorizationServer !== undefined
  );
}
