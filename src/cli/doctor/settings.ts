// Checks the settings: their problems, and what keeps `serve` from starting.

import { readPresets } from "../../api/presets.ts";
import { Fault } from "../../platform/base/fault.ts";
import type { Config } from "../../platform/config/keys.ts";
import { checkRequirements } from "../../platform/config/requirements.ts";
import { type CheckContext, type Finding, fail, ok, warn } from "./check.ts";

/** Lists the problems and warnings of the settings. */
export function checkSettings({ resolution, table }: CheckContext): Finding[] {
  const fix = "`runnel config explain` shows each setting and where it comes from";
  const wrong = resolution.problems.map(({ text }) => fail("settings", text, fix));
  const odd = resolution.warnings.map((text) => warn("settings", text, fix));
  const { problems, hint } = checkRequirements(resolution, table);
  // Certificates have a check of their own.
  const unmet = problems
    .filter(({ field }) => !field.startsWith("server.tls"))
    .map(({ text }) => fail("settings", text, hint?.replaceAll("\n", " ") ?? fix));
  const findings = [...wrong, ...unmet, ...findWrongPresets(resolution.config, fix), ...odd];
  return findings.length === 0 ? [ok("settings", "all understood")] : findings;
}

function findWrongPresets(config: Config, fix: string): Finding[] {
  try {
    readPresets({ config, runners: [] });
    return [];
  } catch (error) {
    if (error instanceof Fault) {
      return [fail("settings", error.message, fix)];
    }
    throw error;
  }
}
