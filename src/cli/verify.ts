// `runnel verify`: whether what is in a file is signed rightly. It calls nobody. What kind of thing it is the file itself says; each
// kind has a file in `verify/`.

import type { Command } from "commander";
import { CommandError } from "./command-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { outputOf } from "./output.ts";
import { verifyJobSpec } from "./verify/job-spec.ts";
import { verifyReceipt } from "./verify/receipt.ts";
import { readSigned, type SignedFile } from "./verify/receipt-file.ts";
import type { Verdict, VerifyFlags } from "./verify/verdict.ts";

export function addVerify(program: Command): void {
  program
    .command("verify <file> [log]")
    .description(
      "check a signed JobSpec, or the receipt of a run and its log, and tell what is not right; calls nobody",
    )
    .option(
      "--canonical <file>",
      "of a JobSpec: the bytes that were signed, to see where they differ from what has to be",
    )
    .option("--trusted-keys <file>", "of a JobSpec: a list as in TRUSTED_KEYS_JSON, which has to trust the key as well")
    .option(
      "--jwks <file>",
      "of a receipt: the service's keys, as /.well-known/jwks.json gives them, one of which has to be its key",
    )
    .action(async (path: string, log: string | undefined, flags: VerifyFlags, command: Command) => {
      const { isRight, value, show } = await verify(path, { ...flags, ...(log !== undefined && { log }) });
      await outputOf(command).answer(value, show);
      if (!isRight) {
        process.exitCode = exitCodes.failed;
      }
    });
}

async function verify(path: string, flags: VerifyFlags): Promise<Verdict> {
  if (path === "-" && flags.log === "-") {
    const what = "standard input cannot be both the receipt and its log";
    throw new CommandError(what, { reason: "USAGE", fix: "name a file for one of them", exitCode: 2 });
  }
  const signed = await readSigned(path);
  refuseForeign(signed.kind, flags);
  return signed.kind === "receipt"
    ? await verifyReceipt(signed, flags)
    : await verifyJobSpec(path, signed.document, flags);
}

/** What would be left out of account without a word might be what somebody relies on. */
function refuseForeign(kind: SignedFile["kind"], { canonical, trustedKeys, jwks, log }: VerifyFlags): void {
  const isForeign = kind === "receipt" ? (canonical ?? trustedKeys) : (jwks ?? log);
  if (isForeign !== undefined) {
    const what =
      kind === "receipt"
        ? "this is a receipt: --canonical and --trusted-keys are for JobSpecs"
        : "this is a JobSpec: --jwks and a log are for receipts";
    throw new CommandError(what, { reason: "USAGE", fix: "leave them out", exitCode: 2 });
  }
}
