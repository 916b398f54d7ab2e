// Starts `many-readers.ts` and reads its reports.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { CrowdReport, ReaderLoad } from "./many-readers.ts";

const program = fileURLToPath(new URL("./many-readers.ts", import.meta.url));

export interface ReaderProcess {
  /** Resolves when every reader has the head of its answer. */
  readonly begun: Promise<void>;
  /** Resolves when every reader that reads has ended. */
  readonly ended: Promise<CrowdReport>;
  /** kill -9: all of them leave at once. */
  leave(): Promise<void>;
}

export function startReaders(readers: ReaderLoad): ReaderProcess {
  const child = spawn(process.execPath, [program, JSON.stringify(readers)], { stdio: ["ignore", "pipe", "pipe"] });
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<CrowdReport>();
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const said = JSON.parse(line);
    if ("begun" in said) {
      begun.resolve();
    } else {
      ended.resolve(said);
    }
  });
  const gone = once(child, "exit").then(() => {
    const error = new Error(`the readers' process ended: ${complaint}`);
    begun.reject(error);
    ended.reject(error);
  });
  // A test that awaits one of them gets the error; otherwise the end of the process is expected.
  begun.promise.catch(() => {});
  ended.promise.catch(() => {});
  const leave = async (): Promise<void> => {
    child.kill("SIGKILL");
    await gone;
  };
  onTestFinished(leave);
  return { begun: begun.promise, ended: ended.promise, leave };
}
