// The requirements of `serve`, checked before it opens: credentials for clients, a model, readable certificates.

import { isAuthConfigured, keys, type Requirement, type SettingsTable } from "./keys.ts";
import type { Problem } from "./problem.ts";
import type { Resolution } from "./resolve.ts";
import { findTlsProblems } from "./tls-files.ts";

/** Unmet requirements. */
export interface Requirements {
  readonly problems: readonly Problem[];
  /** How to meet them. */
  readonly hint: string | undefined;
}

/** Returns the problems that keep `serve` from starting. */
export function checkRequirements(resolution: Resolution, table: SettingsTable): Requirements {
  const requirements = [credentials, ...table.requirements];
  const missing = resolution.isComplete ? requirements.filter((each) => isMissing(each, resolution)) : [];
  const list = missing.map((each) => each.name).join(", ");
  const problems = missing.length === 0 ? [] : [{ field: list, text: `missing required config: ${list}` }];
  return {
    problems: [
      ...problems,
      ...findKeyWithoutServer(resolution, table),
      ...table.findProblems(resolution.config, (name) => resolution.settings[name].isValid),
      ...findTlsProblems(resolution.config),
    ],
    hint: missing.length === 0 ? undefined : [...missing.map((each) => each.fix), devNeedsNone].join("\n"),
  };
}

const devNeedsNone = "`runnel dev` needs none of it.";

const credentials: Requirement = {
  name: keys.authHmacSecret.path,
  isMet: isAuthConfigured,
  keys: ["authHmacSecret", "authApiKeys", "authAdminToken", "authAuthorizationServer"],
  fix: "Callers must authenticate: set RUNNEL_AUTH_HMAC_SECRET, …_API_KEYS or …_ADMIN_TOKEN.",
};

function isMissing(requirement: Requirement, { config, settings }: Resolution): boolean {
  return !requirement.isMet(config) && requirement.keys.every((name) => settings[name].isValid);
}

function findKeyWithoutServer({ config, settings }: Resolution, { serverKeys }: SettingsTable): Problem[] {
  const lost = serverKeys.filter(([key, url]) => config[key] !== "" && config[url] === "" && settings[url].isValid);
  return lost.map(([key, url]) => {
    const path = keys[key].path;
    return { field: path, text: `${path} is set but ${keys[url].path} is not: set both` };
  });
}
