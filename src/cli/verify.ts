// `runnel verify`: whether what is in a file is signed rightly. It calls nobody. What kind of thing it is the file itself says; each
// kind has a file in `verify/`.

import type { Command } from "commander";
import { exitCodes } from "./exit-codes.ts";
import { outputOf } from "./output.ts";
import { readJsonFile } from "./signing-files.ts";
import { verifyJobSpec } from "./verify/job-spec.ts";
import type { VerifyFlags } from "./verify/verdict.ts";

export function addVerify(program: Command): void {
  program
    .command("verify <file>")
    .description("check the signature of a JobSpec, and tell why it is not right; calls nobody")
    .option("--canonical <file>", "the bytes that were signed, to see where they differ from what has to be")
    .option("--trusted-keys <file>", "a list as in TRUSTED_KEYS_JSON, which has to trust the key as well")
    .action(async (path: string, flags: VerifyFlags, command: Command) => {
      const { isRight, value, show } = await verifyJobSpec(path, await readJsonFile(path), flags);
      await outputOf(command).answer(value, show);
      if (!isRight) {
        process.exitCode = exitCodes.failed;
      }
    });
}
