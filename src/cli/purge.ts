// `runnel purge`: erases the texts of a session's runs permanently, after a confirmation.

import type { Command } from "commander";
import { PurgeSessionResponseSchema } from "#gen/runnel/v1/session_service_pb.js";
import { answerJson } from "./answer-json.ts";
import { askYesNo, mayAsk } from "./ask.ts";
import { CommandError } from "./command-error.ts";
import { addUrlFlag, withService } from "./connect.ts";
import { example } from "./example.ts";
import { outputOf } from "./output.ts";

interface PurgeFlags {
  readonly url: string;
  readonly yes?: true;
  readonly json?: true;
}

/** Defines `purge`. */
export function definePurge(command: Command): void {
  addUrlFlag(command.argument("<session>"))
    .addHelpText("after", example("runnel purge 0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d --yes"))
    .option("--yes", "do not ask")
    .action(async (sessionId: string) => {
      const { url, yes, json } = command.optsWithGlobals<PurgeFlags>();
      if (yes !== true) {
        await assertMeant(sessionId, json === true);
      }
      await withService(url, async ({ sessions }) => {
        const response = await sessions.purgeSession({ sessionId });
        const { runs, results } = response;
        await outputOf(command).answer(
          answerJson(PurgeSessionResponseSchema, response),
          () => `purged ${sessionId}: ${count(runs, "run")}, ${count(Number(results), "result")} erased now`,
        );
      });
    });
}

/** Asks a person for confirmation. Throws UNCONFIRMED without one; programs have to give --yes, because they cannot answer. */
async function assertMeant(sessionId: string, asJson: boolean): Promise<void> {
  if (!mayAsk(asJson)) {
    const fix = "add --yes if you mean it";
    throw new CommandError(`purge erases the texts of session ${sessionId} permanently`, {
      reason: "UNCONFIRMED",
      fix,
      exitCode: 2,
    });
  }
  if (!(await askYesNo(`Erase the texts of session ${sessionId} permanently?`))) {
    throw new CommandError("nothing was purged", { reason: "UNCONFIRMED" });
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
