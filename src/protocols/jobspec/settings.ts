// The settings `trust` and `jobs`: whose JobSpecs are run, and where. The variables without a prefix are those of the service
// that the signing contract is from.

import type { ProtocolSettings } from "../../api/protocol.ts";
import type { Config, ValuesOf } from "../../platform/config/keys.ts";
import { flag, integer, list, text } from "../../platform/config/kinds.ts";
import type { Problem } from "../../platform/config/problem.ts";
import { findKeyProblems } from "./jobs/configured-keys.ts";

const daySec = 86_400;
/** The form of regions, which are part of key scopes, answers and sessions. */
const regionForm = { item: /^[A-Za-z0-9._-]{1,64}$/, expected: "names of regions such as EU, separated by commas" };

const jobspecKeys = {
  trustEnforce: flag({
    path: "trust.enforce",
    also: ["TRUST_ENFORCE"],
    fallback: true,
    about: "Whether JobSpecs must be signed by a trusted key, with a timestamp and a nonce; off in `dev`.",
  }),
  trustKeysJson: text({
    path: "trust.keys_json",
    also: ["TRUSTED_KEYS_JSON"],
    about: "Trusted keys as a JSON array of `{kid, public_key, status, not_before, not_after}`.",
  }),
  trustKeysFile: text({
    path: "trust.keys_file",
    also: ["TRUSTED_KEYS_FILE"],
    about: "File with more trusted keys, in the same form.",
  }),
  trustReloadSeconds: integer({
    path: "trust.reload_seconds",
    also: ["TRUSTED_KEYS_RELOAD_SECONDS"],
    fallback: 0,
    min: 0,
    max: daySec,
    about: "Interval for reading `trust.keys_file` again; 0 means never.",
  }),
  trustVerifyIntervalSec: integer({
    path: "trust.verify_interval_sec",
    fallback: 10,
    min: 0,
    max: 3_600,
    about: "Minimum seconds between two debug verifications from one network; 0 means no limit.",
  }),
  trustAcceptDroppedEmptyStrings: flag({
    path: "trust.accept_dropped_empty_strings",
    fallback: false,
    about: "Whether to accept JobSpecs whose signer left out empty texts, as an older service did.",
  }),
  jobsRegions: list({
    path: "jobs.regions",
    ...regionForm,
    fallback: ["US", "EU", "APAC", "CA", "SA", "AF", "ME", "ASIA"],
    about: "Regions that JobSpecs may name, separated by commas.",
  }),
  jobsServedRegions: list({
    path: "jobs.served_regions",
    ...regionForm,
    fallbackAbout: "all of `jobs.regions`",
    about: "Regions whose jobs this service runs, separated by commas.",
  }),
} as const;

declare module "../../platform/config/keys.ts" {
  interface Config extends ValuesOf<typeof jobspecKeys> {}
}

/** The settings of this protocol. */
export const jobspecSettings: ProtocolSettings = {
  keys: jobspecKeys,
  findProblems,
  devDefaults: { trustEnforce: false },
};

function findProblems(config: Config): readonly Problem[] {
  return [...findUnknownRegions(config), ...findKeyProblems(config)];
}

/** Finds served regions that no JobSpec may name, where nothing would ever run. */
function findUnknownRegions(config: Config): Problem[] {
  const unknown = config.jobsServedRegions.filter((region) => !config.jobsRegions.includes(region));
  const [served, all] = [jobspecKeys.jobsServedRegions.path, jobspecKeys.jobsRegions.path];
  return unknown.map((region) => ({ field: served, text: `${served} has "${region}", which ${all} has not: add it` }));
}
