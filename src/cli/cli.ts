// The commands, and how every one of them fails: one line on standard error, and exit code 1 (2 for wrong words).

import { Command, CommanderError } from "commander";
import { Fault } from "../base/fault.ts";
import { addDemo } from "./demo.ts";
import { addDev } from "./dev.ts";
import { addMigrate } from "./migrate.ts";
import { addRun, addTail } from "./run.ts";
import { addServe } from "./serve.ts";

export async function runCli(argv: readonly string[]): Promise<void> {
  const program = new Command("runnel")
    .description("Runs agents for other programs: one contract, one durable log, streams that resume.")
    .exitOverride()
    .showHelpAfterError();
  addServe(program);
  addDev(program);
  addMigrate(program);
  addRun(program);
  addTail(program);
  addDemo(program);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
}

function reportFailure(error: unknown): number {
  // commander has told the user already.
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? 0 : 2;
  }
  console.error(`runnel: ${error instanceof Error ? error.message : String(error)}`);
  if (!(error instanceof Fault) && error instanceof Error) {
    console.error(error.stack);
  }
  return 1;
}
