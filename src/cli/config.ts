// `runnel config`: shows the settings and the origin of each, and their problems. Of secrets it shows only whether they are
// set.

import type { Command } from "commander";
import { findNearest } from "../platform/base/nearest.ts";
import { checkConfig, type ExplainedKey, explainConfig, warnOfConfig } from "../platform/config/explain.ts";
import { CommandError } from "./command-error.ts";
import { example } from "./example.ts";
import { exitCodes } from "./exit-codes.ts";
import { outputOf, type Paint } from "./output.ts";
import { addSettingsOptions, type SettingsFlags, settingsSources } from "./serve.ts";
import { showTable } from "./table.ts";

/** Defines `config explain` and `config check`. */
export function defineConfig(config: Command): void {
  addSettingsOptions(config.command("explain [key]"))
    .description("show settings with their origin and meaning: all, those of a section, or one")
    .addHelpText("after", example("runnel config explain runs.lease_ms"))
    .action(async (key: string | undefined, flags: SettingsFlags, command: Command) => {
      const settings = select(explainConfig(await settingsSources(flags)), key);
      const [only, ...others] = settings;
      const show = (paint: Paint): string =>
        only !== undefined && others.length === 0 ? showOne(only, paint) : showAll(settings, paint);
      await outputOf(command).answer({ settings }, show);
    });
  addSettingsOptions(config.command("check"))
    .description("list every problem that would keep `serve` from starting; exit code 1 if there is one")
    .addHelpText("after", example("runnel config check --config /etc/runnel/config.yaml"))
    .action(async (flags: SettingsFlags, command: Command) => {
      const sources = await settingsSources(flags);
      const [problems, warnings] = [checkConfig(sources), warnOfConfig(sources)];
      const output = outputOf(command);
      await output.answer({ ok: problems.length === 0, problems, warnings }, (paint) =>
        showProblems(problems, warnings, paint),
      );
      if (problems.length > 0) {
        process.exitCode = exitCodes.failed;
      }
    });
}

/** Returns the settings with this key, section or variable. Throws CONFIG_KEY_UNKNOWN when there is no match. */
function select(all: readonly ExplainedKey[], wanted: string | undefined): readonly ExplainedKey[] {
  const found = all.filter(
    ({ key, variables }) =>
      wanted === undefined || key === wanted || key.startsWith(`${wanted}.`) || variables.includes(wanted),
  );
  if (found.length > 0) {
    return found;
  }
  const nearest = findNearest(
    wanted ?? "",
    all.flatMap(({ key, variables }) => [key, ...variables]),
  );
  const fix = nearest === undefined ? "`runnel config explain` lists them all" : `did you mean ${nearest}?`;
  const reason = "CONFIG_KEY_UNKNOWN";
  throw new CommandError(`there is no setting ${wanted}`, { reason, fix, exitCode: exitCodes.invalidUsage });
}

function showAll(settings: readonly ExplainedKey[], paint: Paint): string {
  const rows = settings.map(({ key, value, origin }) => [key, value || "–", showOrigin(origin)]);
  return showTable(["SETTING", "VALUE", "SOURCE"], rows, paint);
}

function showOne(setting: ExplainedKey, paint: Paint): string {
  const rows = [
    ["value", setting.value || "–"],
    ["from", showOrigin(setting.origin)],
    ["default", setting.default || "–"],
    ["set by", `${setting.variables.join(" or ")}, or ${setting.key} in the file`],
    ...(setting.secret ? [["secret", "never shown; may come from a file that a …_FILE variable names"]] : []),
  ];
  const lines = rows.map(([title = "", text]) => `  ${paint("bold", title.padEnd(7))}  ${text}`);
  return [`${setting.key}: ${setting.about}`, ...lines].join("\n");
}

/** Prints the origin in words, such as "the command line". */
function showOrigin(origin: string): string {
  if (origin === "flag") {
    return "the command line";
  }
  return origin.replace(/^environment /, "variable ").replace(/^file of /, "the file that is named by ");
}

function showProblems(problems: readonly string[], warnings: readonly string[], paint: Paint): string {
  const lines = [
    ...problems.map((text) => `${paint("red", "✗")} ${text}`),
    ...warnings.map((text) => `${paint("yellow", "!")} ${text}`),
  ];
  return [...lines, problems.length === 0 ? "nothing keeps `serve` from starting" : "`serve` would not start"].join(
    "\n",
  );
}
