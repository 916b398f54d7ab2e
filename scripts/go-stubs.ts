// The stubs of clients/go, which are committed so that `go get` needs no generators. Go runs the generators, in the versions of
// clients/go/tools/go.mod.

import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasGo } from "./connect-conformance.ts";
import { runCommand } from "./run-command.ts";
import { checkSameFiles } from "./stale-gen.ts";

const path = "clients/go/gen";
const leftOut = "left out: Go is missing";

/** Writes the stubs below `output`. Returns a remark when Go is missing. */
export async function writeGoStubs(output: string = "."): Promise<string | undefined> {
  if (!(await hasGo())) {
    return leftOut;
  }
  await runCommand("buf", ["generate", "--template", "clients/go/buf.gen.yaml", "--output", output]);
  return undefined;
}

/** Throws when the committed stubs differ from those that the protos give. */
export async function checkGoStubsAreFresh(): Promise<string> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "runnel-go-"));
  const remark = await writeGoStubs(folder.path);
  if (remark === undefined) {
    return await checkSameFiles(folder.path, path);
  }
  if (process.env.TEST_GO === "required") {
    throw new Error(`${path} was not compared: ${remark}`);
  }
  return remark;
}
