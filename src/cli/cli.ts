// All commands, and how each of them fails: in words on standard error, or as one JSON object with `--json`.

import { Command, CommanderError, Help, type Option } from "commander";
import { version } from "../platform/base/version.ts";
import type { CommandEntry } from "./command-entry.ts";
import { commandList, protocols } from "./command-list.ts";
import { example } from "./example.ts";
import { exitCodesHelp } from "./exit-codes.ts";
import { addGlobalFlags, assertFormat, paintErrors, wantsJson } from "./output.ts";
import { print, sayJson, sayLine } from "./terminal.ts";

/** Runs the command in `argv` and sets the exit code. */
export async function runCli(argv: readonly string[]): Promise<void> {
  const program = createProgram();
  const entries = listCommands(program);
  try {
    const used = commandOf(program, argv);
    await define(
      program,
      entries.filter(({ name }) => name === used),
    );
    await program.parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommanderError && error.exitCode === 0)) {
      await reportFailure(error, program, entries);
    }
  }
}

/** Returns the program with all its commands loaded. */
export async function loadProgram(): Promise<Command> {
  const program = createProgram();
  return await define(program, listCommands(program));
}

/** Returns the name of the command in `argv`; undefined without one. */
function commandOf(program: Command, argv: readonly string[]): string | undefined {
  const takesValue = (word = ""): boolean =>
    program.options.some(({ required, short, long }) => required && (word === short || word === long));
  const [first, second] = argv
    .slice(2)
    .filter((word, at, words) => !word.startsWith("-") && !takesValue(words[at - 1]));
  return first === "help" ? second : first;
}

function createProgram(): Command {
  const program = new Command("runnel");
  // Before the commands, which inherit it.
  program
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, commandUsage: showUsage, optionDescription: showOption })
    .configureOutput({
      writeOut: (text) => void print(text),
      // Help of a command without a verb. Commander would print it with `--json` too, where programs expect one object.
      writeErr: (text) => void (wantsJson(program) || sayLine(text.trimEnd())),
      // `reportFailure` reports all failures in the same way.
      outputError: () => {},
    });
  return addGlobalFlags(program)
    .hook("preAction", (_program, command) => assertFormat(command))
    .description("Runs agents for other programs: one contract, one durable log, streams that resume.")
    .version(`runnel ${version}`)
    .addHelpText("after", example('runnel run "Which files are here?"'))
    .addHelpText("after", `\n${exitCodesHelp}`);
}

/** Returns the usage line, with the required options, which commander leaves to `[options]`. */
function showUsage(command: Command): string {
  const required = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => `${flags} `);
  return new Help().commandUsage(command).replace("[options]", `${required.join("")}[options]`);
}

/** Returns the description of an option. An empty default needs no mention. */
function showOption(option: Option): string {
  return `${option.defaultValue ?? ""}` === "" ? option.description : new Help().optionDescription(option);
}

/** Adds the names of all commands to the program. Returns their entries. */
function listCommands(program: Command): readonly CommandEntry[] {
  const completion: CommandEntry = {
    name: "completion",
    about: "print a completion script: source <(runnel completion bash)",
    load: async () => {
      const { defineCompletion } = await import("./completion.ts");
      return (command) => defineCompletion(command, () => define(program, commandList));
    },
  };
  const entries = [...commandList, completion];
  for (const { name, about } of entries) {
    program.command(name).description(about);
  }
  return entries;
}

/** Loads and defines these commands. Returns the program. */
async function define(program: Command, entries: readonly CommandEntry[]): Promise<Command> {
  const definitions = await Promise.all(entries.map(async ({ name, load }) => [name, await load()] as const));
  const commands = new Map(program.commands.map((command) => [command.name(), command]));
  for (const [name, defineCommand] of definitions) {
    const command = commands.get(name);
    if (command !== undefined) {
      defineCommand(command);
    }
  }
  return program;
}

async function reportFailure(error: unknown, program: Command, entries: readonly CommandEntry[]): Promise<void> {
  const { exitCodeOf, explain, isHelp, showFailure } = await import("./failure.ts");
  process.exitCode = exitCodeOf(error);
  const meant = error instanceof CommanderError ? await findMeantHere(error, program, entries) : undefined;
  const failure = { ...explain(error, protocols), ...(meant !== undefined && { fix: meant }) };
  if (wantsJson(program)) {
    sayJson(failure);
  } else if (!isHelp(error)) {
    sayLine(showFailure(failure, paintErrors(program)));
  }
}

async function findMeantHere(
  error: CommanderError,
  program: Command,
  entries: readonly CommandEntry[],
): Promise<string | undefined> {
  const { findMeant } = await import("./meant-command.ts");
  const load = (wanted: string): Promise<Command> =>
    define(
      program,
      entries.filter(({ name }) => name === wanted),
    );
  return await findMeant(program, error, load);
}
