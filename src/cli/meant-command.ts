// Finds the command that a line probably means when its words do not fit the command that it names.

import type { Command, CommanderError } from "commander";

/**
 * Returns what to do instead: `Did you mean runs show?` for `run show <id>`, `Did you mean run?` for `runs "hello"`, and the quotes
 * that a message lacks. `load` defines the command of a name. Returns undefined when nothing fits.
 */
export async function findMeant(
  program: Command,
  { code, message }: CommanderError,
  load: (name: string) => Promise<unknown>,
): Promise<string | undefined> {
  const [name = "", ...words] = program.args.filter((word) => !word.startsWith("-"));
  const find = (wanted: string): Command | undefined => program.commands.find((each) => each.name() === wanted);
  const command = find(name);
  const other = find(name.endsWith("s") ? name.slice(0, -1) : `${name}s`);
  if (other !== undefined) {
    await load(other.name());
  }
  const verb = other?.commands.find((each) => each.name() === words[0]);
  if (code === "commander.excessArguments" && verb !== undefined) {
    return `Did you mean ${other?.name()} ${verb.name()}?`;
  }
  if (code === "commander.excessArguments" && command?.registeredArguments[0]?.name() === "message") {
    return `put the message in quotes: runnel ${name} "${words.join(" ")}"`;
  }
  const takesWords = (other?.registeredArguments.length ?? 0) > 0;
  const isSuggested = message.includes("Did you mean");
  return code === "commander.unknownCommand" && takesWords && !isSuggested
    ? `Did you mean ${other?.name()}?`
    : undefined;
}
