// `node test/clients/run.ts [--only <group or case>] -- <command> [argument …]`: the conformance kit for clients. README.md.

import { parseArgs } from "node:util";
import { cases, nameOf, runCases, type Verdict } from "./kit.ts";
import { programSubject } from "./subject.ts";

const usage = `Usage: node test/clients/run.ts [options] -- <command> [argument …]

Runs the cases of test/clients/README.md against the program that the command starts. Exits with 1 when a case fails.

  --only <name>      the cases of a group, such as follow, or one case, such as follow/gap; may be repeated
  --at-a-time <n>    how many cases run together (4)
  --list             prints the cases, and starts nothing
`;

const { values, positionals } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    "at-a-time": { type: "string", default: "4" },
    list: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const chosen = cases.filter(({ group, name }) => {
  const { only } = values;
  return only.length === 0 || only.includes(group) || only.includes(nameOf({ group, name }));
});
const [command, ...args] = positionals;
const atATime = Number(values["at-a-time"]);

// As in src/main.ts: Node may never end by itself after broken HTTP/2 connections.
process.once("beforeExit", () => process.exit());

if (values.help) {
  process.stdout.write(usage);
} else if (values.list) {
  process.stdout.write(chosen.map((each) => `${nameOf(each)}: ${each.says}\n`).join(""));
} else if (command === undefined || chosen.length === 0 || !(atATime >= 1)) {
  process.stderr.write(chosen.length === 0 ? `there is no case ${values.only.join(", ")}: see --list\n` : usage);
  process.exitCode = 2;
} else {
  const verdicts = await runCases(chosen, programSubject(command, args), { atATime, report });
  const failed = verdicts.filter(({ problems }) => problems.length > 0);
  process.stdout.write(`${verdicts.length - failed.length} passed, ${failed.length} failed\n`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}

function report({ name, says, durationMs, problems }: Verdict): void {
  const seconds = (durationMs / 1_000).toFixed(1);
  if (problems.length === 0) {
    process.stdout.write(`✓ ${name} (${seconds} s)\n`);
    return;
  }
  process.stdout.write(`✗ ${name} (${seconds} s): ${says}\n${problems.map((each) => `    ${each}\n`).join("")}`);
}
