// The commands, and how every one of them fails: one line on standard error, and exit code 1 (2 for wrong words).

import { ConnectError } from "@connectrpc/connect";
import { Command, CommanderError } from "commander";
import { Fault } from "../base/fault.ts";
import { version } from "../base/version.ts";
import { addDemo } from "./demo.ts";
import { addDev } from "./dev.ts";
import { addMigrate } from "./migrate.ts";
import { addRun, addTail } from "./run.ts";
import { addServe } from "./serve.ts";

export async function runCli(argv: readonly string[]): Promise<void> {
  const program = new Command("runnel")
    .description("Runs agents for other programs: one contract, one durable log, streams that resume.")
    .version(`runnel ${version}`)
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
  console.error(`runnel: ${describe(error)}`);
  return 1;
}

/** Failures that somebody explained are told as they are; of a defect the stack is what helps. */
function describe(error: unknown): string {
  if (error instanceof Fault) {
    return error.message;
  }
  if (error instanceof ConnectError) {
    return error.rawMessage;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
