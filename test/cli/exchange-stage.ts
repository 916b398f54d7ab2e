// The stage of the tests of `runnel exchange`: the folders of an exchange, a service for it, and the program between them.

import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startService } from "../harness/service.ts";
import { ownFolder, type RunningCommand, startCommand } from "./command.ts";

export interface Stage {
  readonly url: string;
  readonly directory: string;
  readonly words: readonly string[];
  /** Starts `runnel exchange` with these words in the folder. */
  start(words: readonly string[], more?: { failpoint?: string; input?: string }): RunningCommand;
  /** Writes a file there whose last change is this many seconds after a fixed time. */
  put(path: string, content: string | Uint8Array, atSeconds?: number): void;
  read(path: string): string;
  list(path: string): string[];
  session(): { sessionId: string; sequenceNumber: number; isComplete: boolean };
}

/** A fixed time: the order of files depends on their modification times. */
const beginSeconds = 1_700_000_000;

export async function openStage(service?: { url: string }): Promise<Stage> {
  const { url } = service ?? (await startService());
  return stageIn(await ownFolder(), ["--url", url], url);
}

/** `words` name the service. */
export function stageIn(directory: string, words: readonly string[], url = ""): Stage {
  const at = (path: string): string => join(directory, path);
  for (const folder of ["inbox/processed", "workspace"]) {
    mkdirSync(at(folder), { recursive: true });
  }
  const list = (path: string): string[] => readdirSync(at(path)).sort();
  const read = (path: string): string => readFileSync(at(path), "utf8");
  return {
    url,
    directory,
    words,
    start: (typed, { failpoint, input } = {}) =>
      startCommand(["exchange", ...typed, ...words], {
        directory,
        ...(input !== undefined && { input }),
        environment: failpoint === undefined ? {} : { RUNNEL_FAILPOINT: failpoint },
      }),
    put: (path, content, atSeconds) => {
      writeFileSync(at(path), content);
      if (atSeconds !== undefined) {
        utimesSync(at(path), beginSeconds + atSeconds, beginSeconds + atSeconds);
      }
    },
    read,
    list,
    session: () => {
      const name = list("sessions").find((each) => /^[0-9a-f]{8}\.json$/.test(each));
      return JSON.parse(read(`sessions/${name}`));
    },
  };
}

/** Adds one line to the file each time it is executed. */
export const addLine = '[EDIT_FILE path="count.txt" start_line="1" end_line="1"]\none\nmore\n[/EDIT_FILE]\n';
export const firstLine = "one\n";

export function done(summary: string): string {
  return `[DONE]\n${summary}\n[/DONE]\n`;
}

export function eventsOf(stdout: string): Record<string, unknown>[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
