// The help of every command: an example that the command accepts, and the required options in the usage line.

import type { Command } from "commander";
import { expect, test } from "vitest";
import { loadProgram } from "../../src/cli/cli.ts";

const program = await loadProgram();
const commands = listCommands(program);

test("finds the commands", () => {
  expect(commands.length).toBeGreaterThan(40);
});

test.each(commands.map((command) => [pathOf(command), command] as const))(
  "%s shows an example",
  async (path, command) => {
    const { help } = readHelp(command);
    const [, line = ""] = /\nExample:\n {2}(.+)\n/.exec(help) ?? [];
    expect(line).toContain(path);
    const accepted: string[] = [];
    command.action((...values: unknown[]) => {
      accepted.push(pathOf(values.at(-1) as Command));
    });
    await program.parseAsync(wordsOf(line), { from: "user" });
    expect(accepted).toEqual([path]);
  },
);

test.each(commands.map((command) => [pathOf(command), command] as const))(
  "%s shows its required options",
  (_path, command) => {
    const { usage } = readHelp(command);
    for (const { mandatory, flags } of command.options) {
      expect(usage.includes(flags)).toBe(mandatory);
    }
  },
);

/** Lists the commands that do something: those without commands of their own. */
function listCommands(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(listCommands);
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function readHelp(command: Command): { help: string; usage: string } {
  let help = "";
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return { help, usage: help.slice(0, help.indexOf("\n")) };
}

/** Returns the arguments of `runnel` in a line for a shell, without what a redirection or a substitution adds. */
function wordsOf(line: string): string[] {
  const [, words = ""] = /(?:^|[ (])runnel (.*?)(?: > .*|\))?$/.exec(line) ?? [];
  return [...words.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}
