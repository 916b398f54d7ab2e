// A reader in another language, over the death of the service of the run that it reads.

import { expect } from "vitest";
import { startHalfRun } from "../../durable-streams/half-run.ts";
import { keyOf } from "../../harness/credentials.ts";
import { until } from "../../harness/wait.ts";
import { startProgram } from "../program.ts";

/** The modes of a reader. */
export const modes = ["catch-up", "long-poll", "sse"] as const;

/** Starts the program with a URL and a mode, and kills the service in mid-sentence. The program prints each message once, in order. */
export async function expectWholeRead(program: string, words: readonly string[], mode: string): Promise<void> {
  const { url, restart } = await startHalfRun();
  const environment = { RUNNEL_API_KEY: keyOf(), PYTHONDONTWRITEBYTECODE: "1" };
  const reader = startProgram(program, [...words, url, mode], { environment });
  await until("the beginning of its text", () => reader.stdout().includes("2\n"));
  await restart();
  const { exitCode, stdout, stderr } = await reader.finished;
  expect({ exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ exitCode: 0, stderr: "" });
  const sequences = stdout.toString().trim().split("\n").map(Number);
  expect(sequences).toEqual(sequences.map((_, index) => index + 1));
}
