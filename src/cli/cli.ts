// All commands, and how each of them fails: in words on standard error, or as one JSON object with `--json`.

import { Command, CommanderError } from "commander";
import { version } from "../platform/base/version.ts";
import { addCompletion } from "./completion.ts";
import { addConfig } from "./config.ts";
import { addDemo } from "./demo.ts";
import { addDev } from "./dev.ts";
import { addDoctor } from "./doctor.ts";
import { exitCodesHelp } from "./exit-codes.ts";
import { exitCodeOf, explain, isHelp, showFailure } from "./failure.ts";
import { addKeys } from "./keys.ts";
import { addMigrate } from "./migrate.ts";
import { addGlobalFlags, paintErrors, wantsJson } from "./output.ts";
import type { ProtocolCommands } from "./protocol-commands.ts";
import * as protocolList from "./protocol-list.ts";
import { addProviders } from "./providers.ts";
import { addPurge } from "./purge.ts";
import { addReceipt } from "./receipt.ts";
import { addRun, addTail } from "./run.ts";
import { addServe } from "./serve.ts";
import { print, sayJson, sayLine } from "./terminal.ts";
import { addUsage } from "./usage.ts";
import { addVerify } from "./verify.ts";

const protocolCommands: readonly ProtocolCommands[] = Object.values(protocolList);

/** Runs the command in `argv` and sets the exit code. */
export async function runCli(argv: readonly string[]): Promise<void> {
  const program = createProgram();
  addCommands(program);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    reportFailure(error, program);
  }
}

function createProgram(): Command {
  const program = new Command("runnel");
  // Before the commands, which inherit it.
  program
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void print(text),
      // Help of a command without a verb. Commander would print it with `--json` too, where programs expect one object.
      writeErr: (text) => void (wantsJson(program) || sayLine(text.trimEnd())),
      // `reportFailure` reports all failures in the same way.
      outputError: () => {},
    });
  return addGlobalFlags(program)
    .description("Runs agents for other programs: one contract, one durable log, streams that resume.")
    .version(`runnel ${version}`)
    .addHelpText("after", `\n${exitCodesHelp}`);
}

function addCommands(program: Command): void {
  addServe(program);
  addDev(program);
  addMigrate(program);
  addDoctor(program);
  addConfig(program);
  addRun(program);
  addTail(program);
  addPurge(program);
  addUsage(program);
  addKeys(program);
  addReceipt(program);
  addVerify(program, protocolCommands.find(({ signedFormat }) => signedFormat !== undefined)?.signedFormat);
  addProviders(program);
  addDemo(program);
  addCompletion(program);
  for (const { addTo } of protocolCommands) {
    addTo(program);
  }
}

function reportFailure(error: unknown, program: Command): void {
  if (error instanceof CommanderError && error.exitCode === 0) {
    return;
  }
  if (wantsJson(program)) {
    sayJson(explain(error));
  } else if (!isHelp(error)) {
    sayLine(showFailure(explain(error), paintErrors(program)));
  }
}
