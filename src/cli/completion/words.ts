// What can be typed where, read from the program's own commands and options, so that no list of them can be stale. By hand: commander has
// no completion, and libraries for it ask the program at each key, which takes half a second.

import type { Command, Option } from "commander";

export interface CompletionOption {
  readonly names: readonly string[];
  readonly about: string;
  readonly takesValue: boolean;
}

/** One place of the command line: behind the program's name, or behind a command's. */
export interface CompletionPlace {
  /** Names of the commands that lead there, each after a slash; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly options: readonly CompletionOption[];
}

/** The program first, then every command, parents before children. */
export function listPlaces(command: Command, path = ""): CompletionPlace[] {
  const help = command.createHelp();
  help.showGlobalOptions = true;
  const commands = help.visibleCommands(command);
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const place: CompletionPlace = {
    path,
    commands: commands.map((each) => ({ name: each.name(), about: help.subcommandDescription(each) })),
    options: options.map(describeOption),
  };
  return [place, ...commands.flatMap((each) => listPlaces(each, `${path}/${each.name()}`))];
}

function describeOption({ short, long, description, required, optional }: Option): CompletionOption {
  const names = [long, short].filter((name) => name !== undefined && name !== null);
  return { names, about: description, takesValue: required || optional };
}

/** Paths of the commands, for a shell to recognise its place by. */
export function commandPaths(places: readonly CompletionPlace[]): string[] {
  return places.map(({ path }) => path).filter((path) => path !== "");
}

/** Options that a value follows, for which no word of ours can be offered. */
export function valueOptions({ options }: CompletionPlace): string[] {
  return options.filter(({ takesValue }) => takesValue).flatMap(({ names }) => names);
}
