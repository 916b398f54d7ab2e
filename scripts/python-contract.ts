// The descriptors from which clients/python makes its messages. They hold only the part of the contract that its services need,
// so that pip can install it without a compiler of protos.

import { mkdtempDisposable, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryRoot, runCommand } from "./run-command.ts";

const path = "clients/python/runnel_langbot/contract.binpb";

const types = [
  "runnel.runner.v1.RunnerService.RegisterRunners",
  "runnel.runner.v1.RunnerWorkerService",
  "runnel.host.v1",
  "google.rpc.Status",
];

/** Writes the descriptors to `output`. */
export async function writePythonContract(output: string = path): Promise<void> {
  const named = types.flatMap((type) => ["--type", type]);
  await runCommand("buf", ["build", "--as-file-descriptor-set", "--exclude-source-info", ...named, "--output", output]);
}

/** Throws when the committed file differs from the one that the protos give. */
export async function checkPythonContractIsFresh(): Promise<undefined> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "runnel-contract-"));
  const wanted = join(folder.path, "contract.binpb");
  await writePythonContract(wanted);
  const [one, other] = await Promise.all([readFile(wanted), readFile(join(repositoryRoot, path))]);
  if (!one.equals(other)) {
    throw new Error(`${path} is not what the protos say; run \`npm run generate\` and commit the result.`);
  }
}
