// Checks the settings: their problems, and those that `serve` would miss.

import { checkRequirements } from "../../platform/config/requirements.ts";
import { type CheckContext, type Finding, fail, ok, warn } from "./check.ts";

/** Lists the problems and warnings of the settings. */
export function checkSettings({ resolution, table }: CheckContext): Finding[] {
  const fix = "`runnel config explain` shows each setting and where it comes from";
  const wrong = resolution.problems.map(({ text }) => fail("settings", text, fix));
  const odd = resolution.warnings.map((text) => warn("settings", text, fix));
  const { problems, hint } = checkRequirements(resolution, table);
  const missing = hint === undefined ? [] : [warn("settings", problems[0]?.text ?? "", hint.replaceAll("\n", " "))];
  const findings = [...wrong, ...missing, ...odd];
  return findings.length === 0 ? [ok("settings", "all understood")] : findings;
}
