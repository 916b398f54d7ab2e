// The commands, and how every one of them fails: in words on standard error, or as one JSON object with `--json`.

import { Command, CommanderError } from "commander";
import { version } from "../platform/base/version.ts";
import { addCompletion } from "./completion.ts";
import { addDemo } from "./demo.ts";
import { addExchange } from "./exchange.ts";
import { exitCodesHelp } from "./exit-codes.ts";
import { exitCodeOf, explain, isHelp, showFailure } from "./failure.ts";
import { addJobs } from "./jobs.ts";
import { addKeys } from "./keys.ts";
import { addGlobalFlags, paintErrors, wantsJson } from "./output.ts";
import { addProviders } from "./providers.ts";
import { addPurge } from "./purge.ts";
import { addReceipt } from "./receipt.ts";
import { addRun, addTail } from "./run.ts";
import { addRunners } from "./runners.ts";
import { addSign } from "./sign.ts";
import { print, sayJson, sayLine } from "./terminal.ts";
import { addTrust } from "./trust.ts";
import { addUsage } from "./usage.ts";
import { addVerify } from "./verify.ts";

export async function runCli(argv: readonly string[]): Promise<void> {
  const program = createProgram();
  if (!callsOnly(argv)) {
    await addGroundCommands(program);
  }
  addCallers(program);
  addCompletion(program);
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
      // Help of a command without a verb. Machines get one object, of which commander knows nothing.
      writeErr: (text) => void (wantsJson(program) || sayLine(text.trimEnd())),
      // Failures are reported below, all in the same way.
      outputError: () => {},
    });
  return addGlobalFlags(program)
    .description("Runs agents for other programs: one contract, one durable log, streams that resume.")
    .version(`runnel ${version}`)
    .addHelpText("after", `\n${exitCodesHelp}`);
}

/** The commands that call a service, start one in a process of its own, or need none. */
function addCallers(program: Command): void {
  addRun(program);
  addTail(program);
  addPurge(program);
  addUsage(program);
  addKeys(program);
  addTrust(program);
  addJobs(program);
  addReceipt(program);
  addRunners(program);
  addExchange(program);
  addSign(program);
  addVerify(program);
  addProviders(program);
  addDemo(program);
}

/** The commands that start the server or look at its ground. To load the server takes longer than most calls do. */
async function addGroundCommands(program: Command): Promise<void> {
  const [serve, dev, migrate, doctor, config] = await Promise.all([
    import("./serve.ts"),
    import("./dev.ts"),
    import("./migrate.ts"),
    import("./doctor.ts"),
    import("./config.ts"),
  ]);
  serve.addServe(program);
  dev.addDev(program);
  migrate.addMigrate(program);
  doctor.addDoctor(program);
  config.addConfig(program);
}

/** True when the first word is a command without ground: the others are then neither run nor listed. */
function callsOnly(argv: readonly string[]): boolean {
  const callers = new Command();
  addCallers(callers);
  const first = argv.slice(2).find((word) => !word.startsWith("-"));
  return callers.commands.some((command) => command.name() === first);
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
