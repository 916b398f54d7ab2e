// `runnel migrate`: brings the schema up to date and prints the migrations that it applied.

import type { Command } from "commander";
import { unlessAborted } from "../platform/base/on-abort.ts";
import { readConfig } from "../platform/config/load.ts";
import type { OpenDatabase } from "../platform/database/open.ts";
import { example } from "./example.ts";
import { exitCodes } from "./exit-codes.ts";
import { listenForStop } from "./interrupt.ts";
import { outputOf } from "./output.ts";
import { addSettingsOptions, type SettingsFlags, settingsSources } from "./serve.ts";

/** Defines `migrate`. */
export function defineMigrate(command: Command): void {
  addSettingsOptions(command)
    .addHelpText("after", example("RUNNEL_DATABASE_URL=postgres://runnel@db/runnel runnel migrate"))
    .action(async (flags: SettingsFlags) => {
      const [{ migrate }, { openDatabase }] = await Promise.all([
        import("../platform/database/migrate.ts"),
        import("../platform/database/open.ts"),
      ]);
      const output = outputOf(command);
      const config = readConfig(await settingsSources(flags), { onWarning: (text) => output.note(text) });
      using progress = output.openProgress();
      const stop = listenForStop();
      const open = (): Promise<OpenDatabase> =>
        openDatabase({
          url: config.databaseUrl,
          directory: config.databaseDir,
          poolSize: config.databasePoolSize,
          onConnectionError: () => {},
          onProgress: (message) => progress.say(message),
          signal: stop.signal,
        });
      const database = await unlessAborted(stop.signal, open);
      if (database === undefined) {
        process.exitCode = exitCodes.interrupted;
        return;
      }
      try {
        const applied = await migrate(database.connections);
        progress.close();
        await output.answer({ applied }, () =>
          applied.length === 0 ? "up to date" : applied.map((name) => `applied ${name}`).join("\n"),
        );
      } finally {
        await database.close();
      }
    });
}
