// curl as users run it.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { type Running, runProgram, startProgram } from "./program.ts";

export interface CurlAnswer {
  readonly status: number;
  /** "1.1" or "2". */
  readonly httpVersion: string;
  /** Status lines, headers and trailers in the order in which they arrived. */
  readonly head: string;
  readonly body: Buffer;
}

/** Printed after the body, so that both are in one output. */
const writeOut = "\n%{http_code} %{http_version}";

/** Runs one call to its end. `input` is the content of `@-`. */
export async function curl(args: readonly string[], input?: Uint8Array | string): Promise<CurlAnswer> {
  const folder = await openFolder();
  const headFile = join(folder, "head");
  const options = ["--silent", "--show-error", "--dump-header", headFile, "--write-out", writeOut];
  const { stdout } = await runProgram("curl", [...options, ...args], input === undefined ? {} : { input });
  const bodyEnd = stdout.lastIndexOf("\n");
  const [status = "", httpVersion = ""] = stdout
    .subarray(bodyEnd + 1)
    .toString()
    .split(" ");
  const head = await readFile(headFile, "utf8");
  return { status: Number(status), httpVersion, head, body: stdout.subarray(0, bodyEnd) };
}

/** A stream, printed as it arrives. */
export function startCurl(args: readonly string[]): Running {
  return startProgram("curl", ["--silent", "--show-error", "--no-buffer", ...args]);
}

/** Arguments with credentials. */
export function asClient(clientId?: string): string[] {
  return Object.entries(credentialsOf(clientId)).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
}
