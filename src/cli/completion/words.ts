// The words that can be typed at each place, read from the program's own commands and options, so that they are never stale.
// Commander has no completion, and libraries for it start the program at each key, which takes half a second.

import type { Command, Option } from "commander";

/** An option, such as `--url`. */
export interface CompletionOption {
  readonly names: readonly string[];
  readonly about: string;
  readonly takesValue: boolean;
}

/** A place on the command line: after the program's name, or after a command's. */
export interface CompletionPlace {
  /** The names of the commands that lead to the place, each after a slash; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly options: readonly CompletionOption[];
}

/** Lists the place after the program first, then those after every command, parents before children. */
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

/** Returns the paths of the commands, by which a shell recognises its place. */
export function commandPaths(places: readonly CompletionPlace[]): string[] {
  return places.map(({ path }) => path).filter((path) => path !== "");
}

/** Returns the options that take a value: a script offers none of our words after them. */
export function valueOptions({ options }: CompletionPlace): string[] {
  return options.filter(({ takesValue }) => takesValue).flatMap(({ names }) => names);
}
