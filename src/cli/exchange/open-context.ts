// Opens the inputs of a command from its flags: the folders, and the service. The service is at --url, or starts and ends with
// the command.

import type { Command } from "commander";
import { unlessAborted } from "../../platform/base/on-abort.ts";
import { connectTo, type Service, withService } from "../connect.ts";
import { createCredentials } from "../credentials.ts";
import { exitCodes } from "../exit-codes.ts";
import { listenForStop } from "../interrupt.ts";
import { outputOf } from "../output.ts";
import { shellWord } from "../shell-word.ts";
import type { ExchangeContext } from "./context.ts";
import { type FolderFlags, openFolders } from "./folders.ts";
import type { Turns } from "./lock.ts";
import { createReporter } from "./reporter.ts";

/** The flags of every exchange command. */
export interface ExchangeFlags extends FolderFlags {
  readonly url?: string;
}

/** Does the work of a command. After Ctrl-C it closes everything in order and exits as interrupted. */
export async function withContext(
  command: Command,
  flags: ExchangeFlags,
  work: (context: ExchangeContext) => Promise<void>,
): Promise<void> {
  const output = outputOf(command);
  const folders = await openFolders(flags);
  const stop = listenForStop();
  const { signal } = stop;
  const onAway = (why: string): void => output.note(`(${why}: trying again)`, { note: "reconnecting", why });
  const context = { folders, output, reporter: createReporter(output, folders), signal, onAway };
  const begin = (service: Service): Promise<void> => work({ ...context, service });
  await unlessAborted(stop.signal, () =>
    flags.url === undefined ? withLocalService(context, begin) : withService(flags, begin),
  );
  if (signal.aborted) {
    process.exit(exitCodes.interrupted);
  }
}

async function withLocalService(
  { folders, output, signal }: Turns,
  work: (service: Service) => Promise<void>,
): Promise<void> {
  // Loaded only here, because loading the server takes longer than a call.
  const { openLocalService } = await import("./local-service.ts");
  await using local = await open();
  try {
    signal.throwIfAborted();
    await work(connectTo(local.url, createCredentials(local.apiKey, {})));
  } finally {
    if (signal.aborted) {
      // A command of an answer may continue for a while, because it cannot be run again.
      output.note("(closing the database; once more leaves at once)", { note: "closing" });
    }
  }

  async function open() {
    using progress = output.openProgress();
    return await openLocalService(folders.root, { onProgress: (message) => progress.say(message), signal });
  }
}

/** Returns the command that resumes an exchange, as a person types it. */
export function resumeCommand(id: string, { url, dir, workspace }: ExchangeFlags): string {
  const flags = Object.entries({ url, dir: dir === "." ? undefined : dir, workspace });
  const words = flags.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, shellWord(value)]));
  return ["runnel exchange resume", id, ...words].join(" ");
}
