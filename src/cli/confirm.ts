// Confirms what cannot be undone.

import type { Command } from "commander";
import { askYesNo, mayAsk } from "./ask.ts";
import { CommandError } from "./command-error.ts";
import { outputOf } from "./output.ts";

/** What a command is about to do. */
export interface Deed {
  /** A sentence without its end, such as `delete erases the session a`. */
  readonly says: string;
  /** The question to a person. */
  readonly asks: string;
  /** The error after a no, such as `nothing was deleted`. */
  readonly refused: string;
}

interface ConfirmFlags {
  readonly yes?: true;
}

/** Adds the flag `--yes`. */
export function addYesFlag(command: Command): Command {
  return command.option("--yes", "do not ask");
}

/** Asks a person, unless `--yes` is given. Throws UNCONFIRMED without a yes; programs cannot answer, so they have to give `--yes`. */
export async function confirm(command: Command, { says, asks, refused }: Deed): Promise<void> {
  const { yes } = command.opts<ConfirmFlags>();
  if (yes === true) {
    return;
  }
  if (!mayAsk(outputOf(command).asJson)) {
    throw new CommandError(says, { reason: "UNCONFIRMED", fix: "add --yes if you mean it", exitCode: 2 });
  }
  if (!(await askYesNo(asks))) {
    throw new CommandError(refused, { reason: "UNCONFIRMED" });
  }
}
