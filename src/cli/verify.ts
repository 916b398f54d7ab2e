// `runnel verify`: checks the signature in a file, without a service. The file's content decides whether it is a receipt. A
// protocol may bring one other format.

import type { Command } from "commander";
import { ownJson } from "./answer-json.ts";
import { CommandError } from "./command-error.ts";
import { example } from "./example.ts";
import { exitCodes } from "./exit-codes.ts";
import { readInput } from "./input.ts";
import { outputOf } from "./output.ts";
import { verifyReceipt } from "./verify/receipt.ts";
import { readReceiptFile, receiptBytesMax } from "./verify/receipt-file.ts";
import type { SignedFormat, Verdict } from "./verify/verdict.ts";

type Flags = Readonly<Record<string, string | undefined>>;

/** Defines `verify`. `format` is the format that it checks beside receipts. */
export function defineVerify(command: Command, format: SignedFormat | undefined): void {
  command.argument("<file>").argument("[log]").addHelpText("after", example("runnel verify receipt.json run.log"));
  for (const { long, about } of format?.flags ?? []) {
    command.option(`--${long} <file>`, `of ${format?.name}: ${about}`);
  }
  command
    .option(
      "--jwks <file>",
      "for a receipt: key set of the service, as in /.well-known/jwks.json, which must contain the receipt's key",
    )
    .action(async (path: string, log: string | undefined, flags: Flags, self: Command) => {
      const { isRight, value, show } = await verify(path, { ...flags, ...(log !== undefined && { log }) }, format);
      await outputOf(self).answer(ownJson(value), show);
      if (!isRight) {
        process.exitCode = exitCodes.failed;
      }
    });
}

async function verify(path: string, flags: Flags, format: SignedFormat | undefined): Promise<Verdict> {
  if (path === "-" && flags.log === "-") {
    const what = "standard input cannot be both the receipt and its log";
    throw new CommandError(what, { reason: "USAGE", fix: "name a file for one of them", exitCode: 2 });
  }
  const bytes = await readInput(path, receiptBytesMax);
  const receipt = readReceiptFile(bytes);
  if (receipt !== undefined) {
    if (format?.flags.some(({ long }) => flags[camelCase(long)] !== undefined)) {
      throw misplaced("a receipt", format.flags.map(({ long }) => `--${long}`).join(" and "), format.name);
    }
    return await verifyReceipt(receipt, flags);
  }
  if (format === undefined) {
    throw new CommandError(`${path} is not a receipt`, {
      reason: "USAGE",
      fix: "name a file with a receipt",
      exitCode: 2,
    });
  }
  if ((flags.jwks ?? flags.log) !== undefined) {
    throw misplaced(format.name, "--jwks and a log", "a receipt");
  }
  return await format.verify(path, bytes, flags);
}

/** Refuses a flag for the other format: to ignore it would hide that it checked nothing. */
function misplaced(given: string, flags: string, owner: string): CommandError {
  const what = `this is ${given}: ${flags} are for ${owner.replace(/^an? /, "")}s`;
  return new CommandError(what, { reason: "USAGE", fix: "leave them out", exitCode: 2 });
}

/** Returns the name that commander gives the value of a flag: `bytes-file` becomes `bytesFile`. */
function camelCase(long: string): string {
  return long.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
