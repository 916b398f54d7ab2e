// The contract as clients/rust has it: the descriptors, with their comments, from which its build script makes messages and stubs.
// Cargo compiles the crate without a compiler of protos.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { buildDescriptors } from "./python-contract.ts";
import { repositoryRoot } from "./run-command.ts";

const path = "clients/rust/contract.binpb";

export async function writeRustContract(): Promise<void> {
  await writeFile(join(repositoryRoot, path), await makeContract());
}

/** Throws when the committed file differs from the one that the protos give. */
export async function checkRustContractIsFresh(): Promise<undefined> {
  const found = await readFile(join(repositoryRoot, path)).catch(() => undefined);
  if (found === undefined || !found.equals(await makeContract())) {
    throw new Error(`${path} is not what the protos say; run \`npm run generate\` and commit the result.`);
  }
}

async function makeContract(): Promise<Buffer> {
  const set = await buildDescriptors();
  set.file.forEach(keepOwnComments);
  return Buffer.from(toBinary(FileDescriptorSetSchema, set));
}

/** Keeps what the build script of prost reads: comments without their lines, of declarations alone, whose paths have an even length. */
function keepOwnComments(file: FileDescriptorProto): void {
  if (!file.name.startsWith("runnel/") || file.sourceCodeInfo === undefined) {
    delete file.sourceCodeInfo;
    return;
  }
  const { sourceCodeInfo } = file;
  sourceCodeInfo.location = sourceCodeInfo.location.filter(({ path: { length } }) => length % 2 === 0);
  for (const location of sourceCodeInfo.location) {
    location.span = [0, 0, 0];
    location.leadingDetachedComments = [];
  }
}
