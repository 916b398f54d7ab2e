// `runnel doctor`: checks everything that `serve` depends on, changes nothing, and says how to fix each problem.

import type { Command } from "commander";
import { systemClock } from "../platform/base/clock.ts";
import { resolveSettings } from "../platform/config/resolve.ts";
import type { Finding, FindingOutcome } from "./doctor/check.ts";
import { example } from "./example.ts";
import { exitCodes } from "./exit-codes.ts";
import { outputOf, type Paint, type Style } from "./output.ts";
import { addServerOptions, type ServerFlags, serverSources } from "./serve.ts";

interface DoctorFlags extends ServerFlags {
  readonly deep?: boolean;
}

/** Defines `doctor`. */
export function defineDoctor(command: Command): void {
  addServerOptions(command)
    .addHelpText("after", example("runnel doctor --deep"))
    .option("--deep", "also call each model provider with its key, to ask for its models")
    .action(async ({ deep = false, ...flags }: DoctorFlags) => {
      const { examine } = await import("./doctor/examine.ts");
      const output = outputOf(command);
      const sources = await serverSources(flags);
      const resolution = resolveSettings(sources);
      const context = { config: resolution.config, resolution, table: sources.table, clock: systemClock, deep };
      using progress = output.openProgress();
      const findings = await examine(context, (about) => progress.say(about));
      progress.close();
      const isHealthy = findings.every(({ outcome }) => outcome !== "fail");
      await output.answer({ healthy: isHealthy, checks: findings }, (paint) => show(findings, paint));
      if (!isHealthy) {
        process.exitCode = exitCodes.failed;
      }
    });
}

function countOutcomes(findings: readonly Finding[]): Record<FindingOutcome, number> {
  const count = (wanted: FindingOutcome): number => findings.filter(({ outcome }) => outcome === wanted).length;
  return { ok: count("ok"), warn: count("warn"), fail: count("fail") };
}

const marks = {
  ok: { mark: "✓", style: "green" },
  warn: { mark: "!", style: "yellow" },
  fail: { mark: "✗", style: "red" },
} as const satisfies Record<FindingOutcome, { mark: string; style: Style }>;

function show(findings: readonly Finding[], paint: Paint): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.flatMap(({ name, outcome, found, fix }) => {
    const { mark, style } = marks[outcome];
    const line = `${paint(style, mark)} ${name.padEnd(width)}  ${found}`;
    return fix === undefined ? [line] : [line, `  ${" ".repeat(width)}  ${paint("bold", "fix")} ${fix}`];
  });
  const { ok, warn, fail } = countOutcomes(findings);
  return [...lines, "", `${ok} in order, ${warn} to look at, ${fail} wrong`].join("\n");
}
