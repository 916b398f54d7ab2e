// The requirements of `serve`, checked before it opens: credentials for clients, a model, readable certificates.

import { type Config, isAuthConfigured, isProviderConfigured, type KeyName, keys, type SettingsTable } from "./keys.ts";
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
export function checkRequirements(resolution: Resolution, { findProblems }: SettingsTable): Requirements {
  const missing = resolution.isComplete ? requirements.filter((each) => isMissing(each, resolution)) : [];
  const list = missing.map((each) => each.name).join(", ");
  const problems = missing.length === 0 ? [] : [{ field: list, text: `missing required config: ${list}` }];
  return {
    problems: [
      ...problems,
      ...findKeyWithoutServer(resolution),
      ...findProblems(resolution.config, (name) => resolution.settings[name].isValid),
      ...findTlsProblems(resolution.config),
    ],
    hint: missing.length === 0 ? undefined : [...missing.map((each) => each.fix), devNeedsNone].join("\n"),
  };
}

interface Requirement {
  /** Its name in the Agent Runner document. */
  readonly name: string;
  readonly isMet: (config: Config) => boolean;
  /** An invalid setting among these is reported as invalid, not as missing. */
  readonly keys: readonly KeyName[];
  readonly fix: string;
}

const demoModelName = "demo";
const devNeedsNone = "`runnel dev` needs none of it.";

const requirements: readonly Requirement[] = [
  {
    name: keys.authHmacSecret.path,
    isMet: isAuthConfigured,
    keys: ["authHmacSecret", "authApiKeys", "authAdminToken"],
    fix: "Callers must authenticate: set RUNNEL_AUTH_HMAC_SECRET, …_API_KEYS or …_ADMIN_TOKEN.",
  },
  {
    name: "at least one provider key/url",
    isMet: (config) => isProviderConfigured(config) || config.defaultModel === demoModelName,
    keys: [
      "openaiKey",
      "openaiBaseUrl",
      "geminiKey",
      "geminiBaseUrl",
      "anthropicKey",
      "anthropicBaseUrl",
      "compatibleBaseUrl",
    ],
    fix:
      "Runs need a model: set RUNNEL_PROVIDERS_OPENAI_KEY, …_GEMINI_KEY, …_ANTHROPIC_KEY or …_COMPATIBLE_BASE_URL, " +
      "or RUNNEL_DEFAULTS_MODEL=demo.",
  },
];

function isMissing(requirement: Requirement, { config, settings }: Resolution): boolean {
  return !requirement.isMet(config) && requirement.keys.every((name) => settings[name].isValid);
}

function findKeyWithoutServer({ config, settings }: Resolution): Problem[] {
  const pairs = [
    ["compatibleKey", "compatibleBaseUrl"],
    ["rerankKey", "rerankBaseUrl"],
  ] as const;
  const lost = pairs.filter(([key, url]) => config[key] !== "" && config[url] === "" && settings[url].isValid);
  return lost.map(([key, url]) => {
    const path = keys[key].path;
    return { field: path, text: `${path} has no server to go to: set ${keys[url].path} too` };
  });
}
