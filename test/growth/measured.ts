// The cases as a process of its own has measured them.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { meterFlags } from "../harness/work-meter.ts";
import type { Doubling, GrowthCase } from "./growth.ts";

/** A measured case. */
export interface Measured extends Pick<GrowthCase, "reader" | "input" | "limit"> {
  readonly doublings: readonly Doubling[];
}

/** The lines of all cases take some hundred KB. */
const outputBytesMax = 64 * 1_048_576;

/** Measures the cases of a file beside this one, such as `./cases.ts`. */
export async function measureCases(file: string): Promise<Measured[]> {
  const program = fileURLToPath(new URL("measure.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [...meterFlags, program, file], {
    maxBuffer: outputBytesMax,
  });
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}
