// An entry in the list of commands.

import type { Command } from "commander";

/** Adds arguments, options, verbs and the action to a command that has its name and description. */
export type Define = (command: Command) => void;

/** A command. Its module is loaded only when the command is used: loading all of them takes longer than most commands. */
export interface CommandEntry {
  readonly name: string;
  readonly about: string;
  readonly load: () => Promise<Define>;
}
